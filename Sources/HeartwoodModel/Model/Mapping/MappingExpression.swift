/// An expression for the value of a property in a new record. It can use the source record, `$source`, the manager of
/// the migration, `$manager`, and the policy of the entity, `$entityPolicy`.
///
/// Its text is that of Xcode's editor for mapping models: `$source.name`, `$source.price * 100`,
/// `FUNCTION($entityPolicy, "fullName:", $source)`.
///
///     let price = try MappingExpression(format: "$source.price * 100")
///     let name = MappingExpression.source("name")
public indirect enum MappingExpression: Sendable, Hashable {
  /// A constant value.
  case constant(PropertyValue)
  /// An object that the migration provides: `$source`, `$manager`, `$entityPolicy`, `$entityMapping`.
  case variable(String)
  /// The value at a key path from an object, or from each of several.
  case keyPath(of: MappingExpression, String)
  /// The result of a call: on `$manager`, of one of the functions that Xcode writes; on `$entityPolicy`, of a function
  /// of the policy.
  case function(on: MappingExpression, name: String, [MappingExpression])
  /// A value that is computed as in predicates, with `$source` as a variable.
  case computed(FetchExpression)
}

extension MappingExpression {
  /// The names of the objects that a migration provides.
  public enum Name {
    /// The source record of the new record.
    public static let source = "source"
    /// The manager of the migration.
    public static let manager = "manager"
    /// The policy of the entity.
    public static let entityPolicy = "entityPolicy"
    /// The mapping of the entity.
    public static let entityMapping = "entityMapping"
  }

  /// The functions of the manager of a migration.
  public enum ManagerFunction: String, Sendable, Hashable, CaseIterable {
    /// Returns the new records that an entity mapping has made of some source records.
    case destinationInstancesForEntityMapping = "destinationInstancesForEntityMappingNamed:sourceInstances:"
    /// Returns the new records that were made of the destination of a relationship of the source record.
    case destinationInstancesForSourceRelationship = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
  }

  /// Returns an expression for a property of the source record, or for the value at a key path from it: `$source.name`.
  public static func source(_ keyPath: String) -> MappingExpression {
    .keyPath(of: .variable(Name.source), keyPath)
  }

  /// Returns an expression for the new records that an entity mapping has made of the source records at a key path from
  /// the source record.
  public static func destinationInstances(
    forEntityMappingNamed name: String,
    sourceInstances keyPath: String
  ) -> MappingExpression {
    destinationInstances(forEntityMappingNamed: name, of: .source(keyPath))
  }

  /// Returns an expression for the new records that an entity mapping has made of `sources`, which may be the source
  /// record itself (`$source`).
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

  /// Returns an expression for the new records that any mapping has made of the destination of a relationship of the
  /// source record.
  public static func destinationInstances(forSourceRelationshipNamed name: String) -> MappingExpression {
    destinationInstances(forSourceRelationshipAt: name)
  }

  /// Returns an expression for the new records that any mapping has made of the records at a key path. The last
  /// relationship gives the name.
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
  /// The text of the expression in Xcode's form, from which ``init(format:)`` reads the same expression.
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
  /// Parses the text of an expression in the form of Xcode's editor for mapping models.
  ///
  /// - Throws: ``FetchPredicateError`` with the place of the mistake in the text.
  public init(format: String) throws(FetchPredicateError) {
    var parser = MappingExpressionParser()
    self = try parser.parse(format[...])
  }
}

/// Parses the syntax that only mapping models have, and passes the rest to the parser of predicates.
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

  /// Parses a variable, or a key path from one, which may have operators that predicates do not have.
  private static func path(_ text: Substring) -> MappingExpression? {
    guard text.first == "$" else { return nil }
    let names = text.dropFirst().split(separator: ".", omittingEmptySubsequences: false)
    guard names.allSatisfy({ isName($0.first == "@" ? $0.dropFirst() : $0) }), let variable = names.first,
      variable.first != "@"
    else { return nil }
    // Operators that compute a value from a collection work as in predicates.
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

  /// Splits the text at the commas outside of brackets and quotation marks; nil if brackets or quotation marks are not
  /// closed.
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
