extension PersistenceError {
  /// `error` itself if it is one of ours, or else an error that has it as its cause.
  package static func of(
    _ error: any Error,
    _ code: Code,
    _ problem: @autoclosure () -> String,
    recovery: @autoclosure () -> Recovery? = nil,
    context: @autoclosure () -> Context = Context()
  ) -> PersistenceError {
    error as? PersistenceError
      ?? PersistenceError(code, problem(), recovery: recovery(), context: context(), underlyingError: error)
  }
}
