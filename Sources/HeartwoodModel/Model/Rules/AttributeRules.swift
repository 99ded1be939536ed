import HeartwoodFoundation

/// The rules that the values of an attribute must meet, in addition to their type, before they can be saved.
///
///     let age = PropertyDescription.attribute("age", .integer16, rules: AttributeRules(minValue: .integer(0)))
///
/// The possible rules depend on the type: least and greatest values apply to numbers and dates, lengths and a pattern
/// to strings, and predicates to all types. A ``ManagedObjectModel`` reports rules that do not fit. `nil` meets every
/// rule: ``AttributeDescription/isOptional`` decides whether a value is required.
///
/// Rules are not part of version hashes: a store can be opened with a model whose rules have changed, and keeps its
/// values.
public struct AttributeRules: Sendable, Hashable {
  /// The least value, of the attribute's type; `null` for no limit. NaN is less than any limit.
  public var minValue: PropertyValue
  /// The greatest value, of the attribute's type; `null` for no limit. NaN is greater than any limit.
  public var maxValue: PropertyValue
  /// The least length of a string, in UTF-16 code units as in Core Data; nil for no limit.
  public var minLength: Int?
  /// The greatest length of a string, in UTF-16 code units as in Core Data; nil for no limit.
  public var maxLength: Int?
  /// The regular expression that the whole string must match; nil for any string.
  ///
  /// The syntax is that of Swift's `Regex`, and matching compares Unicode scalars. Words and digits (`\w`, `\d`, `\b`)
  /// are those of ICU, without its option for Unicode's own word boundaries: `.*\bNeil\b.*` matches `O'Neil`. A pattern
  /// has at most 1,000 bytes and 50 opening brackets, and its counts add up to at most 10,000 steps. The time of a
  /// match grows with both lengths, unless the pattern looks back or ahead: then nested repetitions can take
  /// exponential time, which the author of the model must avoid.
  public var pattern: String?
  /// The conditions that values must meet, for attributes of any type.
  public var predicates: [ValidationPredicate]

  /// Makes rules without checking them; a ``ManagedObjectModel`` reports those that do not fit. Without arguments,
  /// every value is allowed.
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

  /// Whether there are no rules, so that every value meets them.
  public var isEmpty: Bool { self == AttributeRules() }
}

extension AttributeType {
  /// Whether values of the type can have a least and a greatest value.
  package var hasRange: Bool {
    switch self {
    case .integer16, .integer32, .integer64, .decimal, .double, .float, .date: true
    default: false
    }
  }
}

// MARK: RuledAttribute

/// An attribute whose values have rules, prepared to check many values.
package struct RuledAttribute: Sendable {
  /// The ordinal of the property in the entity.
  package let ordinal: Int
  package let name: String
  package let type: AttributeType
  package let rules: AttributeRules
  /// The pattern of the rules, compiled once for the model.
  package let pattern: TextPattern?
  /// The predicates of the rules, compiled once for the model.
  package let conditions: [ValueCondition]

  /// Returns nil unless the property at `ordinal` is a stored attribute with rules. The rules must be valid.
  init?(_ property: PropertyDescription, ordinal: Int) {
    guard let attribute = property.attribute, !attribute.isTransient, !attribute.rules.isEmpty else { return nil }
    self.ordinal = ordinal
    self.name = attribute.name
    self.type = attribute.type
    self.rules = attribute.rules
    // try?: a model with an invalid pattern is refused before.
    self.pattern = attribute.rules.pattern.flatMap { try? TextPattern($0) }
    self.conditions = attribute.rules.predicates.compactMap { try? ValueCondition($0, type: attribute.type) }
  }
}

// MARK: ValidationPredicate

/// A condition that the values of an attribute must meet before they can be saved. In the predicate, `SELF` is the
/// value.
///
///     AttributeRules(predicates: [try ValidationPredicate("SELF == 0 OR SELF >= 18", warning: "is no age of an adult.")])
public struct ValidationPredicate: Sendable, Hashable {
  /// The condition.
  public var predicate: FetchPredicate
  /// The error message for a value that does not meet the condition, without its subject: a sentence that begins with
  /// the attribute's name.
  public var warning: String

  /// Makes a condition; a ``ManagedObjectModel`` reports whether it fits the attribute.
  public init(_ predicate: FetchPredicate, warning: String) {
    self.predicate = predicate
    self.warning = warning
  }

  /// Makes a condition from a format string; see ``FetchPredicate/init(format:_:)``.
  ///
  /// - Throws: ``FetchPredicateError``, which shows the place of the mistake.
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

  /// Decodes an object with the members `predicate`, a format string, and `warning`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.members(of: Key.self)
    predicate = try container.decode(FetchPredicate.self, forKey: .predicate)
    warning = try container.decode(String.self, forKey: .warning)
  }

  /// Encodes an object with the members `predicate`, a format string, and `warning`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(predicate, forKey: .predicate)
    try container.encode(warning, forKey: .warning)
  }
}

// MARK: ValueCondition

/// A ``ValidationPredicate``, prepared to check many values of one type.
package struct ValueCondition: Sendable {
  /// The error message for a value that does not meet the condition, without its subject.
  package let warning: String
  private let predicate: FetchPredicate
  private let plan: CompiledPredicate
  private let model: ManagedObjectModel
  private let entity: EntityDescription
  /// Whether the result depends on the current time.
  private let isTimeDependent: Bool

  private static let valueName = "value"

  /// Compiles a condition.
  ///
  /// - Throws: ``FetchPredicateError`` if the predicate does not fit values of `type`.
  init(_ condition: ValidationPredicate, type: AttributeType) throws(FetchPredicateError) {
    // The predicate is compiled for an object with the value as its only attribute.
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

  /// Returns whether `value`, which must fit the type, meets the condition.
  package func holds(for value: PropertyValue) -> Bool {
    // try?: it was compiled before, with another time.
    let current = isTimeDependent ? try? PredicateCompiler.compile(predicate, for: entity, in: model) : nil
    return PredicateEvaluator(LoneValue(entity: entity)).matches(current ?? plan, value)
  }

  /// A value as the only attribute of an object without relationships.
  private struct LoneValue: PredicateSource {
    let entity: EntityDescription

    func value(_ ordinal: Int, of subject: PropertyValue) -> PropertyValue { subject }

    func objectID(of subject: PropertyValue) -> ManagedObjectID? { nil }

    func subject(_ id: ManagedObjectID) -> PropertyValue? { nil }
  }
}
