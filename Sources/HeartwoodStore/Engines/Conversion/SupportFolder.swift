/// A folder beside a store's file that holds parts of the store in files that never change and whose names are never
/// reused.
///
/// So a copy of a store, or its replacement, adds its files beside those that are there, and the files that only the
/// old store used are removed when the new one is in place.
///
/// ``FileFormat/supportFolder(ofStoreAt:)`` returns its path. The files in it are named by their paths relative to it.
public struct SupportFolder: Sendable {
  /// The path of the folder, which need not exist.
  public let path: String
  private let fileSystem: any FileSystem

  /// The greatest depth of folders in it.
  private static let greatestDepth = 8

  /// Makes a value for the folder at `path`, without opening it.
  public init(path: String, fileSystem: any FileSystem) {
    self.path = path
    self.fileSystem = fileSystem
  }

  /// Returns the paths of all files in it, relative to it; none if it does not exist. O(files), and I/O.
  public func files() throws(PersistenceError) -> [String] {
    var files: [String] = []
    try visit("", depth: 0) { name, kind throws(PersistenceError) in
      if kind == .file { files.append(name) }
    }
    return files.sorted()
  }

  /// Returns whether files with these `names` are in it. Follows symbolic links, as copying does.
  public func hasFiles(_ names: some Sequence<String>) throws(PersistenceError) -> Bool {
    for name in names {
      guard try fileSystem.status(atPath: PathParts.join(path, name))?.isRegularFile == true else { return false }
    }
    return true
  }

  /// Copies the files with these `names` into `destination`, and waits until they are on the disk. A file that is
  /// already there with the same length is taken for the same file. Each copy has the permissions of its file from the
  /// beginning, and so has each new folder.
  ///
  /// - Returns: the names of the files that were missing at the destination.
  /// - Throws: ``PersistenceError/Code/fileNotFound`` if one of the files does not exist, and
  ///   ``PersistenceError/Code/fileExists`` if another file has its name. No file was added then.
  @discardableResult
  public func copy(_ names: [String], to destination: SupportFolder) throws -> [String] {
    try destination.add(names, like: self) { name, target in
      let input = try StoreInput(try fileSystem.openFile(atPath: PathParts.join(path, name)))
      let permissions = try input.file.status().permissions
      try AtomicFile(path: target, fileSystem: fileSystem).copy(input, expecting: .nothing, permissions: permissions)
    } length: { name throws(PersistenceError) in
      try length(name)
    }
  }

  /// Sets its permissions, and those of everything in it, to the ones that correspond to the file at `file`.
  func copyPermissions(ofFileAtPath file: String) throws(PersistenceError) {
    guard try fileSystem.status(atPath: path) != nil else { return }
    try fileSystem.copyPermissions(ofFileAtPath: file, toPath: path)
    try visit("", depth: 0) { name, kind throws(PersistenceError) in
      if kind == .other { return }
      try fileSystem.copyPermissions(ofFileAtPath: file, toPath: PathParts.join(path, name))
    }
  }

  /// Moves all its files to `destination`, and removes itself.
  ///
  /// - Returns: all names, and those of the files that were missing at the destination.
  func move(to destination: SupportFolder) throws -> (all: [String], added: [String]) {
    let names = try files()
    let added = try destination.add(names, like: self) { name, target in
      try fileSystem.moveFile(atPath: PathParts.join(path, name), toPath: target, exclusively: true)
    } length: { name throws(PersistenceError) in
      try length(name)
    }
    try remove()
    return (names, added)
  }

  /// Removes it with everything in it.
  func remove() throws(PersistenceError) { try remove { _ in true } }

  /// Removes those of its files whose paths pass a test, and itself if it is empty then.
  func remove(where isMeant: (String) -> Bool) throws(PersistenceError) {
    var folders = [path]
    try visit("", depth: 0) { name, kind throws(PersistenceError) in
      let path = PathParts.join(self.path, name)
      if kind == .folder {
        folders.append(path)
      } else if isMeant(name) {
        try fileSystem.removeFile(atPath: path)
      }
    }
    for folder in folders.reversed() { try fileSystem.removeFolder(atPath: folder) }
  }

  /// Removes the files with these names.
  func remove(_ names: [String]) throws(PersistenceError) {
    for name in names { try fileSystem.removeFile(atPath: PathParts.join(path, name)) }
  }
}

extension SupportFolder {
  /// Calls `body` with everything in it; with a folder before its entries.
  private func visit(
    _ folder: String,
    depth: Int,
    _ body: (String, FolderEntry.Kind) throws(PersistenceError) -> Void
  ) throws(PersistenceError) {
    guard depth < Self.greatestDepth else { return }
    for entry in try fileSystem.entries(ofFolderAtPath: folder.isEmpty ? path : PathParts.join(path, folder)) {
      let name = folder.isEmpty ? entry.name : PathParts.join(folder, entry.name)
      try body(name, entry.kind)
      if entry.kind == .folder { try visit(name, depth: depth + 1, body) }
    }
  }

  private func length(_ name: String) throws(PersistenceError) -> Int? {
    try fileSystem.status(atPath: PathParts.join(path, name))?.size
  }

  /// Calls `write` to make the files that are missing, in the same folders as in `other`.
  private func add(
    _ names: [String],
    like other: SupportFolder,
    _ write: (_ name: String, _ target: String) throws -> Void,
    length: (String) throws(PersistenceError) -> Int?
  ) throws -> [String] {
    var added: [String] = []
    do {
      for name in names {
        let target = PathParts.join(path, name)
        if let present = try self.length(name) {
          guard try length(name) == present else { throw Self.taken(target) }
          continue
        }
        try makeFolders(of: name, like: other)
        try write(name, target)
        added.append(name)
      }
      for folder in Set(added.map { PathParts.split(PathParts.join(path, $0)).directory }) {
        try fileSystem.synchronizeDirectory(ofPath: PathParts.join(folder, "."))
      }
    } catch {
      // try?: the error because of which they are not needed is thrown.
      try? remove(added)
      throw error
    }
    return added
  }

  /// Creates the folders for a file, durably, with the permissions of the corresponding folders in `other`.
  private func makeFolders(of name: String, like other: SupportFolder) throws(PersistenceError) {
    var (folder, original) = (path, other.path)
    for part in [""] + PathParts.split(name).directory.split(separator: "/").map(String.init) {
      if !part.isEmpty && part != "." {
        (folder, original) = (PathParts.join(folder, part), PathParts.join(original, part))
      }
      if try fileSystem.status(atPath: folder) != nil { continue }
      try fileSystem.createFolder(atPath: folder)
      // No file could be created in a folder that is not writable.
      if fileSystem.isWritableFile(atPath: original) {
        try fileSystem.copyPermissions(ofFileAtPath: original, toPath: folder)
      }
      try fileSystem.synchronizeDirectory(ofPath: folder)
    }
  }

  private static func taken(_ path: String) -> PersistenceError {
    PersistenceError(
      .fileExists,
      "Another file has the name of one that belongs to the store.",
      recovery: "Move it away.",
      context: .init(path: path)
    )
  }
}

extension SupportFolder {
  /// Copies the files of a store's support folder and then the store's file. The copy is consistent if the store is not
  /// saved meanwhile.
  ///
  /// - Parameter supportFolder: returns the folder of the store whose file is at a path.
  static func copyStore(at source: String, to path: String, supportFolder: (String) -> String?) throws {
    let fileSystem = POSIXFileSystem()
    let input = try StoreInput(try fileSystem.openFile(atPath: source))
    if let folder = supportFolder(source), let copy = supportFolder(path) {
      let folder = SupportFolder(path: folder, fileSystem: fileSystem)
      try folder.copy(try folder.files(), to: SupportFolder(path: copy, fileSystem: fileSystem))
    }
    let file = AtomicFile(path: path, fileSystem: fileSystem)
    try file.copy(input, expecting: .nothing, permissions: input.status.permissions)
  }
}
