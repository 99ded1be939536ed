/// Stops the process after a mistake in the program that an error could not report usefully, and says how to correct
/// it.
///
/// `precondition` prints no message in an optimized build, in which the mistake may show first.
package enum ProgrammerError {
  /// Stops the process with a message unless `isRight` is true. The message is only evaluated in that case.
  @inlinable @inline(__always)
  package static func check(
    _ isRight: Bool,
    _ message: @autoclosure () -> String,
    file: StaticString = #fileID,
    line: UInt = #line
  ) {
    if !isRight { stop(message(), file: file, line: line) }
  }

  /// Prints `message` and ends the process.
  @inline(never)
  @usableFromInline
  package static func stop(_ message: String, file: StaticString = #fileID, line: UInt = #line) -> Never {
    fatalError(message, file: file, line: line)
  }
}
