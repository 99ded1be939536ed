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
  private let paths = GivenPaths()

  init(_ error: any Error) {
    self.error = error
  }

  /// 0 where the reader of the output has seen enough and nothing is to be found, 64 where the arguments are wrong, else 1.
  func exit() -> Never {
    if error is StandardOutput.Closed { quit(EXIT_SUCCESS) }
    let code = HeartwoodCommand.exitCode(for: error)
    if error is ExitCode { quit(code.rawValue) }
    if code.isSuccess { show(HeartwoodCommand.fullMessage(for: error)) }
    guard code == .failure else { quit(code.rawValue, saying: HeartwoodCommand.fullMessage(for: error)) }
    quit(EXIT_FAILURE, saying: "heartwood: error: \(text)")
  }

  /// The error in words. What it says where it happened is on one line.
  private var text: String {
    if let error = error as? CocoaError { return error.explanation(paths.shown(path:)) }
    guard var located = error as? PersistenceError else { return Wording.text(error) }
    located.context.path = located.context.path.map(paths.shown(path:))
    return Wording.text(located)
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

  /// Names of files and of records command no terminal; a message may have several lines, but a name of a file that the user gives has one.
  private func quit(_ status: Int32, saying text: String) -> Never {
    StandardError.write(DisplayText.safe(paths.shown(in: text), keepsLines: true) + "\n")
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
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
