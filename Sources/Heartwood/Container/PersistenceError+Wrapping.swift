import HeartwoodStore

extension PersistenceError {
  /// `error` itself where it is one of ours, or else an error that has it as its cause.
  static func of(
    _ error: any Error,
    _ code: Code,
    _ message: @autoclosure () -> String,
    path: String? = nil
  ) -> PersistenceError {
    error as? PersistenceError
      ?? PersistenceError(code, message(), context: .init(path: path), underlyingError: error)
  }
}
