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
    if error is ExitCode || HeartwoodCommand.exitCode(for: error) != .failure {
      HeartwoodCommand.exit(withError: error)
    }
    let text = (error as? CocoaError)?.explanation ?? Wording.text(error)
    // Names of files and of records command no terminal; a message may have several lines.
    StandardError.write("heartwood: error: \(DisplayText.safe(text, keepsLines: true))\n")
    quit(EXIT_FAILURE)
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
