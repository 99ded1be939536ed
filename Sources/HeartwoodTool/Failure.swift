import ArgumentParser
import HeartwoodRecordText
import HeartwoodModelFiles
import HeartwoodFoundation
import HeartwoodStore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Ends the process after an error, with a message and an exit status.
struct Failure {
  private let error: any Error

  init(_ error: any Error) {
    self.error = error
  }

  /// Ends the process. The status is 0 if the reader of the output has closed it, 64 if the arguments are wrong, and 1
  /// for all other errors.
  func exit() -> Never {
    if error is StandardOutput.Closed { quit(EXIT_SUCCESS) }
    let code = HeartwoodCommand.exitCode(for: error)
    if error is ExitCode { quit(code.rawValue) }
    if code.isSuccess { show(HeartwoodCommand.fullMessage(for: error)) }
    guard code == .failure else { quit(code.rawValue, saying: usageMessage) }
    quit(EXIT_FAILURE, saying: "heartwood: error: \(Wording().text(error))")
  }

  /// The message for wrong arguments. The parser quotes arguments unescaped and does not expose them, so arguments that
  /// contain line breaks are replaced in its text.
  private var usageMessage: String {
    advised(
      CommandLine.arguments.dropFirst().filter { $0.contains("\n") && $0.contains { !$0.isWhitespace } }
        .reduce(HeartwoodCommand.fullMessage(for: error)) { $0.replacing($1, with: DisplayText.safe($1)) }
    )
  }

  /// Adds what to do if there is an argument too many. The parser does not expose that error either.
  private func advised(_ message: String) -> String {
    guard message.hasPrefix("Error: Unexpected argument"), let end = message.firstIndex(of: "\n") else {
      return message
    }
    return message[..<end] + ". A name or a condition with spaces needs quotation marks around it." + message[end...]
  }

  /// Prints a help text or the version on standard output, and ends the process.
  private func show(_ text: String) -> Never {
    do {
      try StandardOutput.write(text + "\n")
      quit(EXIT_SUCCESS)
    } catch {
      Failure(error).exit()
    }
  }

  /// Ends the process with a message, which may have several lines. Control characters in names of files and records
  /// are escaped.
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

/// An error of the tool itself, in words for the user: what is wrong, and what to do.
struct ToolError: Error, CustomStringConvertible {
  /// The path of the file in question.
  private let path: String?
  private let message: String

  init(at path: String? = nil, _ message: String) {
    self.path = path
    self.message = message
  }

  var description: String { text { $0 } }

  /// Returns the text, with the path replaced by the result of `name`.
  func text(path name: (String) -> String) -> String { (path.map { "\(name($0)): " } ?? "") + message }
}

// MARK: CocoaError: explanation

extension CocoaError {
  /// Returns a description for the user, with the file.
  ///
  /// - Parameter shown: returns the name by which the user has given a path.
  func explanation(_ shown: (String) -> String) -> String {
    let file = userInfo["NSFilePath"] as? String ?? (userInfo["NSURL"] as? URL)?.path
    let path = file.map { "\(shown($0)): " } ?? ""
    guard let words = SystemReason.words(of: self) else {
      return "\(path)The file cannot be read or written (error \(code.rawValue))."
    }
    return "\(path)\(words)."
  }
}

// MARK: GivenPaths

/// The paths in the arguments. Messages show paths as the user has written them, on one line.
struct GivenPaths {
  /// The paths that the framework may report, and the arguments that they stand for.
  private let names: [(path: String, name: String)]

  /// Creates the paths.
  ///
  /// - Parameters:
  ///   - arguments: the arguments of the tool, without its own name.
  ///   - folder: the working directory.
  init(
    _ arguments: [String] = Array(CommandLine.arguments.dropFirst()),
    in folder: String = FileManager.default.currentDirectoryPath
  ) {
    let given = arguments.map(Self.value).filter { !$0.isEmpty && $0 != "-" }
    // An error may contain only the folder of a file.
    let folders = given.filter { $0.contains("/") }.map { PathParts.split($0).directory }
    // The longest paths come first, so that a file in a given folder, which is also given, is shown by its own name.
    names = (given + folders).flatMap { name in Self.paths(of: name, in: folder).map { (path: $0, name: name) } }
      .sorted { $0.path.utf8.count > $1.path.utf8.count }
  }

  /// Returns a path as the user has written it, on one line.
  func shown(path: String) -> String {
    let shown = names.lazy.compactMap { Self.replacing($0.path, with: $0.name, in: path) }.first
    return DisplayText.safe(shown ?? path)
  }

  /// Returns `path` with `known` replaced by `name`; nil if it is neither that file nor within that folder.
  private static func replacing(_ known: String, with name: String, in path: String) -> String? {
    if path == known { return name }
    let folder = known.hasSuffix("/") ? known : known + "/"
    guard path.hasPrefix(folder) else { return nil }
    return PathParts.join(name, String(path.dropFirst(folder.count)))
  }

  /// Returns the value of an option, or the argument itself.
  private static func value(_ argument: String) -> String {
    guard argument.hasPrefix("--") else { return argument }
    return String(argument.drop { $0 != "=" }.dropFirst())
  }

  /// Returns the absolute paths that the framework may report for an argument, if the argument is not absolute itself.
  private static func paths(of name: String, in folder: String) -> Set<String> {
    let path = name.hasPrefix("/") ? name : PathParts.join(folder, name)
    let paths: Set = [path, normalized(path), URL(argument: name).path]
    return paths.filter { $0 != name && $0 != "/" && $0.hasPrefix("/") }
  }

  /// Returns the path without `.` and `..`.
  private static func normalized(_ path: String) -> String {
    let parts = path.split(separator: "/").reduce(into: [Substring]()) { parts, part in
      switch part {
      case ".": break
      case "..": _ = parts.popLast()
      default: parts.append(part)
      }
    }
    return "/" + parts.joined(separator: "/")
  }
}
