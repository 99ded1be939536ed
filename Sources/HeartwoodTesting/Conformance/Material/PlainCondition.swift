import Heartwood

/// A condition of a fetch that is tested in the plainest way: object by object, with the object's own values. It is what columns, indexes
/// and change overlays are held against, so it is written for being read.
indirect enum PlainCondition {
  /// How many of the objects that a relationship leads to have to pass.
  enum Quantifier: CaseIterable {
    case any, all, none
  }

  case not(PlainCondition)
  case and([PlainCondition])
  case or([PlainCondition])
  /// A value at a key path, which may lead through to-one relationships, against a constant.
  case compares([String], FetchComparison.Comparator, PropertyValue)
  case isOneOf([String], [PropertyValue])
  case isBetween([String], PropertyValue, PropertyValue)
  /// A part of a string. Large and small letters are told apart, unless the constant has ASCII only.
  case hasText([String], FetchComparison.Comparator, String, ignoresCase: Bool)
  /// A to-one relationship against an object, or against nothing.
  case leads([String], to: ManagedObjectID?)
  /// The values that the objects of a to-many relationship have, against a constant.
  case each(Quantifier, relationship: String, key: String, FetchComparison.Comparator, PropertyValue)
  /// How many objects a to-many relationship leads to.
  case count(relationship: String, FetchComparison.Comparator, Int)
}

// MARK: As a predicate

extension PlainCondition {
  /// The same as the library's predicate.
  var predicate: FetchPredicate {
    switch self {
    case .not(let condition): .not(condition.predicate)
    case .and(let conditions): .and(conditions.map(\.predicate))
    case .or(let conditions): .or(conditions.map(\.predicate))
    default: .comparison(comparison)
    }
  }

  private var comparison: FetchComparison {
    func key(_ path: [String]) -> FetchExpression { .keyPath(of: .selfObject, path.map(FetchKey.property)) }
    switch self {
    case .compares(let path, let comparator, let value): return FetchComparison(key(path), comparator, .value(value))
    case .isOneOf(let path, let values): return FetchComparison(key(path), .in, .aggregate(values.map { .value($0) }))
    case .isBetween(let path, let lower, let upper):
      return FetchComparison(key(path), .between, .aggregate([.value(lower), .value(upper)]))
    case .hasText(let path, let comparator, let text, let ignoresCase):
      let options: FetchComparison.Options = ignoresCase ? .caseInsensitive : []
      return FetchComparison(key(path), comparator, .constant(.string(text)), options: options)
    case .leads(let path, let id):
      return FetchComparison(key(path), .equalTo, .value(id.map(PropertyValue.toOne) ?? .null))
    case .each(let quantifier, let relationship, let name, let comparator, let value):
      let modifier: FetchComparison.Modifier =
        switch quantifier {
        case .any: .any
        case .all: .all
        case .none: .none
        }
      return FetchComparison(key([relationship, name]), comparator, .value(value), modifier: modifier)
    case .count(let relationship, let comparator, let count):
      let left = FetchExpression.keyPath(of: .selfObject, [.property(relationship), .collection(.count)])
      return FetchComparison(left, comparator, .constant(.integer(Int64(count))))
    case .not, .and, .or:
      preconditionFailure("It is no comparison.")
    }
  }

  /// The conditions that this one is made of.
  var parts: [PlainCondition] {
    switch self {
    case .not(let condition): [condition]
    case .and(let conditions), .or(let conditions): conditions
    default: []
    }
  }
}

// MARK: Testing

extension PlainCondition {
  /// Whether an object meets the condition.
  func holds(_ object: ManagedObject) throws -> Bool {
    switch self {
    case .not(let condition): return try !condition.holds(object)
    case .and(let conditions): return try conditions.allSatisfy { try $0.holds(object) }
    case .or(let conditions): return try conditions.contains { try $0.holds(object) }
    case .compares(let path, let comparator, let value):
      return PlainOrder.holds(try object.plainValue(path), comparator, value)
    case .isOneOf(let path, let values):
      let found = try object.plainValue(path)
      return values.contains { PlainOrder.areEqual(found, $0) }
    case .isBetween(let path, let lower, let upper):
      let found = try object.plainValue(path)
      return PlainOrder.holds(found, .greaterThanOrEqualTo, lower) && PlainOrder.holds(found, .lessThanOrEqualTo, upper)
    case .hasText(let path, let comparator, let text, let ignoresCase):
      guard case .string(let found) = try object.plainValue(path) else { return false }
      return PlainOrder.has(found, comparator, text, ignoresCase: ignoresCase)
    case .leads(let path, let id):
      return try object.plainValue(path) == (id.map(PropertyValue.toOne) ?? .null)
    case .each(let quantifier, let relationship, let key, let comparator, let value):
      let values = try object.plainObjects(relationship).map { try $0.plainValue([key]) }
      let passing = values.filter { PlainOrder.holds($0, comparator, value) }
      switch quantifier {
      case .any: return !passing.isEmpty
      case .all: return passing.count == values.count
      case .none: return passing.isEmpty
      }
    case .count(let relationship, let comparator, let count):
      let found = PropertyValue.integer(Int64(try object.plainObjects(relationship).count))
      return PlainOrder.holds(found, comparator, .integer(Int64(count)))
    }
  }
}

extension ManagedObject {
  /// The value at a key path; nothing where a relationship on the way leads nowhere.
  func plainValue(_ path: [String]) throws -> PropertyValue {
    guard let first = path.first else { return .null }
    let value = try propertyValue(forKey: first)
    if path.count == 1 { return value }
    guard case .toOne(let id) = value, let next = try? managedObjectContext?.existingObject(with: id) else {
      return .null
    }
    return try next.plainValue(Array(path.dropFirst()))
  }

  /// The objects of a to-many relationship that are still there.
  func plainObjects(_ relationship: String) throws -> [ManagedObject] {
    guard case .toMany(let ids) = try propertyValue(forKey: relationship) else { return [] }
    return ids.compactMap { try? managedObjectContext?.existingObject(with: $0) }.filter { !$0.isDeleted }
  }
}
