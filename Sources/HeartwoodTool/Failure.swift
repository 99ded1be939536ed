import ArgumentParser
import HeartwoodFormats

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
    if error is ExitCode || code.isSuccess { HeartwoodCommand.exit(withError: error) }
    guard code == .failure else { quit(code.rawValue, saying: HeartwoodCommand.fullMessage(for: error)) }
    let text = (error as? CocoaError)?.explanation ?? Wording.text(error)
    quit(EXIT_FAILURE, saying: "heartwood: error: \(text)")
  }

  /// Names of files and of records command no terminal; a message may have several lines.
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
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
