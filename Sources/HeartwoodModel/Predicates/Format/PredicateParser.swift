/// Parses the format language: operators by their precedence, everything else by recursive descent.
///
/// A predicate and an expression can both be in brackets, and only the next token shows which it is. So one function
/// parses both, and each operator checks its operands.
struct PredicateParser {
  /// A parsed node, its place, and the number of its levels.
  struct Parsed {
    enum Node {
      case predicate(FetchPredicate)
      case expression(FetchExpression)
    }

    var node: Node
    var place: Range<Int>
    var height: Int
  }

  /// The precedence of operators.
  enum Precedence: Int {
    case lowest, or, and, not, comparison, additive, multiplicative, power, tightest
  }

  /// The limit of nested brackets. It is that of the text of the highest predicate, in which a level takes at most two:
  /// one for an operand and one for the brackets around it. So everything that can be read can also be read again from
  /// its text.
  private static let deepestNesting = 2 * FetchPredicate.greatestHeight + 2

  private(set) var token: PredicateToken
  private var lexer: PredicateLexer
  private let arguments: [FetchExpression]
  private var usedArguments = 0
  private var nesting = 0
  /// The end of the last token that was read.
  private var end = 0

  init(_ format: String, _ arguments: [FetchExpression]) throws(FetchPredicateError) {
    self.lexer = PredicateLexer(format)
    self.arguments = arguments
    self.token = try lexer.next()
  }
}

extension FetchPredicate {
  /// Parses a predicate in the format language of `NSPredicate`.
  ///
  ///     let predicate = try FetchPredicate(format: "done == NO AND memo CONTAINS[cd] %@", text)
  ///
  /// `%@` stands for an argument, `%K` for a key path given as a string, and `%d`, `%ld`, `%f` and others for numbers.
  /// Text in quotation marks is never a placeholder. Pass values as arguments and never insert them into the string, so
  /// that no value can change the meaning of the predicate.
  ///
  /// A predicate has at most 64 levels. All terms joined by `AND` or `OR` are on one level, however many there are.
  /// Whether an entity has the keys is checked by a fetch, not here.
  ///
  /// - Throws: ``FetchPredicateError``, which shows the place of the mistake.
  public init(format: String, _ arguments: any FetchArgument...) throws(FetchPredicateError) {
    try self.init(format: format, arguments: arguments)
  }

  /// Parses a predicate with its arguments in an array; see ``init(format:_:)``.
  ///
  /// - Throws: ``FetchPredicateError``, which shows the place of the mistake.
  public init(format: String, arguments: [any FetchArgument]) throws(FetchPredicateError) {
    var parser = try PredicateParser(format, arguments.map(\.fetchExpression))
    self = try parser.parseWholePredicate()
  }
}

extension FetchExpression {
  /// Parses an expression in the format language of predicates: `price * 2`, `items.@sum.price`.
  ///
  /// - Throws: ``FetchPredicateError``, which shows the place of the mistake.
  public init(format: String, _ arguments: any FetchArgument...) throws(FetchPredicateError) {
    var parser = try PredicateParser(format, arguments.map(\.fetchExpression))
    self = try parser.parseWholeExpression()
  }
}

// MARK: The whole

extension PredicateParser {
  mutating func parseWholePredicate() throws(FetchPredicateError) -> FetchPredicate {
    let parsed = try parse(.lowest)
    if case .word(let word) = token.kind, word.uppercased() == "UTI" {
      let message =
        "UTI-CONFORMS-TO and UTI-EQUALS ask the system for types of files. Compare the identifiers as strings."
      throw error(.unsupported, message, at: token.place)
    }
    let predicate = try predicate(parsed)
    try finish("AND, OR or the end of the predicate")
    return predicate
  }

  mutating func parseWholeExpression() throws(FetchPredicateError) -> FetchExpression {
    let parsed = try parse(.lowest)
    let expression = try expression(parsed)
    try finish("an operator or the end of the expression")
    return expression
  }

  /// Parses an expression, and the name after `AS` if there is one.
  mutating func parseWholeColumn() throws(FetchPredicateError) -> (expression: FetchExpression, name: String?) {
    let parsed = try parse(.lowest)
    let expression = try expression(parsed)
    var name: String?
    if case .word(let word) = token.kind, word.uppercased() == "AS" {
      try advance()
      name = try parseName()
    }
    try finish("an operator, AS or the end of the expression")
    return (expression, name)
  }

  private mutating func parseName() throws(FetchPredicateError) -> String {
    switch token.kind {
    case .word(let name), .key(let name), .string(let name):
      try advance()
      return name
    default: throw unexpected("a name")
    }
  }

  private func finish(_ expectation: String) throws(FetchPredicateError) {
    guard token.kind == .end else { throw unexpected(expectation) }
    guard usedArguments == arguments.count else {
      let message =
        "The format string uses \(usedArguments) of \(arguments.count) arguments. Give each its place, or leave it out."
      throw FetchPredicateError(.argument, message, in: lexer.text, at: token.place)
    }
  }
}

// MARK: Operators

extension PredicateParser {
  /// Parses an operand, and the operators after it that bind at least as tightly as `precedence`.
  mutating func parse(_ precedence: Precedence) throws(FetchPredicateError) -> Parsed {
    nesting += 1
    defer { nesting -= 1 }
    if nesting > Self.deepestNesting { throw tooComplex(token.place) }
    var left = try parsePrefix()
    while let next = infixPrecedence, next.rawValue >= precedence.rawValue {
      left = try parseInfix(left, next)
    }
    return left
  }

  private var infixPrecedence: Precedence? {
    switch token.kind {
    case .symbol(.or): .or
    case .symbol(.and): .and
    case .symbol(.equal), .symbol(.notEqual), .symbol(.less), .symbol(.lessOrEqual), .symbol(.greater),
      .symbol(.greaterOrEqual):
      .comparison
    case .symbol(.plus), .symbol(.minus): .additive
    case .symbol(.times), .symbol(.slash): .multiplicative
    case .symbol(.power): .power
    case .word: keywordPrecedence
    default: nil
    }
  }

  private var keywordPrecedence: Precedence? {
    switch token.keyword {
    case .or: .or
    case .and: .and
    case .in, .like, .matches, .contains, .beginsWith, .endsWith, .between: .comparison
    default: nil
    }
  }

  private mutating func parseInfix(_ left: Parsed, _ precedence: Precedence) throws(FetchPredicateError) -> Parsed {
    switch precedence {
    case .or, .and: return try parseCompound(left, precedence)
    case .comparison: return try parseComparison(left, .direct, from: left.place.lowerBound)
    default: return try parseArithmetic(left, precedence)
    }
  }

  /// Parses `a AND b AND c` as one node with three terms.
  private mutating func parseCompound(_ left: Parsed, _ precedence: Precedence) throws(FetchPredicateError) -> Parsed {
    var terms = [try predicate(left)]
    var height = left.height
    while infixPrecedence == precedence {
      try advance()
      let term = try parse(precedence == .or ? .and : .not)
      terms.append(try predicate(term))
      height = max(height, term.height)
    }
    let node = precedence == .or ? FetchPredicate.or(terms) : .and(terms)
    return try parsed(.predicate(node), from: left.place.lowerBound, over: height)
  }

  func parsed(_ node: Parsed.Node, from start: Int, over height: Int) throws(FetchPredicateError) -> Parsed {
    if height >= FetchPredicate.greatestHeight { throw tooComplex(start..<end) }
    return Parsed(node: node, place: start..<end, height: height + 1)
  }

  mutating func parseComparison(
    _ left: Parsed,
    _ modifier: FetchComparison.Modifier,
    from start: Int
  ) throws(FetchPredicateError) -> Parsed {
    let leftExpression = try expression(left)
    guard let comparator else { throw unexpected("a comparison operator, such as == or CONTAINS") }
    try advance()
    let options = try parseOptions()
    let right = try parse(.additive)
    let comparison = FetchComparison(
      leftExpression,
      comparator,
      try expression(right),
      modifier: modifier,
      options: options
    )
    let height = max(left.height, right.height)
    let result = try parsed(.predicate(.comparison(comparison)), from: start, over: height)
    if infixPrecedence == .comparison { throw unexpected("AND, OR or the end of the predicate") }
    return result
  }

  private var comparator: FetchComparison.Comparator? {
    switch token.kind {
    case .symbol(let symbol): FetchComparison.Comparator(rawValue: symbol.rawValue)
    case .word: keywordPrecedence == .comparison ? token.keyword.flatMap { .init(rawValue: $0.rawValue) } : nil
    default: nil
    }
  }

  private mutating func parseOptions() throws(FetchPredicateError) -> FetchComparison.Options {
    guard token.kind == .symbol(.openingBracket) else { return [] }
    try advance()
    var options: FetchComparison.Options = []
    guard case .word(let letters) = token.kind else { throw unexpected("one or more of the letters c, d, n and l") }
    for letter in letters.lowercased() {
      guard let option = FetchComparison.Options.letters.first(where: { $0.letter == letter })?.option else {
        throw unexpected("one or more of the letters c, d, n and l")
      }
      options.insert(option)
    }
    try advance()
    try expect(.closingBracket)
    return options
  }

  private mutating func parseArithmetic(_ left: Parsed, _ precedence: Precedence) throws(FetchPredicateError) -> Parsed
  {
    guard case .symbol(let symbol) = token.kind,
      let sign = FetchExpression.ArithmeticOperator(rawValue: symbol.rawValue)
    else { throw unexpected("an operator") }
    let leftExpression = try expression(left)
    try advance()
    // Powers are right-associative, all other operators left-associative.
    let right = try parse(precedence == .power ? .power : precedence == .additive ? .multiplicative : .power)
    let node = FetchExpression.arithmetic(leftExpression, sign, try expression(right))
    return try parsed(.expression(node), from: left.place.lowerBound, over: max(left.height, right.height))
  }
}

// MARK: Tokens

extension PredicateParser {
  mutating func advance() throws(FetchPredicateError) {
    end = token.place.upperBound
    token = try lexer.next()
  }

  mutating func expect(_ symbol: PredicateToken.Symbol) throws(FetchPredicateError) {
    guard token.kind == .symbol(symbol) else { throw unexpected(symbol.rawValue) }
    try advance()
  }

  /// Returns the next argument. It must be of the kind that the token requires.
  mutating func takeArgument() throws(FetchPredicateError) -> FetchExpression {
    guard usedArguments < arguments.count else {
      throw FetchPredicateError(
        .argument,
        "There is no argument number \(usedArguments + 1).",
        recovery: "Give one for each place in the format string.",
        in: lexer.text,
        at: token.place
      )
    }
    defer { usedArguments += 1 }
    return arguments[usedArguments]
  }

  func error(_ kind: FetchPredicateError.Kind, _ message: String, at place: Range<Int>) -> FetchPredicateError {
    FetchPredicateError(kind, message, in: lexer.text, at: place)
  }

  func unexpected(_ expectation: String) -> FetchPredicateError {
    error(.syntax, "Expected here: \(expectation).", at: token.place)
  }

  func tooComplex(_ place: Range<Int>) -> FetchPredicateError {
    error(.tooComplex, "The predicate is nested too deeply here. Make it flatter, or use IN with a list.", at: place)
  }

  func predicate(_ parsed: Parsed) throws(FetchPredicateError) -> FetchPredicate {
    if case .predicate(let predicate) = parsed.node { return predicate }
    if let unknown = unknownOperator { throw unknown }
    let message = "This is a value and not a condition. Compare it with another: == YES, for example."
    throw error(.syntax, message, at: parsed.place)
  }

  /// The error for a word in the place of an operator, after a value.
  private var unknownOperator: FetchPredicateError? {
    guard case .word(let word) = token.kind else { return nil }
    if token.keyword == .not {
      return error(.syntax, "NOT stands before a whole condition: NOT name LIKE \"a*\".", at: token.place)
    }
    guard token.keyword == nil else { return nil }
    let names = FetchComparison.Comparator.allCases.map(\.rawValue).filter { $0.first?.isLetter ?? false }
    let isTest = word.uppercased() == "IS"
    let advice =
      isTest
      ? "Compare with == nil or != nil."
      : NameSuggestion.closest(to: word.uppercased(), among: names).map { "Did you mean \($0)?" }
    let known = "There are \(names.joined(separator: ", ")), and signs such as == and <."
    return error(.syntax, "There is no operator called \(word). \(advice ?? known)", at: token.place)
  }

  func expression(_ parsed: Parsed) throws(FetchPredicateError) -> FetchExpression {
    if case .expression(let expression) = parsed.node { return expression }
    throw error(.syntax, "This is a condition, and a value is needed here.", at: parsed.place)
  }
}
