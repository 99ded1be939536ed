/// A regular expression as steps, any number of which are active at once. So the time of a match grows only with both
/// lengths, whatever the pattern (K. Thompson, Regular Expression Search Algorithm, CACM 11, 1968).
struct PatternAutomaton {
  private enum Step {
    /// Takes a scalar that the atom with this number matches, and continues with the next step.
    case atom(Int)
    /// Continues with the next step, and with another.
    case fork(Int)
    case jump(Int)
    /// Continues with the next step if this is a word boundary, or for false, if it is none.
    case boundary(Bool)
    case accept
  }

  struct TooLarge: Error {}

  /// The limit of steps. A pattern with nested large counts could have any number of them.
  static let greatestStepCount = 10_000

  private var steps: [Step] = []
  private var hasBoundaries = false
  /// The texts of the atoms, without repetitions.
  private(set) var atoms: [String] = []
  /// The numbers of the atoms by their bytes: canonically equivalent texts match different scalars.
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
      // A part that takes nothing would be repeated forever.
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
  /// The active steps, in any order and without repetitions.
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

    /// Activates a step, and all steps that follow it without a scalar.
    ///
    /// - Parameter isBoundary: whether there is a word boundary here.
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

  /// Returns whether the whole text matches.
  ///
  /// - Parameter test: returns whether the atom with this number matches a scalar.
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

/// The classes with a letter in patterns (`\w`, `\d`) that mean another set in ICU than in the library: for the
/// library, `²` is a digit, and a combining mark is not part of a word. Both are written out for the library as ICU
/// defines them.
enum PatternClass {
  /// `\w` without brackets: ICU's `[\p{Alphabetic}\p{Mark}\p{Decimal_Number}\p{Connector_Punctuation}\u200c\u200d]`.
  private static let word = #"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200C\u200D"#

  /// Returns what the library gets for a backslash with `letter`.
  ///
  /// - Parameter isInBrackets: whether the letter is in a class in brackets.
  /// - Returns: nil if the letter has the same meaning for the library.
  static func text(of letter: Character, isInBrackets: Bool) -> String? {
    switch letter {
    case "w": isInBrackets ? word : "[\(word)]"
    case "W": "[^\(word)]"
    case "d": #"\p{Nd}"#
    case "D": #"\P{Nd}"#
    default: nil
    }
  }

  /// Returns a pattern for the library with its classes written out, and whether it contains word boundaries.
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
          // A closing bracket right after the opening one is a letter.
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

    /// Copies the text between `\Q` and `\E`, which is not a pattern.
    private mutating func writeQuotation() {
      written += "\\Q"
      while !rest.isEmpty, !written.hasSuffix("\\E") { rest.popFirst().map { written.append($0) } }
    }
  }
}

/// Finds word boundaries as ICU does without its option for Unicode's own: between a scalar that `\w` takes and one
/// that it does not take, or an end of the text. Combining marks and format characters belong to the scalar before
/// them, so there is no boundary in front of them.
struct WordBoundaries {
  private var isAfterWord = false

  /// Returns whether there is a boundary in front of `next`, or at the end of the text. It must be called for each
  /// scalar in turn.
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
