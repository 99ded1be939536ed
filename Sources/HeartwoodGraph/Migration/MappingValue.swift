import HeartwoodModel

/// What an expression of a mapping model gives.
enum MappingValue {
  case scalar(PropertyValue)
  case object(ManagedObject)
  case several([MappingValue])
  case manager
  case policy
  case mapping

  /// The value of an attribute; nil where it is of another kind.
  var propertyValue: PropertyValue? {
    switch self {
    case .scalar(let value): value
    case .object, .several, .manager, .policy, .mapping: nil
    }
  }

  /// The objects, none for `nil`; nil where there are others.
  var objects: [ManagedObject]? {
    switch self {
    case .scalar(let value): return value.isNull ? [] : nil
    case .object(let object): return [object]
    case .several(let values):
      let objects = values.compactMap(\.objects)
      return objects.count == values.count ? objects.flatMap(\.self) : nil
    case .manager, .policy, .mapping: return nil
    }
  }

  /// The elements of a collection; `nil` has none, and one value is the only element.
  var elements: [MappingValue] {
    switch self {
    case .several(let values): values
    case .scalar(let value) where value.isNull: []
    default: [self]
    }
  }

  /// The value as a policy gets it.
  var swiftValue: Any? {
    switch self {
    case .scalar(let value): value.swiftValue
    case .object(let object): object
    case .several(let values): objects ?? values.map(\.swiftValue)
    case .manager, .policy, .mapping: nil
    }
  }

  /// What a policy gives; nil where it is no value that an object has.
  init?(_ value: Any?) {
    switch value {
    case nil: self = .scalar(.null)
    case let value as PropertyValue: self = .scalar(value)
    case let value as any AttributeValue: self = .scalar(value.propertyValue)
    case let object as ManagedObject: self = .object(object)
    case let objects as [ManagedObject]: self = .several(objects.map(MappingValue.object))
    case let objects as Set<ManagedObject>: self = .several(objects.map(MappingValue.object))
    default: return nil
    }
  }
}
