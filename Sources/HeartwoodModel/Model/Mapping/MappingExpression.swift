/// What gives the value of a property of a new record: an expression over the record that it is made of, `$source`, the manager of the
/// migration, `$manager`, and the policy of the entity, `$entityPolicy`.
///
/// Its text is what Xcode's editor of mapping models shows: `$source.name`, `$source.price * 100`,
/// `FUNCTION($entityPolicy, "fullName:", $source)`.
public indirect enum MappingExpression: Sendable, Hashable {
  /// A value that is always the same.
  case constant(PropertyValue)
  /// What the migration knows by a name: `$source`, `$manager`, `$entityPolicy`, `$entityMapping`.
  case variable(String)
  /// What a key path leads to from an object, or from each of several.
  case keyPath(of: MappingExpression, String)
  /// What an object answers to a message: of `$manager`, those that Xcode writes; of `$entityPolicy`, those that the policy knows.
  case function(on: MappingExpression, name: String, [MappingExpression])
  /// What is computed as predicates compute it, with `$source` as a variable.
  case computed(FetchExpression)
}

extension MappingExpression {
  /// The names of what a migration knows.
  public enum Name {
    /// The record that a new one is made of.
    public static let source = "source"
    /// The manager of the migration.
    public static let manager = "manager"
    /// The policy of the entity.
    public static let entityPolicy = "entityPolicy"
    /// The mapping of the entity.
    public static let entityMapping = "entityMapping"
  }

  /// What answers to these messages are, of the manager of a migration.
  public enum ManagerFunction: String, Sendable, Hashable, CaseIterable {
    /// The new records that a mapping of entities has made of some source records.
    case destinationInstancesForEntityMapping = "destinationInstancesForEntityMappingNamed:sourceInstances:"
    /// The new records that were made of those that a relationship of the source record leads to.
    case destinationInstancesForSourceRelationship = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
  }

  /// The value of a property of the source record, or what a key path leads to from there: `$source.name`.
  public static func source(_ keyPath: String) -> MappingExpression {
    .keyPath(of: .variable(Name.source), keyPath)
  }

  /// The new records that a mapping of entities has made of those that a key path leads to from the source record.
  public static func destinationInstances(
    forEntityMappingNamed name: String,
    sourceInstances keyPath: String
  ) -> MappingExpression {
    destinationInstances(forEntityMappingNamed: name, of: .source(keyPath))
  }

  /// The new records that a mapping of entities has made of some source records: of the source record itself, if `sources` is `$source`.
  package static func destinationInstances(
    forEntityMappingNamed name: String,
    of sources: MappingExpression
  ) -> MappingExpression {
    .function(
      on: .variable(Name.manager),
      name: ManagerFunction.destinationInstancesForEntityMapping.rawValue,
      [.constant(.string(name)), sources]
    )
  }

  /// The new records that were made, by whatever mapping, of those that a relationship of the source record leads to.
  public static func destinationInstances(forSourceRelationshipNamed name: String) -> MappingExpression {
    destinationInstances(forSourceRelationshipAt: name)
  }

  /// The new records that were made, by whatever mapping, of those that a key path leads to, whose last relationship gives the name.
  package static func destinationInstances(forSourceRelationshipAt keyPath: String) -> MappingExpression {
    let name = keyPath.split(separator: ".").last.map(String.init) ?? keyPath
    return .function(
      on: .variable(Name.manager),
      name: ManagerFunction.destinationInstancesForSourceRelationship.rawValue,
      [.constant(.string(name)), .source(keyPath)]
    )
  }
}

extension MappingExpression: CustomStringConvertible {
  /// The expression as Xcode shows it; it reads back by ``init(format:)``.
  public var description: String {
    switch self {
    case .constant(let value): "\(FetchExpression.constant(value))"
    case .variable(let name): "$\(name)"
    case .keyPath(let base, let keyPath): "\(base).\(keyPath)"
    case .function(let target, let name, let arguments):
      "FUNCTION(" + (["\(target)", "\"\(name)\""] + arguments.map { "\($0)" }).joined(separator: ", ") + ")"
    case .computed(let expression): "\(expression)"
    }
  }
}

// MARK: Format

extension MappingExpression {
  /// Reads an expression as Xcode's editor of mapping models takes it.
  ///
  /// - Throws: ``FetchPredicateError`` with the place in the text where it is not understood.
  public init(format: String) throws(FetchPredicateError) {
    var parser = MappingExpressionParser()
    self = try parser.parse(format[...])
  }
}

/// Reads what is particular to mapping models, and leaves the rest to the parser of predicates.
private struct MappingExpressionParser {
  private static let opening = "FUNCTION("
  private static let mostNesting = 32
  private var nesting = 0

  mutating func parse(_ text: Substring) throws(FetchPredicateError) -> MappingExpression {
    let text = Self.trimmed(text)
    if text.uppercased().hasPrefix(Self.opening), text.hasSuffix(")"), nesting < Self.mostNesting,
      let parts = Self.arguments(of: text.dropFirst(Self.opening.count).dropLast()), parts.count >= 2,
      let name = Self.quoted(parts[1])
    {
      nesting += 1
      defer { nesting -= 1 }
      let target = try parse(parts[0])
      var arguments: [MappingExpression] = []
      for part in parts.dropFirst(2) { arguments.append(try parse(part)) }
      return .function(on: target, name: name, arguments)
    }
    if let path = Self.path(text) { return path }
    let expression = try FetchExpression(format: String(text))
    if case .constant(let value) = expression { return .constant(value) }
    return .computed(expression)
  }

  /// A variable, or a key path from one: key paths may have operators that predicates do not know.
  private static func path(_ text: Substring) -> MappingExpression? {
    guard text.first == "$" else { return nil }
    let names = text.dropFirst().split(separator: ".", omittingEmptySubsequences: false)
    guard names.allSatisfy({ isName($0.first == "@" ? $0.dropFirst() : $0) }), let variable = names.first,
      variable.first != "@"
    else { return nil }
    // What is computed of a collection is computed as in predicates.
    guard names.allSatisfy({ $0.first != "@" || MappingExpression.joinsOrCounts(String($0)) }) else { return nil }
    let base = MappingExpression.variable(String(variable))
    return names.count == 1 ? base : .keyPath(of: base, names.dropFirst().joined(separator: "."))
  }

  private static func isName(_ text: Substring) -> Bool {
    !text.isEmpty && text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
  }

  private static func quoted(_ text: Substring) -> String? {
    let text = trimmed(text)
    guard text.count >= 2, let quote = text.first, quote == "\"" || quote == "'", text.last == quote else { return nil }
    return String(text.dropFirst().dropLast())
  }

  /// The parts between commas that stand in no brackets and no quotes; nil where brackets or quotes do not end.
  private static func arguments(of text: Substring) -> [Substring]? {
    var parts: [Substring] = []
    var (start, depth, quote) = (text.startIndex, 0, Character?.none)
    for index in text.indices {
      switch (text[index], quote) {
      case (let character, let open?): if character == open { quote = nil }
      case ("\"", nil), ("'", nil): quote = text[index]
      case ("(", nil), ("{", nil), ("[", nil): depth += 1
      case (")", nil), ("}", nil), ("]", nil): depth -= 1
      case (",", nil) where depth == 0:
        parts.append(text[start..<index])
        start = text.index(after: index)
      default: break
      }
      if depth < 0 { return nil }
    }
    return depth == 0 && quote == nil ? parts + [text[start...]] : nil
  }

  private static func trimmed(_ text: Substring) -> Substring {
    let start = text.drop(while: \.isWhitespace)
    return start.lastIndex { !$0.isWhitespace }.map { start[...$0] } ?? start.prefix(0)
  }
}
