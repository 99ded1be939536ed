import Dispatch
import HeartwoodRecordText
import HeartwoodStore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Standard output, for results.
enum StandardOutput {
  /// The error if the reader has closed the pipe.
  struct Closed: Error {}

  /// Makes writes to a closed pipe, or beyond the file size limit, throw errors instead of ending the process with a
  /// signal.
  static func prepare() {
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
  }

  static func write(_ text: String) throws {
    var text = text
    try text.withUTF8 { try write(UnsafeRawBufferPointer($0)) }
  }

  static func write(_ bytes: ByteSlice) throws {
    try write(bytes.unsafeBytes)
  }

  /// Writes text with unescaped values. On a terminal, control characters are escaped.
  static func writeSafely(_ text: String) throws {
    try write(Terminal.standardOutput.exists ? DisplayText.safe(text, keepsLines: true) : text)
  }

  /// Writes whole lines with unescaped values. On a terminal, control characters are escaped.
  static func writeSafely(_ bytes: ByteSlice) throws {
    guard Terminal.standardOutput.exists else { return try write(bytes) }
    try writeSafely(String(decoding: bytes.unsafeBytes, as: UTF8.self))
  }

  /// Writes a report of completed work. If it cannot be written, the error says that the work is complete.
  ///
  /// - Parameters:
  ///   - outcome: what has happened to the file, without a period.
  ///   - path: the file.
  static func report(_ text: String, of outcome: String, at path: String) throws {
    do {
      try write(text)
    } catch let error as ToolError {
      throw ToolError(at: path, "\(outcome); only the report of it is missing. \(error)")
    }
  }

  /// Calls `body`, and returns normally if the reader closes the pipe, so that the exit status is still correct.
  static func untilClosed(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch is Closed {}
  }

  private static func write(_ bytes: UnsafeRawBufferPointer) throws {
    guard let failure = Descriptor.write(bytes, to: STDOUT_FILENO) else { return }
    if failure == EPIPE { throw Closed() }
    throw ToolError("The output cannot be written: \(String(cString: strerror(failure))).")
  }
}

/// Standard error, for progress, notes and errors. Errors of writing to it are ignored, so that the work continues.
enum StandardError {
  /// Returns a line with information for the user that is not an error. Control characters are escaped.
  static func note(_ text: String) -> String { "heartwood: note: \(DisplayText.safe(text))\n" }

  static func write(_ text: String) {
    var text = text
    _ = text.withUTF8 { Descriptor.write(UnsafeRawBufferPointer($0), to: STDERR_FILENO) }
  }
}

private enum Descriptor {
  /// Writes all of `bytes`. Returns the system's error number if it fails, and nil otherwise.
  static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32? {
    var rest = bytes[...]
    while !rest.isEmpty {
      let chunk = UnsafeRawBufferPointer(rebasing: rest)
      #if canImport(Glibc)
        let count = Glibc.write(descriptor, chunk.baseAddress, chunk.count)
      #elseif canImport(Musl)
        let count = Musl.write(descriptor, chunk.baseAddress, chunk.count)
      #else
        let count = Darwin.write(descriptor, chunk.baseAddress, chunk.count)
      #endif
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return errno }
      rest = rest.dropFirst(count)
    }
    return nil
  }
}

// MARK: Terminal

/// The terminal of a file descriptor.
struct Terminal {
  static let standardOutput = Terminal(descriptor: STDOUT_FILENO)
  static let standardError = Terminal(descriptor: STDERR_FILENO)

  private static let defaultWidth = 80
  private let descriptor: Int32

  /// Whether there is a terminal, and not a file or a pipe.
  var exists: Bool { isatty(descriptor) == 1 }

  /// The width of the terminal in characters; nil if there is no terminal.
  var width: Int? {
    guard exists else { return nil }
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return Self.defaultWidth }
    return Int(size.ws_col)
  }
}

// MARK: Interruption

/// Calls a function before a signal of the user ends the process.
final class Interruption {
  private let sources: [(signal: Int32, source: any DispatchSourceSignal)]

  /// - Parameter cleanUp: is called on another thread, while the work continues.
  init(_ cleanUp: @escaping @Sendable () -> Void) {
    sources = [SIGHUP, SIGINT, SIGTERM].compactMap { number in
      // A process that was started with the signal ignored, for example by nohup, is to continue.
      guard signal(number, SIG_IGN) == nil else { return nil }
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        cleanUp()
        signal(number, SIG_DFL)
        kill(getpid(), number)
      }
      source.activate()
      return (number, source)
    }
  }

  /// Restores the default behaviour, so that signals end the process at once.
  func end() {
    for (number, source) in sources {
      source.cancel()
      signal(number, SIG_DFL)
    }
  }
}
