extension PersistenceError {
  /// `error` itself where it is one of ours, or else an error that has it as its cause.
  package static func of(
    _ error: any Error,
    _ code: Code,
    _ message: @autoclosure () -> String,
    context: @autoclosure () -> Context = Context()
  ) -> PersistenceError {
    error as? PersistenceError ?? PersistenceError(code, message(), context: context(), underlyingError: error)
  }
}
