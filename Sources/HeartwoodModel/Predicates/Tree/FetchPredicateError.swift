public import HeartwoodFoundation

/// Why a predicate or an expression cannot be used, with the place of the mistake in its text.
///
///     do {
///       _ = try FetchPredicate(format: "title CONTAINS %@ AND", "milk")
///     } catch {
///       print(error)  // the message, the line of the text, and a caret under the place
///     }
public struct FetchPredicateError: Error, Sendable, Hashable {
  /// The kind of a mistake.
  public enum Kind: Sendable, Hashable {
    /// The format string has a syntax error.
    case syntax
    /// The arguments do not fit the format string.
    case argument
    /// The entity has no such property.
    case unknownKey
    /// The type of a value does not fit an operator or a function.
    case typeMismatch
    /// A collection is used as one value.
    case collection
    /// A variable has no value.
    case unboundVariable
    /// The predicate is valid, but not supported in this place.
    case unsupported
    /// The predicate has too many levels: at most 64 can be read.
    case tooComplex
  }

  /// The kind of the mistake.
  public let kind: Kind
  /// The problem, without the place, in whole sentences. They may include what to do.
  public let problem: String
  /// What to do, in whole sentences; nil if ``problem`` says it.
  public let recovery: String?
  /// The format string, or the predicate in that form without its strings and dates.
  public let text: String
  /// The place of the mistake in ``text``, in UTF-8 code units.
  public let place: Range<Int>

  init(_ kind: Kind, _ problem: String, recovery: String? = nil, in text: String, at place: Range<Int>) {
    self.kind = kind
    self.problem = problem
    self.recovery = recovery
    self.text = text
    self.place = place
  }
}

extension FetchPredicateError: LocalizedError {
  /// The problem, without the place.
  public var errorDescription: String? { problem }
  /// What to do.
  public var recoverySuggestion: String? { recovery }
}

extension FetchPredicateError: CustomStringConvertible {
  /// The problem and what to do, without the place.
  public var message: String { [problem, recovery].compactMap(\.self).joined(separator: " ") }

  /// Three lines: the message, the line of the text, and a caret under the place.
  public var description: String { text(recovery: recovery) }

  /// Returns the ``description`` with another text for what to do, such as that of a tool without arguments for
  /// predicates.
  public func text(recovery: String?) -> String {
    let (line, indent, length) = excerpt
    let marks = String(repeating: "~", count: max(0, length - 1))
    let message = [problem, recovery].compactMap(\.self).joined(separator: " ")
    return "\(message)\n  \(line)\n  \(String(repeating: " ", count: indent))^\(marks)"
  }

  /// The part of the text around the place that fits a line, the width of what precedes the place, and the width of the
  /// place, in terminal cells.
  private var excerpt: (line: String, indent: Int, length: Int) {
    let before = Self.line(text.utf8.prefix(place.lowerBound))
    let within = Self.line(text.utf8.dropFirst(place.lowerBound).prefix(place.count))
    let after = Self.line(text.utf8.dropFirst(place.upperBound))
    let shownBefore = before.count > Self.context ? "…" + before.suffix(Self.context) : before
    let shownWithin = String(within.prefix(Self.context))
    let shownAfter = after.count > Self.context ? after.prefix(Self.context) + "…" : after
    let indent = TerminalWidth.of(shownBefore)
    return (shownBefore + shownWithin + shownAfter, indent, TerminalWidth.of(shownWithin))
  }

  /// The number of characters that are shown on each side.
  private static let context = 60

  /// Returns the text in one line, so that a caret can be printed below it: characters that move the cursor or control
  /// the terminal become spaces.
  private static func line(_ bytes: some Sequence<UInt8>) -> String {
    String(String(decoding: Array(bytes), as: UTF8.self).map { $0.isNewline || isControl($0) ? " " : $0 })
  }

  private static func isControl(_ character: Character) -> Bool {
    character.unicodeScalars.contains { $0.properties.generalCategory == .control }
  }
}
