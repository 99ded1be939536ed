import HeartwoodFormats
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

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
