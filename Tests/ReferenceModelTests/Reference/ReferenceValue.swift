import HeartwoodModel

/// The name that a run gives an object: the same in the reference and for the graph under test.
typealias Key = Int

extension Key {
  /// The key of a record that is gone for good: the `number`th of this object, which has come back as another.
  func ghost(_ number: Int) -> Key { -(self + 1_000_000 * number) }
}

/// The value of a property in the reference, where objects are called by their keys.
enum ReferenceValue: Hashable {
  case attribute(PropertyValue)
  case toOne(Key?)
  case toMany(Set<Key>)
  case ordered([Key])
}

extension ReferenceValue {
  /// The value of a property that has none.
  static func empty(_ property: PropertyDescription) -> ReferenceValue {
    guard let relationship = property.relationship else { return .attribute(.null) }
    if !relationship.isToMany { return .toOne(nil) }
    return relationship.isOrdered ? .ordered([]) : .toMany([])
  }

  /// The objects of a relationship, in their order where they have one.
  var keys: [Key] {
    switch self {
    case .attribute, .toOne(nil): []
    case .toOne(let key?): [key]
    case .toMany(let keys): keys.sorted()
    case .ordered(let keys): keys
    }
  }

  /// The value of the same relationship when it leads to `keys`.
  func replacingKeys(by keys: [Key]) -> ReferenceValue {
    switch self {
    case .attribute: self
    case .toOne: .toOne(keys.first)
    case .toMany: .toMany(Set(keys))
    case .ordered: .ordered(keys)
    }
  }

  /// A to-many relationship with what has come to it elsewhere, last, and without what has gone from it there; any other value is as it is.
  func following(from former: ReferenceValue?, to newest: ReferenceValue?) -> ReferenceValue {
    guard let former = former?.keys, let newest = newest?.keys else { return self }
    switch self {
    case .attribute, .toOne: return self
    case .toMany, .ordered:
      let kept = keys.filter { newest.contains($0) || !former.contains($0) }
      return replacingKeys(by: kept + newest.filter { !former.contains($0) && !kept.contains($0) })
    }
  }

  /// The value once it has given way to `newest`: of a to-many relationship what has come to it and gone from it stays; any other is `former`.
  ///
  /// - Parameter newest: nil where it is not known what has come and gone.
  func yielding(_ newest: ReferenceValue?, since former: ReferenceValue?) -> ReferenceValue? {
    switch self {
    case .attribute, .toOne: former
    case .toMany, .ordered: newest.map { $0.following(from: former, to: self) } ?? former
    }
  }

  var isEmpty: Bool { self == .attribute(.null) || (keys.isEmpty && !isAttribute) }

  private var isAttribute: Bool {
    if case .attribute = self { true } else { false }
  }
}

extension ReferenceValue: CustomStringConvertible {
  var description: String {
    switch self {
    case .attribute(let value): "\(value)"
    case .toOne(let key): key.map { "#\($0)" } ?? "nil"
    case .toMany: "{\(keys.map { "#\($0)" }.joined(separator: " "))}"
    case .ordered: "[\(keys.map { "#\($0)" }.joined(separator: " "))]"
    }
  }
}
