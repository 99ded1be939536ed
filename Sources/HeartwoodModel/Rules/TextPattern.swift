import Synchronization

/// A regular expression that has been compiled, for any thread to match with.
package final class TextPattern: Sendable {
  /// Why a pattern cannot be used, as a sentence.
  package struct Fault: Error {
    let message: String
  }

  /// Patterns come from files, and the compiler of regular expressions goes as deep into itself as they are nested or long.
  private static let longestPattern = 1_000
  private static let mostBrackets = 50

  /// A `Regex` is not Sendable, so that one thread at a time may match.
  private let regex: Mutex<Regex<AnyRegexOutput>>

  package init(_ pattern: String, ignoresCase: Bool = false) throws(Fault) {
    try Self.checkSize(of: pattern)
    do {
      self.regex = Mutex(try Regex(pattern).matchingSemantics(.unicodeScalar).ignoresCase(ignoresCase))
    } catch {
      throw Fault(message: "It cannot be read as a regular expression: \(error).")
    }
  }

  private static func checkSize(of pattern: String) throws(Fault) {
    guard pattern.utf8.count <= longestPattern else {
      throw Fault(message: "It has more than \(longestPattern) bytes.")
    }
    let brackets = pattern.utf8.count { $0 == UInt8(ascii: "(") || $0 == UInt8(ascii: "[") }
    guard brackets <= mostBrackets else { throw Fault(message: "It has more than \(mostBrackets) opening brackets.") }
  }

  /// Whether all of `text` matches.
  package func matches(_ text: String) -> Bool {
    // Only matchers written in Swift throw, and a pattern that was text has none.
    regex.withLock { (try? $0.wholeMatch(in: text)) != nil }
  }
}
