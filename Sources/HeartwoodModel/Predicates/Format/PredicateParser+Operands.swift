import HeartwoodFoundation

extension PredicateParser {
  private static let operandExpectation = "a key path, a value or a function"

  /// Reads an operand with everything before and after it.
  mutating func parsePrefix() throws(FetchPredicateError) -> Parsed {
    let start = token.place.lowerBound
    switch token.kind {
    case .symbol(.not): return try parseNegation(start)
    case .symbol(.minus): return try parseMinus(start)
    case .symbol(.plus):
      try advance()
      return try parse(.tightest)
    case .word:
      if let parsed = try parseKeyword(start) { return parsed }
    default: break
    }
    return try parsePostfix(parseOperand(start), start)
  }

  /// Reads an operand that begins with a reserved word; nil if the word is a key.
  private mutating func parseKeyword(_ start: Int) throws(FetchPredicateError) -> Parsed? {
    switch token.keyword {
    case .not: return try parseNegation(start)
    case .any, .someOf: return try parseModified(.any, start)
    case .all: return try parseModified(.all, start)
    case .noneOf: return try parseModified(.none, start)
    case .truePredicate, .falsePredicate:
      let isTrue = token.keyword == .truePredicate
      try advance()
      return try parsed(.predicate(.literal(isTrue)), from: start, over: 0)
    default: return nil
    }
  }

  private mutating func parseNegation(_ start: Int) throws(FetchPredicateError) -> Parsed {
    try advance()
    let term = try parse(.not)
    return try parsed(.predicate(.not(try predicate(term))), from: start, over: term.height)
  }

  /// Reads a comparison after `ANY`, `ALL` or `NONE`, with or without brackets.
  private mutating func parseModified(
    _ modifier: FetchComparison.Modifier,
    _ start: Int
  ) throws(FetchPredicateError) -> Parsed {
    try advance()
    let operand = try parse(.additive)
    guard case .predicate(let predicate) = operand.node else {
      return try parseComparison(operand, modifier, from: start)
    }
    guard case .comparison(var comparison) = predicate, comparison.modifier == .direct else {
      throw error(.syntax, "A comparison is needed after \(modifier.rawValue).", at: operand.place)
    }
    comparison.modifier = modifier
    return try parsed(.predicate(.comparison(comparison)), from: start, over: operand.height)
  }

  private mutating func parseMinus(_ start: Int) throws(FetchPredicateError) -> Parsed {
    try advance()
    if let value = try parseNumber(sign: "-") {
      return try parsePostfix(parsed(.expression(.constant(value)), from: start, over: 0), start)
    }
    let operand = try parse(.tightest)
    let negated = FetchExpression.function(.negate, [try expression(operand)])
    return try parsed(.expression(negated), from: start, over: operand.height)
  }

  /// Returns the number in the token; nil if it is not a number.
  private mutating func parseNumber(sign: String) throws(FetchPredicateError) -> PropertyValue? {
    let value: PropertyValue?
    switch token.kind {
    case .integer(let digits, let radix): value = Int64(sign + digits, radix: radix).map(PropertyValue.integer)
    case .decimal(let text): value = NumberText.number(sign + text, Double.self).map(PropertyValue.double)
    default: return nil
    }
    guard let value else {
      let message = "The number is too large, or has digits that do not fit. Write CAST(\"…\", \"Decimal\")."
      throw error(.syntax, message, at: token.place)
    }
    try advance()
    return value
  }
}

// MARK: Operands

extension PredicateParser {
  private mutating func parseOperand(_ start: Int) throws(FetchPredicateError) -> Parsed {
    switch token.kind {
    case .integer, .decimal:
      let value = try parseNumber(sign: "") ?? .null
      return try parsed(.expression(.constant(value)), from: start, over: 0)
    case .string(let text): return try simple(.constant(.string(text)), start)
    case .variable(let name): return try simple(.variable(name), start)
    case .key(let name): return try simple(.keyPath(of: .selfObject, [.property(name)]), start)
    case .collection: return try parseKeyPath(of: .selfObject, start, over: 0)
    case .argument(let conversion): return try parseArgument(conversion, start)
    case .symbol(.opening): return try parseBrackets(start)
    case .symbol(.openingBrace):
      let (elements, height) = try parseList(.openingBrace, .closingBrace)
      return try parsed(.expression(.aggregate(elements)), from: start, over: height)
    case .word(let name): return try parseWord(name, start)
    default: throw unexpected(Self.operandExpectation)
    }
  }

  private mutating func simple(_ expression: FetchExpression, _ start: Int) throws(FetchPredicateError) -> Parsed {
    try advance()
    return try parsed(.expression(expression), from: start, over: 0)
  }

  private mutating func parseBrackets(_ start: Int) throws(FetchPredicateError) -> Parsed {
    try advance()
    var inner = try parse(.lowest)
    try expect(.closing)
    inner.place = start..<inner.place.upperBound + 1
    return inner
  }

  private mutating func parseWord(_ name: String, _ start: Int) throws(FetchPredicateError) -> Parsed {
    let word = token
    try advance()
    switch word.keyword {
    case .null, .nil: return try parsed(.expression(.constant(.null)), from: start, over: 0)
    case .itself: return try parsed(.expression(.selfObject), from: start, over: 0)
    case .true, .yes: return try parsed(.expression(.constant(.boolean(true))), from: start, over: 0)
    case .false, .no: return try parsed(.expression(.constant(.boolean(false))), from: start, over: 0)
    case let keyword?:
      if token.kind == .symbol(.opening), let special = try parseSpecial(keyword, start) { return special }
      guard keyword.isKeyElsewhere else {
        let message =
          "Expected here: \(Self.operandExpectation). \(name) is a reserved word: a key of that name is #\(name)."
        throw error(.syntax, message, at: word.place)
      }
    case nil: break
    }
    if token.kind == .symbol(.opening) || token.kind == .symbol(.colon) { return try parseFunction(name, word, start) }
    return try parsed(.expression(.keyPath(of: .selfObject, [.property(name)])), from: start, over: 0)
  }

  private mutating func parseArgument(
    _ conversion: PredicateToken.Conversion,
    _ start: Int
  ) throws(FetchPredicateError) -> Parsed {
    let argument = try takeArgument()
    if let problem = conversion.problem(with: argument) { throw error(.argument, problem, at: token.place) }
    guard conversion == .keyPath else { return try simple(argument, start) }
    guard case .constant(.string(let path)) = argument, let keys = FetchKey.path(path) else {
      throw error(.argument, "%K takes a key path such as list.name, and the argument is not one.", at: token.place)
    }
    return try simple(.keyPath(of: .selfObject, keys), start)
  }

  mutating func parseList(
    _ opening: PredicateToken.Symbol,
    _ closing: PredicateToken.Symbol
  ) throws(FetchPredicateError) -> ([FetchExpression], height: Int) {
    try expect(opening)
    var elements: [FetchExpression] = []
    var height = 0
    while token.kind != .symbol(closing) {
      if !elements.isEmpty {
        guard token.kind == .symbol(.comma) else { throw unexpected(", or \(closing.rawValue)") }
        try advance()
      }
      let element = try parse(.additive)
      elements.append(try expression(element))
      height = max(height, element.height)
    }
    try advance()
    return (elements, height)
  }
}

extension PredicateToken.Conversion {
  /// Returns why the argument does not fit, or nil if it does.
  fileprivate func problem(with argument: FetchExpression) -> String? {
    switch (self, argument) {
    case (.any, _), (.keyPath, .constant(.string)): nil
    case (.integer, .constant(.integer)), (.integer, .constant(.boolean)): nil
    case (.floatingPoint, .constant(.double)), (.floatingPoint, .constant(.float)),
      (.floatingPoint, .constant(.integer)),
      (.floatingPoint, .constant(.decimal)):
      nil
    case (.keyPath, _): "%K takes a key path as a string. For a value use %@."
    case (.integer, _): "This takes an integer. For a value of any type use %@."
    case (.floatingPoint, _): "This takes a number. For a value of any type use %@."
    }
  }
}

extension FetchKey {
  /// Splits `path` into keys at the dots; nil if a key is empty or an unknown operator.
  static func path(_ path: String) -> [FetchKey]? {
    var keys: [FetchKey] = []
    for part in path.split(separator: ".", omittingEmptySubsequences: false) {
      guard !part.isEmpty else { return nil }
      if part.first == "@" {
        guard let symbol = CollectionOperator(spelling: String(part.dropFirst())) else { return nil }
        keys.append(.collection(symbol))
      } else {
        keys.append(.property(String(part)))
      }
    }
    return keys
  }
}

extension CollectionOperator {
  /// Finds the operator with this name, without its `@`. Objects, arrays and sets are distinguished by their type, not
  /// by the name.
  init?(spelling name: String) {
    switch name {
    case "unionOfArrays", "unionOfSets": self = .union
    case "distinctUnionOfArrays", "distinctUnionOfSets": self = .distinctUnion
    default: self.init(rawValue: "@" + name)
    }
  }
}

// MARK: What follows an operand

extension PredicateParser {
  private mutating func parsePostfix(_ operand: Parsed, _ start: Int) throws(FetchPredicateError) -> Parsed {
    var operand = operand
    while true {
      switch token.kind {
      case .symbol(.dot):
        let base = try expression(operand)
        try advance()
        operand = try parseKeyPath(of: base, start, over: operand.height)
      case .symbol(.openingBracket):
        operand = try parseIndex(of: try expression(operand), start, over: operand.height)
      case .symbol(.assign):
        throw error(.unsupported, "Assignments do not work in fetches. Substitute variables instead.", at: token.place)
      default: return operand
      }
    }
  }

  /// Reads one or more keys. They add no level, however many there are.
  private mutating func parseKeyPath(
    of base: FetchExpression,
    _ start: Int,
    over height: Int
  ) throws(FetchPredicateError) -> Parsed {
    var keys = [try parseKey()]
    while token.kind == .symbol(.dot) {
      try advance()
      keys.append(try parseKey())
    }
    if case .keyPath(let root, let first) = base {
      return Parsed(
        node: .expression(.keyPath(of: root, first + keys)),
        place: start..<token.place.lowerBound,
        height: height
      )
    }
    return try parsed(.expression(.keyPath(of: base, keys)), from: start, over: height)
  }

  private mutating func parseKey() throws(FetchPredicateError) -> FetchKey {
    let key: FetchKey
    switch token.kind {
    case .word(let name), .key(let name): key = .property(name)
    case .collection(let name):
      guard let symbol = CollectionOperator(spelling: name) else {
        let known = CollectionOperator.allCases.map(\.rawValue).joined(separator: ", ")
        throw error(.syntax, "There is no collection operator of this name. There are \(known).", at: token.place)
      }
      key = .collection(symbol)
    case .argument(.keyPath):
      guard case .constant(.string(let path)) = try takeArgument(), let keys = FetchKey.path(path), keys.count == 1
      else {
        throw error(.argument, "%K within a key path takes one key as a string.", at: token.place)
      }
      key = keys[0]
    default: throw unexpected("a key")
    }
    try advance()
    return key
  }

  private mutating func parseIndex(
    of base: FetchExpression,
    _ start: Int,
    over height: Int
  ) throws(FetchPredicateError) -> Parsed {
    try expect(.openingBracket)
    var index = FetchExpression.ElementIndex.first
    var height = height
    switch token.keyword {
    case .first: try advance()
    case .last:
      index = .last
      try advance()
    case .size:
      index = .size
      try advance()
    default:
      let place = try parse(.additive)
      index = .at(try expression(place))
      height = max(height, place.height)
    }
    try expect(.closingBracket)
    return try parsed(.expression(.element(of: base, index)), from: start, over: height)
  }
}
