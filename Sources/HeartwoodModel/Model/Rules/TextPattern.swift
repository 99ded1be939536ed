import Synchronization

/// A compiled regular expression. Any thread can match with it.
///
/// The time of a match grows only with the text and the steps of the pattern (``PatternAutomaton``), unless the pattern
/// looks back or ahead (`\1`, `(?=…)`) or contains something else that ``PatternParser`` does not know. Then the
/// library matches by backtracking, for which there is no limit of time.
///
/// Words and digits (`\w`, `\d`, `\b`) are those of ICU. The library's word boundaries are different, so it gets no
/// pattern with them.
package final class TextPattern: Sendable {
  /// Why a pattern cannot be used, as a sentence.
  package struct Fault: Error {
    package let message: String
  }

  /// Patterns come from files, and the compiler of regular expressions recurses as deeply as they are nested or long.
  private static let longestPattern = 1_000
  private static let mostBrackets = 50

  private struct BoundaryFault: Error {}

  private enum Matcher {
    case automaton(PatternAutomaton, PatternAtoms)
    case library(Regex<AnyRegexOutput>)
  }

  /// A `Regex` is not Sendable, so only one thread matches at a time.
  private let matcher: Mutex<Matcher>

  /// At the beginning of a pattern, this option holds for the whole pattern.
  private static let caseOption = "(?i)"

  package init(_ text: String, ignoresCase: Bool = false) throws(Fault) {
    try Self.checkSize(of: text)
    let hasCaseOption = text.hasPrefix(Self.caseOption)
    let pattern = hasCaseOption ? String(text.dropFirst(Self.caseOption.count)) : text
    let ignoresCase = ignoresCase || hasCaseOption
    do {
      // A pattern that the library refuses is refused, even if the automaton matches it.
      let plain = PatternClass.writtenOut(in: pattern)
      let regex = try Self.regex(plain.text, ignoresCase: ignoresCase)
      if let automaton = try Self.automaton(pattern) {
        let atoms = try automaton.atoms.map { try Self.atom($0, ignoresCase: ignoresCase) }
        matcher = Mutex(.automaton(automaton, PatternAtoms(atoms)))
      } else if plain.hasBoundaries {
        throw BoundaryFault()
      } else {
        matcher = Mutex(.library(regex))
      }
    } catch is BoundaryFault {
      throw Fault(
        message:
          #"It combines word boundaries (\b, \B) with a lookaround, an atomic or possessive group, or a large count, "#
          + "which is not supported. Remove one of the two."
      )
    } catch is PatternAutomaton.TooLarge {
      throw Fault(
        message:
          "Its counts add up to more than \(PatternAutomaton.greatestStepCount) steps, which would take too long to "
          + "match. Use smaller counts, or a least and a greatest length."
      )
    } catch {
      throw Fault(message: "It cannot be read as a regular expression: \(error).")
    }
  }

  /// Returns nil if the library must match.
  private static func automaton(_ pattern: String) throws(PatternAutomaton.TooLarge) -> PatternAutomaton? {
    guard let node = PatternParser.node(of: pattern) else { return nil }
    do {
      return try PatternAutomaton(node)
    } catch {
      // With one repetition and no other choice, backtracking takes no longer than the text.
      if node.branchCount <= 1 { return nil }
      throw error
    }
  }

  private static func regex(_ pattern: String, ignoresCase: Bool) throws -> Regex<AnyRegexOutput> {
    try Regex(pattern).matchingSemantics(.unicodeScalar).ignoresCase(ignoresCase)
  }

  private static func atom(_ text: String, ignoresCase: Bool) throws -> PatternAtom {
    // A single letter matches only itself.
    if !ignoresCase, text != ".", text.unicodeScalars.count == 1, let scalar = text.unicodeScalars.first {
      return .scalar(scalar)
    }
    return .library(try regex(text, ignoresCase: ignoresCase))
  }

  private static func checkSize(of pattern: String) throws(Fault) {
    guard pattern.utf8.count <= longestPattern else {
      throw Fault(message: "It has more than \(longestPattern) bytes.")
    }
    let brackets = pattern.utf8.count { $0 == UInt8(ascii: "(") || $0 == UInt8(ascii: "[") }
    guard brackets <= mostBrackets else { throw Fault(message: "It has more than \(mostBrackets) opening brackets.") }
  }

  /// Returns whether the whole text matches.
  package func matches(_ text: String) -> Bool {
    matcher.withLock { matcher in
      switch matcher {
      case .automaton(let automaton, let atoms): automaton.matches(text, atoms.matches)
      // try?: only matchers written in Swift throw, and a pattern that was text has none.
      case .library(let regex): (try? regex.wholeMatch(in: text)) != nil
      }
    }
  }
}

/// A part of a pattern that takes one scalar.
private enum PatternAtom {
  case scalar(Unicode.Scalar)
  case library(Regex<AnyRegexOutput>)
}

/// The scalars that atoms of a pattern match, according to the library. Each scalar is looked up once.
private final class PatternAtoms {
  private let atoms: [PatternAtom]
  private var known: [[Unicode.Scalar: Bool]]

  /// The number of cached answers for each atom.
  private static let mostKnown = 4_096

  init(_ atoms: [PatternAtom]) {
    self.atoms = atoms
    known = Array(repeating: [:], count: atoms.count)
  }

  func matches(_ atom: Int, _ scalar: Unicode.Scalar) -> Bool {
    switch atoms[atom] {
    case .scalar(let own): return own == scalar
    case .library(let regex):
      if let answer = known[atom][scalar] { return answer }
      // try?: only matchers written in Swift throw.
      let answer = (try? regex.wholeMatch(in: String(scalar))) != nil
      if known[atom].count >= Self.mostKnown { known[atom].removeAll() }
      known[atom][scalar] = answer
      return answer
    }
  }
}
