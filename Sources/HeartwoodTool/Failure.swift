import ArgumentParser
import HeartwoodFormats
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// How the tool ends where a command throws: what it says and with which status.
struct Failure {
  private let error: any Error

  init(_ error: any Error) {
    self.error = error
  }

  /// 0 where the reader of the output has seen enough and nothing is to be found, 64 where the arguments are wrong, else 1.
  func exit() -> Never {
    if error is StandardOutput.Closed { quit(EXIT_SUCCESS) }
    let code = HeartwoodCommand.exitCode(for: error)
    if error is ExitCode { quit(code.rawValue) }
    if code.isSuccess { show(HeartwoodCommand.fullMessage(for: error)) }
    guard code == .failure else { quit(code.rawValue, saying: usageMessage) }
    quit(EXIT_FAILURE, saying: "heartwood: error: \(Wording().text(error))")
  }

  /// What is wrong with the arguments. The parser quotes them as they are and has no field for them, so those that would break a line are found
  /// in its text.
  private var usageMessage: String {
    CommandLine.arguments.dropFirst().filter { $0.contains("\n") && $0.contains { !$0.isWhitespace } }
      .reduce(HeartwoodCommand.fullMessage(for: error)) { $0.replacing($1, with: DisplayText.safe($1)) }
  }

  /// Ends with a help text, or the version, on the standard output.
  private func show(_ text: String) -> Never {
    do {
      try StandardOutput.write(text + "\n")
      quit(EXIT_SUCCESS)
    } catch {
      Failure(error).exit()
    }
  }

  /// Names of files and of records command no terminal. A message may have several lines.
  private func quit(_ status: Int32, saying text: String) -> Never {
    StandardError.write(DisplayText.safe(text, keepsLines: true) + "\n")
    quit(status)
  }

  private func quit(_ status: Int32) -> Never {
    #if canImport(Glibc)
      Glibc.exit(status)
    #elseif canImport(Musl)
      Musl.exit(status)
    #else
      Darwin.exit(status)
    #endif
  }
}

/// Something that the tool itself refuses, in words for the user: what is wrong and what to do.
struct ToolError: Error, CustomStringConvertible {
  /// The file that it is about.
  private let path: String?
  private let message: String

  init(at path: String? = nil, _ message: String) {
    self.path = path
    self.message = message
  }

  var description: String { text { $0 } }

  /// The words, in which the file is called as `name` says.
  func text(path name: (String) -> String) -> String { (path.map { "\(name($0)): " } ?? "") + message }
}
