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
