/// How a store fails a conformance case: what was expected, and what was found instead.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
  /// The whole story, for a person.
  public let message: String

  init(_ message: String) {
    self.message = message
  }

  /// The message.
  public var description: String { message }
}
