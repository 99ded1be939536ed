/// The names in an in-memory file system: which file or link stands at which path.
struct InMemoryNames: Sendable {
  enum Entry: Sendable {
    case file(InMemoryFile)
    case link(String)
  }

  /// As many links as a system follows.
  private static let linkLimit = 40
  /// By absolute path, without empty components, `.` or `..`.
  private var entries: [String: Entry] = [:]

  var paths: [String] { entries.keys.sorted() }

  subscript(path: String) -> Entry? { entries[path] }

  mutating func set(_ entry: Entry, at path: String) {
    entries[path] = entry
  }

  mutating func remove(_ path: String) {
    entries[path] = nil
  }

  /// Whether `path` is a folder of some file, or the root.
  func hasFolder(_ path: String) -> Bool {
    let prefix = path.hasSuffix("/") ? path : path + "/"
    return path == "/" || entries.keys.contains { $0.hasPrefix(prefix) }
  }

  /// The file at `path`, after following links.
  func file(at path: String) throws(PersistenceError) -> InMemoryFile? {
    guard case .file(let file) = entries[try resolved(path)] else { return nil }
    return file
  }

  /// The path of `file`, or nil where it has none.
  func path(of file: InMemoryFile) -> String? {
    paths.first { path in
      if case .file(let other) = entries[path] { other === file } else { false }
    }
  }

  /// `path` as an absolute path, with every link followed.
  func resolved(_ path: String) throws(PersistenceError) -> String {
    var pending = Array(path.split(separator: "/").reversed())
    var resolved: [Substring] = []
    var linksLeft = Self.linkLimit
    while let component = pending.popLast() {
      if component == "." { continue }
      if component == ".." {
        _ = resolved.popLast()
        continue
      }
      resolved.append(component)
      guard case .link(let destination) = entries[Self.path(resolved)] else { continue }
      guard linksLeft > 0 else {
        throw PersistenceError(.fileReadFailed, "Too many symbolic links.", context: .init(path: path))
      }
      linksLeft -= 1
      if destination.hasPrefix("/") { resolved = [] } else { resolved.removeLast() }
      pending += destination.split(separator: "/").reversed()
    }
    return Self.path(resolved)
  }

  /// `path` with every link followed but a last one.
  func resolvedFolder(of path: String) throws(PersistenceError) -> String {
    let (folder, name) = PathParts.split(path)
    return PathParts.join(try resolved(folder), name)
  }

  private static func path(_ components: [Substring]) -> String {
    "/" + components.joined(separator: "/")
  }
}
