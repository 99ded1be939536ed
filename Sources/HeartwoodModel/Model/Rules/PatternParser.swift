/// A node of a regular expression in the strict sense: nothing in it looks back or ahead, except for word boundaries.
indirect enum PatternNode {
  /// The text of a part that takes one Unicode scalar: a letter, an escape, a class in brackets.
  case atom(String)
  /// A word boundary, `\b`, or for false a place without one, `\B`.
  case boundary(Bool)
  case sequence([PatternNode])
  case choice([PatternNode])
  /// A repetition; nil for `most` means any number.
  case repetition(PatternNode, least: Int, most: Int?)
}

extension PatternNode {
  /// The number of places where a match can continue in more than one way.
  var branchCount: Int {
    switch self {
    case .atom, .boundary: 0
    case .sequence(let nodes): nodes.reduce(0) { $0 + $1.branchCount }
    case .choice(let nodes): nodes.reduce(1) { $0 + $1.branchCount }
    case .repetition(let node, _, _): node.branchCount + 1
    }
  }
}

/// Parses a regular expression that must match a whole text. It refuses everything that it does not know for certain,
/// such as back references, look-around, possessive quantifiers, anchors in the middle, and options.
struct PatternParser {
  private struct Unknown: Error {}

  private var rest: Substring
  private var depth = 0

  private init(_ pattern: String) { rest = pattern[...] }

  /// Returns the nodes of a pattern, or nil if part of it is unknown to this parser.
  static func node(of pattern: String) -> PatternNode? {
    var parser = PatternParser(pattern)
    // try?: nil makes the library's own expressions handle the pattern, which throw its mistakes.
    guard let node = try? parser.choice(), parser.rest.isEmpty else { return nil }
    return node
  }

  private mutating func choice() throws -> PatternNode {
    var alternatives = [try sequence()]
    while take("|") { alternatives.append(try sequence()) }
    return alternatives.count == 1 ? alternatives[0] : .choice(alternatives)
  }

  private mutating func sequence() throws -> PatternNode {
    // A match of a whole text begins and ends at its ends in any case.
    if depth == 0 { _ = take("^") }
    var nodes: [PatternNode] = []
    while let next = rest.first, next != "|", next != ")" {
      if next == "$", depth == 0 {
        rest.removeFirst()
        guard rest.isEmpty || rest.first == "|" else { throw Unknown() }
        break
      }
      nodes.append(try quantified(try atom()))
    }
    return .sequence(nodes)
  }

  private mutating func atom() throws -> PatternNode {
    switch rest.first {
    case "(": try group()
    case "[": .atom(try bracketed())
    case "\\": try boundary() ?? .atom(try escape())
    case "^", "$", "*", "+", "?", "{", "}", "]", nil: throw Unknown()
    case let letter?: try letterAtom(letter)
    }
  }

  private mutating func letterAtom(_ letter: Character) throws -> PatternNode {
    guard letter != "\r\n" else { throw Unknown() }
    rest.removeFirst()
    // A letter of several scalars is repeated as a whole.
    let scalars = letter.unicodeScalars.map { PatternNode.atom(String($0)) }
    return scalars.count == 1 ? scalars[0] : .sequence(scalars)
  }

  private mutating func group() throws -> PatternNode {
    rest.removeFirst()
    if take("?") { guard try take(":") || takeName() else { throw Unknown() } }
    depth += 1
    let node = try choice()
    depth -= 1
    guard take(")") else { throw Unknown() }
    return node
  }

  /// Reads the name of a group, `<name>`, which has no influence on the match.
  private mutating func takeName() throws -> Bool {
    guard take("<") else { return false }
    let name = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
    rest.removeFirst(name.count)
    // Otherwise the group looks behind, or balances groups.
    guard !name.isEmpty, take(">") else { throw Unknown() }
    return true
  }

  /// Reads a class in brackets as text; the library interprets its contents.
  private mutating func bracketed() throws -> String {
    var text = String(rest.removeFirst())
    if take("^") { text.append("^") }
    while let next = rest.popFirst() {
      switch next {
      case "]" where text.count > (text.hasPrefix("[^") ? 2 : 1): return text + "]"
      case "\\": text += Self.text(of: try known(rest.popFirst()), isInBrackets: true)
      case "[", "]", "&", "~": throw Unknown()
      default:
        guard next.isASCII, next != "\r\n" else { throw Unknown() }
        text.append(next)
      }
    }
    throw Unknown()
  }

  /// Reads a word boundary; nil if the next part is none.
  private mutating func boundary() -> PatternNode? {
    guard let letter = rest.dropFirst().first, letter == "b" || letter == "B" else { return nil }
    rest.removeFirst(2)
    return .boundary(letter == "b")
  }

  private mutating func escape() throws -> String {
    rest.removeFirst()
    if let letter = rest.first, letter == "p" || letter == "P" { return "\\" + (try unicodeProperty()) }
    return Self.text(of: try known(rest.popFirst()), isInBrackets: false)
  }

  private static func text(of letter: Character, isInBrackets: Bool) -> String {
    PatternClass.text(of: letter, isInBrackets: isInBrackets) ?? "\\\(letter)"
  }

  /// Reads `p{L}`: a property of Unicode scalars.
  private mutating func unicodeProperty() throws -> String {
    let end = rest.firstIndex(of: "}")
    guard let end, rest.dropFirst().first == "{" else { throw Unknown() }
    let text = String(rest[...end])
    guard text.dropFirst(2).dropLast().allSatisfy({ $0.isASCII && $0.isLetter }) else { throw Unknown() }
    rest = rest[rest.index(after: end)...]
    return text
  }

  /// Returns a letter after a backslash if both stand for one scalar.
  private func known(_ letter: Character?) throws -> Character {
    guard let letter, letter.isASCII, letter != "\r\n" else { throw Unknown() }
    guard !letter.isLetter && !letter.isNumber || "dDwWsStnrf".contains(letter) else { throw Unknown() }
    return letter
  }

  private mutating func quantified(_ node: PatternNode) throws -> PatternNode {
    guard let bounds = try quantifier() else { return node }
    // The order of attempts is irrelevant if the whole text must match, but possessive repetitions are not.
    _ = take("?")
    if let next = rest.first, "*+?{".contains(next) { throw Unknown() }
    return .repetition(node, least: bounds.least, most: bounds.most)
  }

  private mutating func quantifier() throws -> (least: Int, most: Int?)? {
    if take("*") { return (0, nil) }
    if take("+") { return (1, nil) }
    if take("?") { return (0, 1) }
    guard take("{") else { return nil }
    let least = try number()
    var most: Int? = least
    if take(",") { most = rest.first == "}" ? nil : try number() }
    guard take("}"), most.map({ $0 >= least }) ?? true else { throw Unknown() }
    return (least, most)
  }

  private mutating func number() throws -> Int {
    let digits = rest.prefix { $0.isASCII && $0.isNumber }
    rest.removeFirst(digits.count)
    guard let number = Int(digits) else { throw Unknown() }
    return number
  }

  private mutating func take(_ character: Character) -> Bool {
    guard rest.first == character else { return false }
    rest.removeFirst()
    return true
  }
}
