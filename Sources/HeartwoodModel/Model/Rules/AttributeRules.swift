import HeartwoodFoundation

/// What the values of an attribute have to keep to beyond their type, before they may be saved.
///
/// Which rules an attribute can have depends on its type: least and greatest values are for numbers and dates, lengths and a
/// pattern are for strings, predicates for all. A ``ManagedObjectModel`` checks that. No value, `nil`, keeps to every rule: whether there has to be
/// one is ``AttributeDescription/isOptional``.
///
/// Rules are not part of version hashes: a store can be opened with a model whose rules have changed, and keeps what it has.
public struct AttributeRules: Sendable, Hashable {
  /// The least value, of the attribute's type, or `null` for any. A NaN is below it.
  public var minValue: PropertyValue
  /// The greatest value, of the attribute's type, or `null` for any. A NaN is above it.
  public var maxValue: PropertyValue
  /// The least length of a string, in UTF-16 code units as in Core Data, or nil for any.
  public var minLength: Int?
  /// The greatest length of a string, in UTF-16 code units as in Core Data, or nil for any.
  public var maxLength: Int?
  /// The regular expression that a string matches as a whole, or nil for any string.
  ///
  /// It is written as Swift's `Regex` reads it, and matched by Unicode scalars. Words and digits (`\w`, `\d`, `\b`) are those of ICU, without its
  /// option for Unicode's own word boundaries: `.*\bNeil\b.*` matches `O'Neil`. It has at most 1,000 bytes and 50 opening
  /// brackets, and its counts come to at most 10,000 steps. A match takes a time that grows with both lengths, unless the pattern looks back or
  /// ahead: then it is the author's concern, since nested repetitions can take time that grows exponentially.
  public var pattern: String?
  /// Conditions that values have to meet, for attributes of any type.
  public var predicates: [ValidationPredicate]

  /// Rules that are not checked yet: a ``ManagedObjectModel`` does that. Without arguments there are none.
  public init(
    minValue: PropertyValue = .null,
    maxValue: PropertyValue = .null,
    minLength: Int? = nil,
    maxLength: Int? = nil,
    pattern: String? = nil,
    predicates: [ValidationPredicate] = []
  ) {
    self.minValue = minValue
    self.maxValue = maxValue
    self.minLength = minLength
    self.maxLength = maxLength
    self.pattern = pattern
    self.predicates = predicates
  }

  /// Whether every value keeps to the rules.
  public var isEmpty: Bool { self == AttributeRules() }
}

extension AttributeType {
  /// Whether values of the type can have a least and a greatest one.
  package var hasRange: Bool {
    switch self {
    case .integer16, .integer32, .integer64, .decimal, .double, .float, .date: true
    default: false
    }
  }
}

// MARK: RuledAttribute

/// An attribute of an entity whose values have rules, made ready to check many values.
package struct RuledAttribute: Sendable {
  /// The place among the entity's properties.
  package let ordinal: Int
  package let name: String
  package let type: AttributeType
  package let rules: AttributeRules
  /// The pattern of the rules, compiled once for the model.
  package let pattern: TextPattern?
  /// The predicates of the rules, compiled once for the model.
  package let conditions: [ValueCondition]

  /// The property at `ordinal` where it is a stored attribute with rules. The rules have been validated.
  init?(_ property: PropertyDescription, ordinal: Int) {
    guard let attribute = property.attribute, !attribute.isTransient, !attribute.rules.isEmpty else { return nil }
    self.ordinal = ordinal
    self.name = attribute.name
    self.type = attribute.type
    self.rules = attribute.rules
    // try?: a model with a pattern that is none is refused before.
    self.pattern = attribute.rules.pattern.flatMap { try? TextPattern($0) }
    self.conditions = attribute.rules.predicates.compactMap { try? ValueCondition($0, type: attribute.type) }
  }
}

// MARK: ValidationPredicate

/// A condition that the values of an attribute have to meet before they may be saved: `SELF` stands for the value.
///
///     AttributeRules(predicates: [try ValidationPredicate("SELF == 0 OR SELF >= 18", warning: "is no age of an adult.")])
public struct ValidationPredicate: Sendable, Hashable {
  /// The condition.
  public var predicate: FetchPredicate
  /// What is wrong with a value that does not meet it, as the rest of a sentence that begins with the attribute's name.
  public var warning: String

  /// Makes a condition; a ``ManagedObjectModel`` checks whether it suits the attribute.
  public init(_ predicate: FetchPredicate, warning: String) {
    self.predicate = predicate
    self.warning = warning
  }

  /// Makes a condition of a format string; see ``FetchPredicate/init(format:_:)``.
  ///
  /// - Throws: ``FetchPredicateError``, which shows the place of a mistake.
  public init(
    _ format: String,
    _ arguments: any FetchArgument...,
    warning: String
  ) throws(FetchPredicateError) {
    self.init(try FetchPredicate(format: format, arguments: arguments), warning: warning)
  }
}

extension ValidationPredicate: Codable {
  private enum Key: String, CodingKey {
    case predicate, warning
  }

  /// Reads an object with the members `predicate`, a format string, and `warning`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    predicate = try container.decode(FetchPredicate.self, forKey: .predicate)
    warning = try container.decode(String.self, forKey: .warning)
  }

  /// Writes an object with the members `predicate`, a format string, and `warning`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(predicate, forKey: .predicate)
    try container.encode(warning, forKey: .warning)
  }
}

// MARK: ValueCondition

/// A ``ValidationPredicate`` made ready to check many values of one type.
package struct ValueCondition: Sendable {
  /// What is wrong with a value that does not meet the condition.
  package let warning: String
  private let predicate: FetchPredicate
  private let plan: PlanPredicate
  private let model: ManagedObjectModel
  private let entity: EntityDescription
  /// Whether what the condition says depends on when it is asked.
  private let isTimeDependent: Bool

  private static let valueName = "value"

  /// - Throws: ``FetchPredicateError`` where the predicate does not suit values of `type`.
  init(_ condition: ValidationPredicate, type: AttributeType) throws(FetchPredicateError) {
    // The value is seen as the one attribute of an object.
    guard
      // try?: it is a model that has no faults.
      let model = try? ManagedObjectModel(entities: [.entity("Value", .attribute(Self.valueName, type, optional: true))]
      )
    else { preconditionFailure("A model of one attribute has no faults.") }
    self.model = model
    entity = model.entities[0]
    warning = condition.warning
    predicate = condition.predicate.replacingSelf(with: .key(Self.valueName))
    plan = try PredicateCompiler.compile(predicate, for: entity, in: model)
    isTimeDependent = "\(predicate)".contains("now()")
  }

  /// Whether `value`, which fits the type, meets the condition.
  package func holds(for value: PropertyValue) -> Bool {
    // try?: it was compiled before, with another time.
    let current = isTimeDependent ? try? PredicateCompiler.compile(predicate, for: entity, in: model) : nil
    return PredicateEvaluator(LoneValue(entity: entity)).matches(current ?? plan, value)
  }

  /// A value that is the only attribute of an object without relationships.
  private struct LoneValue: PredicateSource {
    let entity: EntityDescription

    func value(_ ordinal: Int, of subject: PropertyValue) -> PropertyValue { subject }

    func objectID(of subject: PropertyValue) -> ManagedObjectID? { nil }

    func subject(_ id: ManagedObjectID) -> PropertyValue? { nil }
  }
}
