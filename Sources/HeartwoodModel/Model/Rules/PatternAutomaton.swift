/// A regular expression as steps of which any number is taken at once, so that a text is matched in a time that grows with both lengths and no faster,
/// whatever the pattern (K. Thompson, Regular Expression Search Algorithm, CACM 11, 1968).
struct PatternAutomaton {
  private enum Step {
    /// Takes a scalar that the atom of this number matches, and goes on to the next step.
    case atom(Int)
    /// Goes on to the next step, and to another.
    case fork(Int)
    case jump(Int)
    /// Goes on to the next step where a word begins or ends, or where none does.
    case boundary(Bool)
    case accept
  }

  struct TooLarge: Error {}

  /// A pattern with large counts within each other would have any number of steps.
  static let greatestStepCount = 10_000

  private var steps: [Step] = []
  private var hasBoundaries = false
  /// The texts of the atoms, each once.
  private(set) var atoms: [String] = []
  /// By their bytes: texts that Unicode calls equivalent match different scalars.
  private var numbers: [[UInt8]: Int] = [:]

  init(_ node: PatternNode) throws(TooLarge) {
    try append(node)
    try append(.accept)
  }
}

// MARK: Compiling

extension PatternAutomaton {
  private mutating func append(_ step: Step) throws(TooLarge) {
    guard steps.count < Self.greatestStepCount else { throw TooLarge() }
    steps.append(step)
  }

  private mutating func append(_ node: PatternNode) throws(TooLarge) {
    switch node {
    case .atom(let text): try append(.atom(number(of: text)))
    case .boundary(let isWanted):
      hasBoundaries = true
      try append(Step.boundary(isWanted))
    case .sequence(let nodes): for node in nodes { try append(node) }
    case .choice(let nodes): try append(choice: nodes[...])
    case .repetition(let node, let least, let most): try append(node, least, most)
    }
  }

  private mutating func number(of atom: String) -> Int {
    let bytes = Array(atom.utf8)
    if let number = numbers[bytes] { return number }
    atoms.append(atom)
    numbers[bytes] = atoms.count - 1
    return atoms.count - 1
  }

  private mutating func append(choice nodes: ArraySlice<PatternNode>) throws(TooLarge) {
    var ends: [Int] = []
    for (number, node) in nodes.enumerated() {
      let isLast = number == nodes.count - 1
      let fork = steps.count
      if !isLast { try append(.accept) }
      try append(node)
      if isLast { break }
      ends.append(steps.count)
      try append(.accept)
      steps[fork] = .fork(steps.count)
    }
    for end in ends { steps[end] = .jump(steps.count) }
  }

  private mutating func append(_ node: PatternNode, _ least: Int, _ most: Int?) throws(TooLarge) {
    guard least <= Self.greatestStepCount, most ?? 0 <= Self.greatestStepCount else { throw TooLarge() }
    for _ in 0..<least {
      let count = steps.count
      try append(node)
      // What takes nothing takes nothing more the next time, and would be repeated without a limit.
      if steps.count == count { break }
    }
    guard let most else {
      let fork = steps.count
      try append(.accept)
      try append(node)
      try append(.jump(fork))
      steps[fork] = .fork(steps.count)
      return
    }
    var forks: [Int] = []
    for _ in least..<most {
      forks.append(steps.count)
      try append(.accept)
      try append(node)
    }
    for fork in forks { steps[fork] = .fork(steps.count) }
  }
}

// MARK: Matching

extension PatternAutomaton {
  /// The steps that a text has come to, in any order, each once.
  private struct Places {
    private(set) var atoms: [(step: Int, atom: Int)] = []
    private(set) var isAccepted = false
    private var seen: [Bool]
    private var noted: [Int] = []

    init(count: Int) { seen = Array(repeating: false, count: count) }

    mutating func clear() {
      for step in noted { seen[step] = false }
      noted.removeAll(keepingCapacity: true)
      atoms.removeAll(keepingCapacity: true)
      isAccepted = false
    }

    /// Comes to a step, and to all that follow it without a scalar.
    ///
    /// - Parameter isBoundary: whether a word begins or ends here.
    mutating func come(to start: Int, _ steps: [Step], isBoundary: Bool) {
      var waiting = [start]
      while let step = waiting.popLast() {
        if seen[step] { continue }
        seen[step] = true
        noted.append(step)
        switch steps[step] {
        case .atom(let atom): atoms.append((step, atom))
        case .fork(let other): waiting += [other, step + 1]
        case .jump(let target): waiting.append(target)
        case .boundary(let isWanted): if isWanted == isBoundary { waiting.append(step + 1) }
        case .accept: isAccepted = true
        }
      }
    }
  }

  /// Whether all of `text` matches.
  ///
  /// - Parameter test: whether an atom, by its number, matches a scalar.
  func matches(_ text: String, _ test: (Int, Unicode.Scalar) -> Bool) -> Bool {
    var current = Places(count: steps.count)
    var next = Places(count: steps.count)
    var boundaries = WordBoundaries()
    var scalars = text.unicodeScalars.makeIterator()
    var following = scalars.next()
    current.come(to: 0, steps, isBoundary: hasBoundaries && boundaries.isBoundary(before: following))
    while let scalar = following {
      following = scalars.next()
      let isBoundary = hasBoundaries && boundaries.isBoundary(before: following)
      next.clear()
      for place in current.atoms where test(place.atom, scalar) {
        next.come(to: place.step + 1, steps, isBoundary: isBoundary)
      }
      swap(&current, &next)
      if current.atoms.isEmpty, !current.isAccepted { return false }
    }
    return current.isAccepted
  }
}

// MARK: PatternClass

/// The classes of scalars that have a letter of their own in patterns (`\w`, `\d`) and mean another set in ICU than in the library: `²` is a digit there,
/// and a combining mark is no part of a word. Both are written out for the library as ICU defines them.
enum PatternClass {
  /// `\w` without the brackets around it: ICU's `[\p{Alphabetic}\p{Mark}\p{Decimal_Number}\p{Connector_Punctuation}\u200c\u200d]`.
  private static let word = #"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200C\u200D"#

  /// What the library is given for a backslash with `letter`.
  ///
  /// - Parameter isInBrackets: whether it stands in a class in brackets.
  /// - Returns: nil if the library means the same by it.
  static func text(of letter: Character, isInBrackets: Bool) -> String? {
    switch letter {
    case "w": isInBrackets ? word : "[\(word)]"
    case "W": "[^\(word)]"
    case "d": #"\p{Nd}"#
    case "D": #"\P{Nd}"#
    default: nil
    }
  }

  /// A pattern with its classes written out, to be matched by the library, and whether it asks where words begin and end.
  static func writtenOut(in pattern: String) -> (text: String, hasBoundaries: Bool) {
    var writer = Writer(rest: pattern[...])
    let text = writer.text()
    return (text, writer.hasBoundaries)
  }

  private struct Writer {
    var rest: Substring
    private(set) var hasBoundaries = false
    private var written = ""
    private var depth = 0

    init(rest: Substring) { self.rest = rest }

    mutating func text() -> String {
      while let next = rest.popFirst() {
        switch next {
        case "\\": writeEscape()
        case "[":
          depth += 1
          written.append(next)
          // A bracket that closes right behind the opening one is a letter.
          if rest.first == "^", let caret = rest.popFirst() { written.append(caret) }
          if rest.first == "]", let bracket = rest.popFirst() { written.append(bracket) }
        case "]":
          depth = max(0, depth - 1)
          written.append(next)
        default: written.append(next)
        }
      }
      return written
    }

    private mutating func writeEscape() {
      guard let letter = rest.popFirst() else { return written.append("\\") }
      if letter == "Q" { return writeQuotation() }
      if depth == 0, letter == "b" || letter == "B" { hasBoundaries = true }
      written += PatternClass.text(of: letter, isInBrackets: depth > 0) ?? "\\\(letter)"
    }

    /// What stands between `\Q` and `\E` is no pattern.
    private mutating func writeQuotation() {
      written += "\\Q"
      while !rest.isEmpty, !written.hasSuffix("\\E") { rest.popFirst().map { written.append($0) } }
    }
  }
}

/// Tells where words begin and end in a text, as ICU does without its option for Unicode's own word boundaries: between a scalar that `\w` takes and one
/// that it does not take, or an end of the text. Combining marks and format characters go with the scalar before them, so no boundary is in front of
/// them.
struct WordBoundaries {
  private var isAfterWord = false

  /// Whether there is a boundary in front of `next`, or at the end of the text. To be asked for each scalar in turn.
  mutating func isBoundary(before next: Unicode.Scalar?) -> Bool {
    guard let next else { return isAfterWord }
    if next.goesWithTheOneBefore { return false }
    let isInWord = next.isOfWords
    defer { isAfterWord = isInWord }
    return isInWord != isAfterWord
  }
}

extension Unicode.Scalar {
  private static let (nonJoiner, joiner): (UInt32, UInt32) = (0x200C, 0x200D)

  /// Whether `\w` takes the scalar.
  var isOfWords: Bool {
    if isASCII { return properties.isAlphabetic || ("0"..."9").contains(self) || self == "_" }
    if properties.isAlphabetic { return true }
    switch properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark, .decimalNumber, .connectorPunctuation: return true
    default: return value == Self.nonJoiner || value == Self.joiner
    }
  }

  fileprivate var goesWithTheOneBefore: Bool {
    if isASCII { return false }
    return properties.isGraphemeExtend || properties.generalCategory == .format
  }
}
