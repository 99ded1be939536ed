import Foundation
import HeartwoodGraph
import HeartwoodModel

/// Translates Foundation's predicates and sort descriptors to those that stores understand, and evaluates them.
enum PredicateTree {
  /// Returns the condition of a predicate.
  ///
  /// - Throws: a `CocoaError` if it is a block, which no store can evaluate.
  static func predicate(_ predicate: NSPredicate) throws -> FetchPredicate {
    switch predicate {
    case let comparison as NSComparisonPredicate: return try comparison.tree()
    case let compound as Foundation.NSCompoundPredicate: return try self.compound(compound)
    default: break
    }
    switch constant(predicate) {
    case let value?: return .literal(value)
    case nil:
      throw CocoaError.make(
        .persistentStoreOperation,
        "A predicate that is a block, or of another class, cannot be used for a fetch. Filter the fetched objects by it."
      )
    }
  }

  private static func compound(_ compound: Foundation.NSCompoundPredicate) throws -> FetchPredicate {
    let terms = try compound.subpredicates.map(predicate)
    switch compound.compoundPredicateType {
    case .and: return .and(terms)
    case .or: return .or(terms)
    case .not: return .not(terms.first ?? .literal(true))
    @unknown default: throw CocoaError.make(.persistentStoreOperation, "The compound predicate is of an unknown type.")
    }
  }

  /// Returns the value of `NSPredicate(value:)`; nil for other predicates. Foundation shows it by equality only.
  private static func constant(_ predicate: NSPredicate) -> Bool? {
    if predicate.isEqual(NSPredicate(value: true)) { return true }
    return predicate.isEqual(NSPredicate(value: false)) ? false : nil
  }

  /// Returns a predicate in the form of a format string.
  static func spelling(_ predicate: NSPredicate) -> String {
    switch predicate {
    case is NSComparisonPredicate, is NSCompoundPredicate: predicate.description
    // try?: a predicate without such a form is shown as Foundation does.
    default: (try? Self.predicate(predicate).description) ?? predicate.description
    }
  }

  /// Returns a sort descriptor of a store as one of Foundation.
  static func sortDescriptor(of descriptor: FetchSortDescriptor) -> NSSortDescriptor {
    KeySortDescriptor(name: descriptor.keyPath, ascending: descriptor.isAscending, comparison: descriptor.comparison)
  }

  /// Returns a sort descriptor in the stores' form.
  static func sortDescriptor(_ descriptor: NSSortDescriptor) throws -> FetchSortDescriptor {
    if let descriptor = descriptor as? KeySortDescriptor {
      if descriptor.ownComparator != nil {
        throw CocoaError.make(
          .persistentStoreOperation,
          "A sort descriptor with a comparator cannot be used for a fetch. Sort the fetched objects by it."
        )
      }
      return FetchSortDescriptor(descriptor.name, ascending: descriptor.ascending, comparison: descriptor.comparison)
    }
    guard let name = descriptor.key else {
      throw CocoaError.make(
        .persistentStoreOperation,
        "A sort descriptor for a fetch needs the key path of a property of a managed object."
      )
    }
    return FetchSortDescriptor(name, ascending: descriptor.ascending)
  }

  static func substituting(_ predicate: NSPredicate, _ values: [String: Any]) throws -> NSPredicate {
    switch predicate {
    case let comparison as NSComparisonPredicate: return try comparison.substituting(values)
    case let compound as Foundation.NSCompoundPredicate:
      let terms = try compound.subpredicates.map { try substituting($0, values) }
      return NSCompoundPredicate(type: compound.compoundPredicateType, subpredicates: terms)
    default: return predicate
    }
  }

  static func substituting(_ expression: FetchExpression, _ values: [String: Any]) throws -> FetchExpression {
    let arguments = try values.mapValues(argument)
    return expression.replacing { part in
      if case .variable(let name) = part { arguments[name] } else { nil }
    }
  }

  // MARK: Arguments

  /// Returns the expression of an argument of a format.
  static func argument(_ value: Any) throws -> FetchExpression {
    guard let value = unwrapped(value) else { return .constant(.null) }
    switch value {
    case let object as NSManagedObject: return try objectArgument(object.objectID)
    case let id as NSManagedObjectID: return try objectArgument(id)
    default: break
    }
    if let elements = KeyValueCoding.elements(of: value) { return .aggregate(try elements.map(argument)) }
    if let constant = StoredValue.anyValue(value) { return .constant(constant) }
    if let described = value as? any RawRepresentable { return try argument(described.rawValue) }
    throw CocoaError.make(
      .persistentStoreOperation,
      "A value of the type \(type(of: value)) cannot be an argument of a predicate."
    )
  }

  private static func objectArgument(_ id: NSManagedObjectID) throws -> FetchExpression {
    if let core = id.core { return .value(.toOne(core)) }
    throw CocoaError.make(.persistentStoreOperation, "An object that is in no context is an argument of a predicate.")
  }

  // MARK: Evaluating

  /// Returns whether an object meets a condition: a managed object, or one that key-value coding reads.
  static func matches(_ predicate: FetchPredicate, _ object: Any?) throws -> Bool {
    if let object = object as? NSManagedObject, let record = object.record, let owner = object.owner {
      return try owner.hold { try record.matches(predicate) }
    }
    return try matchesByKeys(predicate, object)
  }

  /// Returns whether an object meets a condition, whose values are read by key-value coding.
  static func matchesByKeys(_ predicate: FetchPredicate, _ object: Any?) throws -> Bool {
    try PredicateTrial.matches(predicate.replacing { constant($0, object) })
  }

  /// Returns the value of an expression for an object that key-value coding reads.
  static func value(of expression: FetchExpression, _ object: Any?) throws -> Any? {
    found(try PredicateTrial.value(of: expression.replacing { constant($0, object) }))
  }

  private static func found(_ value: EvaluatedValue) -> Any? {
    switch value {
    case .one(let value): StoredValue.object(value, .undefined)
    case .many(let values): values.map { found($0) ?? NSNull() }
    }
  }

  /// Returns what an expression that reads the object is for it; nil for other expressions.
  private static func constant(_ expression: FetchExpression, _ object: Any?) -> FetchExpression? {
    switch expression {
    case .selfObject: return found(object)
    case .keyPath(of: .selfObject, let keys):
      return found(KeyValueCoding.value(of: object, keys.map(\.spelling)))
    default: return nil
    }
  }

  private static func found(_ value: Any?) -> FetchExpression {
    // try?: a value that is no constant equals none.
    value.flatMap { try? argument($0) } ?? .constant(.null)
  }
}

extension FetchKey {
  var spelling: String {
    switch self {
    case .property(let name): name
    case .collection(let symbol): symbol.rawValue
    }
  }
}

// MARK: PredicateTrial

/// Evaluates conditions on constants.
private enum PredicateTrial {
  /// An entity without properties, whose objects are not there.
  private struct Nothing: PredicateSource {
    func value(_ ordinal: Int, of subject: Void) -> PropertyValue { .null }
    func objectID(of subject: Void) -> ManagedObjectID? { nil }
    func subject(_ id: ManagedObjectID) -> Void? { nil }
  }

  static func matches(_ predicate: FetchPredicate) throws -> Bool {
    let model = try ManagedObjectModel(entities: [EntityDefinition(name: "Constants")])
    let plan = try PredicateCompiler.compile(predicate, for: model.entities[0], in: model)
    return PredicateEvaluator(Nothing()).matches(plan, ())
  }

  static func value(of expression: FetchExpression) throws -> EvaluatedValue {
    let model = try ManagedObjectModel(entities: [EntityDefinition(name: "Constants")])
    let plan = try PredicateCompiler.compile(expression, for: model.entities[0], in: model)
    return PredicateEvaluator(Nothing()).value(plan, ())
  }
}
