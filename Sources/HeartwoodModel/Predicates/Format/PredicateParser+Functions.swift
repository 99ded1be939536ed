import HeartwoodFoundation

extension PredicateParser {
  /// Reads `SUBQUERY(…)` and similar forms, whose word has been read; nil if the word is none of them.
  mutating func parseSpecial(_ keyword: PredicateKeyword, _ start: Int) throws(FetchPredicateError) -> Parsed? {
    switch keyword {
    case .subquery: return try parseSubquery(start)
    case .cast: return try parseCast(start)
    case .ternary: return try parseConditional(start)
    case .function:
      throw error(
        .unsupported,
        "FUNCTION calls methods of Objective-C objects. Use a function by its name.",
        at: token.place
      )
    case .fetch:
      throw error(.unsupported, "FETCH within a predicate does not work. Fetch first, and use IN.", at: token.place)
    default: return nil
    }
  }

  private mutating func parseSubquery(_ start: Int) throws(FetchPredicateError) -> Parsed {
    try expect(.opening)
    let collection = try parse(.additive)
    try expect(.comma)
    guard case .variable(let variable) = token.kind else { throw unexpected("a variable, such as $x") }
    try advance()
    try expect(.comma)
    let condition = try parse(.lowest)
    let node = FetchExpression.subquery(try expression(collection), variable: variable, try predicate(condition))
    try expect(.closing)
    return try parsed(.expression(node), from: start, over: max(collection.height, condition.height))
  }

  private mutating func parseConditional(_ start: Int) throws(FetchPredicateError) -> Parsed {
    try expect(.opening)
    let condition = try parse(.lowest)
    try expect(.comma)
    let first = try parse(.additive)
    try expect(.comma)
    let second = try parse(.additive)
    let node = FetchExpression.conditional(try predicate(condition), try expression(first), try expression(second))
    try expect(.closing)
    return try parsed(.expression(node), from: start, over: max(condition.height, first.height, second.height))
  }
}

// MARK: Casts

extension PredicateParser {
  private mutating func parseCast(_ start: Int) throws(FetchPredicateError) -> Parsed {
    try expect(.opening)
    let isBracketed = token.kind == .symbol(.opening)
    let operand = try parse(.additive)
    let value = try expression(operand)
    try expect(.comma)
    guard case .string(let name) = token.kind else { throw unexpected("the name of a type in quotation marks") }
    let place = token.place
    try advance()
    try expect(.closing)
    let node = try cast(value, isBracketed ? nil : operand.place, to: name, at: place)
    return try parsed(.expression(node), from: start, over: operand.height)
  }

  /// Makes a cast.
  ///
  /// - Parameter literalPlace: the place of the operand, unless it is in brackets. A literal in brackets is cast; one
  ///   without brackets is a spelling of a value.
  private func cast(
    _ operand: FetchExpression,
    _ literalPlace: Range<Int>?,
    to name: String,
    at place: Range<Int>
  ) throws(FetchPredicateError) -> FetchExpression {
    if name == "ManagedObjectID" || name == "NSManagedObjectID" {
      if case .constant(.string(let text)) = operand, let uri = ObjectURI(text: text) { return .object(uri) }
      let message = "An object is named by the URI of a saved one, x-coredata://…, as a string."
      throw error(.syntax, message, at: literalPlace ?? place)
    }
    guard let type = FetchExpression.CastType(spelling: name) else {
      let known = FetchExpression.CastType.allCases.map(\.rawValue).joined(separator: ", ")
      throw error(.syntax, "There is no type of this name to cast to. There are \(known).", at: place)
    }
    guard let literalPlace else { return .cast(operand, type) }
    if let value = type.literal(operand) { return .constant(value) }
    if case .constant(.string) = operand, type != .string {
      throw error(
        .syntax,
        "This string does not have the form of the type \(type.rawValue), \(type.form).",
        at: literalPlace
      )
    }
    return .cast(operand, type)
  }
}

extension FetchExpression.CastType {
  /// Finds the type that a cast names, by this library's name or Foundation's.
  init?(spelling name: String) {
    switch name {
    case "NSDate": self = .date
    case "NSDecimalNumber": self = .decimal
    case "NSNumber": self = .double
    case "NSString": self = .string
    case "NSData": self = .binary
    case "NSUUID": self = .uuid
    case "NSURL": self = .uri
    default: self.init(rawValue: name)
    }
  }

  /// The attribute type of the values that a text of this type stands for.
  public var attributeType: AttributeType {
    switch self {
    case .integer: .integer64
    case .decimal: .decimal
    case .double: .double
    case .float: .float
    case .string: .string
    case .boolean: .boolean
    case .date: .date
    case .binary: .binary
    case .uuid: .uuid
    case .uri: .uri
    }
  }

  /// Returns the value that a cast of a literal is a spelling of; nil if the cast must be computed.
  fileprivate func literal(_ operand: FetchExpression) -> PropertyValue? {
    switch (self, operand) {
    case (.string, _): nil
    case (.date, .constant(.double(let seconds))): .date(Date(timeIntervalSinceReferenceDate: seconds))
    case (.date, .constant(.integer(let seconds))): .date(Date(timeIntervalSinceReferenceDate: Double(seconds)))
    case (_, .constant(.string(let text))): Computation.value(of: text, self)
    default: nil
    }
  }

  /// The form of a text for a value of the type.
  fileprivate var form: String {
    switch self {
    case .date: "such as 2016-09-17T18:15:00Z, 2016-09-17, or the seconds since 2001"
    case .boolean: "true or false"
    case .binary: "base64"
    case .uuid: "such as E899556C-BE1A-42A3-A634-F8411915C05F"
    case .integer: "a whole number of 64 bits"
    case .decimal, .double, .float: "a number"
    case .string, .uri: "any"
    }
  }
}

// MARK: Functions

extension PredicateParser {
  /// Reads a function whose first word has been read: `abs(x)`, `abs:(x)`, `modulus:by:(x, 2)`.
  mutating func parseFunction(
    _ name: String,
    _ word: PredicateToken,
    _ start: Int
  ) throws(FetchPredicateError) -> Parsed {
    var name = name
    while token.kind == .symbol(.colon) {
      name += ":"
      try advance()
      if case .word(let part) = token.kind {
        name += part
        try advance()
      }
    }
    let place = start..<token.place.lowerBound
    guard token.kind == .symbol(.opening) else { throw unexpected("the arguments of \(name) in brackets") }
    let (arguments, height) = try parseList(.opening, .closing)
    let node = try function(name, arguments, at: place)
    return try parsed(.expression(node), from: start, over: height)
  }

  private func function(
    _ name: String,
    _ arguments: [FetchExpression],
    at place: Range<Int>
  ) throws(FetchPredicateError) -> FetchExpression {
    if let operation = FetchExpression.operation(named: name, arguments) { return operation }
    guard let function = FetchFunction(name: name) else {
      let known = FetchFunction.allCases.filter { $0 != .negate }.map(\.rawValue).joined(separator: " ")
      throw error(.syntax, "There is no function of this name. There are \(known).", at: place)
    }
    if arguments.count == function.argumentCount { return .function(function, arguments) }
    // `sum(1, 2, 3)` means the sum of a collection of all three.
    if function.takesCollection, !arguments.isEmpty { return .function(function, [.aggregate(arguments)]) }
    let wanted = function.argumentCount == 1 ? "1 argument" : "\(function.argumentCount) arguments"
    let hint = function == .count ? " Objects are counted by count(SELF)." : ""
    throw error(.syntax, "\(name) takes \(wanted), and \(arguments.count) are given.\(hint)", at: place)
  }
}

extension FetchFunction {
  /// Whether its only argument is a collection.
  public var takesCollection: Bool {
    switch self {
    case .sum, .count, .distinct, .min, .max, .average, .median, .mode, .standardDeviation: true
    default: false
    }
  }
}
