/// Stops a program that uses the library as no error could put right, and says what to do.
///
/// `precondition` says nothing in an optimized build, where the mistake may show itself first.
package enum Misuse {
  /// Goes on where `isRight`. The message is only made where it is needed.
  @inlinable @inline(__always)
  package static func check(
    _ isRight: Bool,
    _ message: @autoclosure () -> String,
    file: StaticString = #fileID,
    line: UInt = #line
  ) {
    if !isRight { stop(message(), file: file, line: line) }
  }

  /// Prints `message`, and ends the process.
  @inline(never)
  @usableFromInline
  package static func stop(_ message: String, file: StaticString = #fileID, line: UInt = #line) -> Never {
    fatalError(message, file: file, line: line)
  }
}
