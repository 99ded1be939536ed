#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

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
