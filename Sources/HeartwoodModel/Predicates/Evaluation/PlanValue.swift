/// A value while a predicate is evaluated: one, or several of a collection. Objects are ``PropertyValue/toOne(_:)``.
package enum PlanValue: Sendable, Hashable {
  case one(PropertyValue)
  case many([PlanValue])

  /// A to-many relationship becomes a collection of objects.
  init(_ value: PropertyValue) {
    if case .toMany(let ids) = value { self = .many(ids.map { .one(.toOne($0)) }) } else { self = .one(value) }
  }

  package static let null = PlanValue.one(.null)

  /// The one value; `null` for a collection.
  package var scalar: PropertyValue {
    if case .one(let value) = self { value } else { .null }
  }

  /// The elements of a collection; `nil` has none, and one value is the only element.
  package var elements: [PlanValue] {
    switch self {
    case .one(.null): []
    case .one: [self]
    case .many(let elements): elements
    }
  }
}
