public import HeartwoodFoundation

/// Why a predicate cannot be used, and at which place.
public struct FetchPredicateError: Error, Sendable, Hashable {
  /// What kind of mistake it is.
  public enum Kind: Sendable, Hashable {
    /// The format string does not keep to the language.
    case syntax
    /// The arguments do not fit the format string.
    case argument
    /// The entity has no such property.
    case unknownKey
    /// A value is of a type that an operator or a function does not take.
    case typeMismatch
    /// A collection stands where one value is needed.
    case collection
    /// A variable has no value.
    case unboundVariable
    /// It is meant to work, but not here.
    case unsupported
    /// The predicate is nested too deeply: what is read may have 64 levels.
    case tooComplex
  }

  /// What kind of mistake it is.
  public let kind: Kind
  /// What is wrong, without the place, in whole sentences. It may say what to do as well.
  public let problem: String
  /// What to do, in whole sentences; nil if the problem says all.
  public let recovery: String?
  /// The format string, or the predicate as one, in which strings and dates are left out.
  public let text: String
  /// The place in ``text``, in UTF-8 code units.
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
  /// What is wrong, without the place.
  public var errorDescription: String? { problem }
  /// What to do.
  public var recoverySuggestion: String? { recovery }
}

extension FetchPredicateError: CustomStringConvertible {
  /// What is wrong and what to do, without the place.
  public var message: String { [problem, recovery].compactMap(\.self).joined(separator: " ") }

  /// Three lines: the message, the line of the text, and a caret under the place.
  public var description: String { text(recovery: recovery) }

  /// The ``description`` with other words for what to do, such as those of a tool that has no arguments for predicates.
  public func text(recovery: String?) -> String {
    let (line, indent, length) = excerpt
    let marks = String(repeating: "~", count: max(0, length - 1))
    let message = [problem, recovery].compactMap(\.self).joined(separator: " ")
    return "\(message)\n  \(line)\n  \(String(repeating: " ", count: indent))^\(marks)"
  }

  /// As much of the text around the place as fits a line, how many cells of a terminal precede the place there, and how many it has.
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

  /// How many characters are shown on each side.
  private static let context = 60

  /// The text in one line, so that a caret can stand below it: what moves the cursor, or commands the terminal, becomes a space.
  private static func line(_ bytes: some Sequence<UInt8>) -> String {
    String(String(decoding: Array(bytes), as: UTF8.self).map { $0.isNewline || isControl($0) ? " " : $0 })
  }

  private static func isControl(_ character: Character) -> Bool {
    character.unicodeScalars.contains { $0.properties.generalCategory == .control }
  }
}
