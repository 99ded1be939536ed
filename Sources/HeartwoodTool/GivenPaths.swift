import HeartwoodFormats
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The files that the arguments name, for messages about them: a message calls each as the user has, and a name breaks no line of it.
struct GivenPaths {
  /// What a message may call a file, and what the user calls it.
  private let names: [(path: String, name: String)]
  /// Names with ends of lines in them.
  private let broken: [String]

  /// - Parameters:
  ///   - arguments: those of the tool, without its own name.
  ///   - folder: the working directory.
  init(
    _ arguments: [String] = Array(CommandLine.arguments.dropFirst()),
    in folder: String = FileManager.default.currentDirectoryPath
  ) {
    let given = arguments.map(Self.value).filter { !$0.isEmpty && $0 != "-" }
    // A message may name the folder of a file, too.
    let folders = given.filter { $0.contains("/") }.map { PathParts.split($0).directory }
    // The longest first: a folder's name is not to be put into that of a file in it which is an argument too.
    names = (given + folders).flatMap { name in Self.paths(of: name, in: folder).map { (path: $0, name: name) } }
      .sorted { $0.path.utf8.count > $1.path.utf8.count }
    broken = (given + folders + given.map { PathParts.split($0).name }).filter(Self.isBroken)
  }

  /// The message for the user.
  func shown(in message: String) -> String {
    let named = names.reduce(message) { Self.replacing($1.path, with: $1.name, in: $0) }
    return broken.reduce(named) { text, name in text.replacing(name, with: Self.onOneLine(name)) }
  }

  /// A path, as the user has given it, on one line.
  func shown(path: String) -> String { Self.onOneLine(shown(in: path)) }

  private static func onOneLine(_ name: String) -> String { DisplayText.safe(name) }

  /// Whether a name has the end of a line in it, and something else.
  private static func isBroken(_ name: String) -> Bool {
    name.unicodeScalars.contains("\n") && name.contains { !$0.isWhitespace }
  }

  /// What stands behind the name of an option, or the argument itself.
  private static func value(_ argument: String) -> String {
    guard argument.hasPrefix("--") else { return argument }
    return String(argument.drop { $0 != "=" }.dropFirst())
  }

  /// The absolute paths by which the library may know a file, where the user has not given that.
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

// MARK: In a text

extension GivenPaths {
  /// The text, with `name` for each place where it has `path`, or a path that begins with it.
  private static func replacing(_ path: String, with name: String, in text: String) -> String {
    var shown = ""
    var rest = text[...]
    while let range = rest.firstRange(of: path) {
      let isPath = isBeforePath(text[..<range.lowerBound]) && isBehindPath(text[range.upperBound...])
      shown += String(rest[..<range.lowerBound])
      shown += isPath ? name : path
      rest = rest[range.upperBound...]
    }
    return shown + String(rest)
  }

  private static func isBeforePath(_ text: Substring) -> Bool {
    text.last.map { $0.isWhitespace || "“\"'([=:".contains($0) } ?? true
  }

  private static func isBehindPath(_ text: Substring) -> Bool {
    guard let first = text.first else { return true }
    // A point is the end of a sentence, or of a name the beginning of its extension.
    if first == "." { return text.dropFirst().first?.isWhitespace ?? true }
    return first.isWhitespace || "/:,;”\"')]".contains(first)
  }
}
