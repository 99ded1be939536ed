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

// MARK: CocoaError: explanation

extension CocoaError {
  /// What happened to which file, in words for the user.
  ///
  /// - Parameter shown: what the user calls a file of that path.
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

/// The files that the arguments name: a message calls each as the user has, and a name breaks no line of it.
struct GivenPaths {
  /// The paths by which the library may know a file, and what the user calls it.
  private let names: [(path: String, name: String)]

  /// - Parameters:
  ///   - arguments: those of the tool, without its own name.
  ///   - folder: the working directory.
  init(
    _ arguments: [String] = Array(CommandLine.arguments.dropFirst()),
    in folder: String = FileManager.default.currentDirectoryPath
  ) {
    let given = arguments.map(Self.value).filter { !$0.isEmpty && $0 != "-" }
    // An error may name the folder of a file, too.
    let folders = given.filter { $0.contains("/") }.map { PathParts.split($0).directory }
    // The longest first: a folder's name is not to be put into that of a file in it which is an argument too.
    names = (given + folders).flatMap { name in Self.paths(of: name, in: folder).map { (path: $0, name: name) } }
      .sorted { $0.path.utf8.count > $1.path.utf8.count }
  }

  /// A path, as the user has given it or its folder, on one line.
  func shown(path: String) -> String {
    let shown = names.lazy.compactMap { Self.replacing($0.path, with: $0.name, in: path) }.first
    return DisplayText.safe(shown ?? path)
  }

  /// What the user calls `path`, who calls `known` so; nil if it is neither that file nor in that folder.
  private static func replacing(_ known: String, with name: String, in path: String) -> String? {
    if path == known { return name }
    let folder = known.hasSuffix("/") ? known : known + "/"
    guard path.hasPrefix(folder) else { return nil }
    return PathParts.join(name, String(path.dropFirst(folder.count)))
  }

  /// What stands behind the name of an option, or the argument itself.
  private static func value(_ argument: String) -> String {
    guard argument.hasPrefix("--") else { return argument }
    return String(argument.drop { $0 != "=" }.dropFirst())
  }

  /// The absolute paths by which the library may know a file, if the user has not given that.
  private static func paths(of name: String, in folder: String) -> Set<String> {
    let path = name.hasPrefix("/") ? name : PathParts.join(folder, name)
    let paths: Set = [path, normalized(path), URL(argument: name).path]
    return paths.filter { $0 != name && $0 != "/" && $0.hasPrefix("/") }
  }

  /// The path without steps that lead nowhere, or back.
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
