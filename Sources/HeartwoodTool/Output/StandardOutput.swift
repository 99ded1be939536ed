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

/// Where results go.
enum StandardOutput {
  /// The reader has closed the pipe: it has seen enough.
  struct Closed: Error {}

  /// Makes a closed pipe, and a file that has become as long as the system lets it, an error of the write instead of a signal.
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

  /// Writes text in which records stand as they are: to a terminal so that they do not command it, elsewhere byte for byte.
  static func writeSafely(_ text: String) throws {
    try write(Terminal.standardOutput.exists ? DisplayText.safe(text, keepsLines: true) : text)
  }

  /// Writes such text that is whole lines.
  static func writeSafely(_ bytes: ByteSlice) throws {
    guard Terminal.standardOutput.exists else { return try write(bytes) }
    try writeSafely(String(decoding: bytes.unsafeBytes, as: UTF8.self))
  }

  /// Writes a report of what has been done, and where it cannot be written says that it has been done all the same.
  ///
  /// - Parameters:
  ///   - outcome: what has become of the file, without a point.
  ///   - path: the file.
  static func report(_ text: String, of outcome: String, at path: String) throws {
    do {
      try write(text)
    } catch let error as ToolError {
      throw ToolError(at: path, "\(outcome); only the report of it is missing. \(error)")
    }
  }

  /// Does `body` until it is done or the reader has seen enough, for what is to be said then all the same: the status.
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

/// Where progress, notes and errors go. Who does not read them does not keep the work from being done.
enum StandardError {
  /// A line that tells of something that the user should know, though nothing has failed. What it names commands no terminal.
  static func note(_ text: String) -> String { "heartwood: note: \(DisplayText.safe(text))\n" }

  static func write(_ text: String) {
    var text = text
    _ = text.withUTF8 { Descriptor.write(UnsafeRawBufferPointer($0), to: STDERR_FILENO) }
  }
}

private enum Descriptor {
  /// Writes all of `bytes`, or returns the number of the system's error.
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

/// What is known of the terminal behind a file descriptor.
struct Terminal {
  static let standardOutput = Terminal(descriptor: STDOUT_FILENO)
  static let standardError = Terminal(descriptor: STDERR_FILENO)

  private static let defaultWidth = 80
  private let descriptor: Int32

  /// Whether there is a terminal at all, and not a file or a pipe.
  var exists: Bool { isatty(descriptor) == 1 }

  /// How many characters a line has; nil where there is no terminal.
  var width: Int? {
    guard exists else { return nil }
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return Self.defaultWidth }
    return Int(size.ws_col)
  }
}

// MARK: Interruption

/// Does something before a signal by which a user ends the process ends it.
final class Interruption {
  private let sources: [(signal: Int32, source: any DispatchSourceSignal)]

  /// - Parameter cleanUp: called on a thread of its own, while the work goes on.
  init(_ cleanUp: @escaping @Sendable () -> Void) {
    sources = [SIGHUP, SIGINT, SIGTERM].compactMap { number in
      // Who starts the process with a signal ignored, as nohup does, wants it to go on.
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

  /// Lets signals end the process at once again.
  func end() {
    for (number, source) in sources {
      source.cancel()
      signal(number, SIG_DFL)
    }
  }
}
