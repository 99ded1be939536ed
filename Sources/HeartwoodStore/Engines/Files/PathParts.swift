/// Taking paths apart and putting them together.
package enum PathParts {
  /// The directory and the last component of `path`; a path without a slash is in the working directory.
  package static func split(_ path: String) -> (directory: String, name: String) {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
    let directory = path[..<slash]
    return (directory.isEmpty ? "/" : String(directory), String(path[path.utf8.index(after: slash)...]))
  }

  /// `name` in `directory`.
  package static func join(_ directory: String, _ name: String) -> String {
    directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)"
  }

  /// The extension of the last component, without the dot and in lower case; empty where there is none.
  package static func fileExtension(_ path: String) -> String {
    let name = split(path).name
    guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex else { return "" }
    return name[name.utf8.index(after: dot)...].lowercased()
  }
}
