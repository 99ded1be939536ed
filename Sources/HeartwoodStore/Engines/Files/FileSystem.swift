/// The only interface through which stores access files, so that tests can keep files in memory and stop at each step.
///
/// Paths are absolute or relative to the working directory, as the system takes them. Errors carry the path.
public protocol FileSystem: Sendable {
  /// Returns the status of the file at `path`, after following symbolic links, or nil if there is no file.
  func status(atPath path: String) throws(PersistenceError) -> FileStatus?

  /// Returns `path` with every symbolic link followed. The last component need not exist.
  func resolvingSymbolicLinks(inPath path: String) throws(PersistenceError) -> String

  /// Opens a file for reading.
  func openFile(atPath path: String) throws(PersistenceError) -> any ReadableFile

  /// Opens a file to overwrite parts of it in place and to add to its end; nil if that is impossible, which is the
  /// default.
  func openFileForPatching(atPath path: String) throws(PersistenceError) -> (any PatchableFile)?

  /// Creates a new, empty file with an unused name in the same directory as `path`.
  ///
  /// - Parameters:
  ///   - path: a path in the directory.
  ///   - permissions: the permission bits of the file, or nil for those that a new file gets.
  func createTemporaryFile(besidePath path: String, permissions: UInt32?) throws(PersistenceError) -> any WritableFile

  /// Removes the temporary files beside `path` whose writers died without closing them.
  func removeAbandonedTemporaryFiles(besidePath path: String) throws(PersistenceError)

  /// Gives the file at `source` the name `destination` in one step, and replaces a file that is there.
  ///
  /// - Parameters:
  ///   - source: the path that the file has.
  ///   - destination: the path that it gets, in the same file system.
  ///   - exclusively: whether it is an error if there is a file at the destination.
  func moveFile(atPath source: String, toPath destination: String, exclusively: Bool) throws(PersistenceError)

  /// Waits until the names in the directory of `path` are on the disk.
  func synchronizeDirectory(ofPath path: String) throws(PersistenceError)

  /// Removes a file.
  func removeFile(atPath path: String) throws(PersistenceError)

  /// Waits until no other process holds the file's lock, and takes it until the lock is released. Nil if there is no
  /// file.
  func lockFile(atPath path: String) throws(PersistenceError) -> (any FileLock)?

  /// Returns the entries of the folder at `path`, in no order, without following symbolic links; empty if there is no
  /// folder.
  func entries(ofFolderAtPath path: String) throws(PersistenceError) -> [FolderEntry]

  /// Creates a folder in one that exists; it is no error if the folder is already there.
  func createFolder(atPath path: String) throws(PersistenceError)

  /// Removes a folder, unless it has entries; it is no error if there is no folder.
  func removeFolder(atPath path: String) throws(PersistenceError)

  /// Sets the permission bits of the file at `destination` to those of the file at `source`, and its owner too if that
  /// is allowed. A folder gets the bits that correspond to those of a file: users that may read the file may search the
  /// folder, and users that may write the file may add to the folder.
  func copyPermissions(ofFileAtPath source: String, toPath destination: String) throws(PersistenceError)

  /// Returns whether the permissions of the file at `path`, and the disk, allow writing to it. True if there is no
  /// file.
  func isWritableFile(atPath path: String) -> Bool
}

extension FileSystem {
  /// Returns true: such files have no permissions.
  public func isWritableFile(atPath path: String) -> Bool { true }

  /// Returns nil: files are replaced, and never overwritten in place.
  public func openFileForPatching(atPath path: String) throws(PersistenceError) -> (any PatchableFile)? { nil }

  /// Returns an empty array: such files are in no folders.
  public func entries(ofFolderAtPath path: String) throws(PersistenceError) -> [FolderEntry] { [] }

  /// Throws an error: such files are in no folders.
  public func createFolder(atPath path: String) throws(PersistenceError) {
    throw PersistenceError(
      .capabilityMissing,
      "No folder can be created in this file system.",
      recovery: "Choose another file system.",
      context: .init(path: path)
    )
  }

  /// Does nothing: there are no folders.
  public func removeFolder(atPath path: String) throws(PersistenceError) {}

  /// Does nothing: such files have no permissions.
  public func copyPermissions(ofFileAtPath source: String, toPath destination: String) throws(PersistenceError) {}
}

/// An entry of a folder.
public struct FolderEntry: Sendable, Hashable {
  /// The kind of an entry.
  public enum Kind: Sendable, Hashable {
    /// A regular file.
    case file
    /// A folder.
    case folder
    /// A symbolic link, whatever its destination, a device or a pipe.
    case other
  }

  /// The name in the folder.
  public var name: String
  /// The kind of the entry.
  public var kind: Kind

  /// Makes an entry from what a file system reports.
  public init(name: String, kind: Kind) {
    self.name = name
    self.kind = kind
  }
}

/// A file that is open for reading. It stays the same file if another one takes its name.
public protocol ReadableFile: Sendable {
  var path: String { get }
  /// Returns the present status of the file.
  func status() throws(PersistenceError) -> FileStatus
  /// Fills `buffer` with the bytes from `offset` on and returns how many there were: fewer than it holds only at the
  /// end.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(PersistenceError) -> Int
  /// Returns the whole file as bytes in memory; if the system can, without reading it yet.
  ///
  /// In that case, if another process truncates the file in place instead of replacing it, bytes that are still to be
  /// read are lost.
  func mapped() throws(PersistenceError) -> FileBytes
  /// Returns the present path of the file, whatever name it was opened by; nil if it has no name any more, or if the
  /// path is unknown.
  func currentPath() throws(PersistenceError) -> String?
}

extension ReadableFile {
  /// Returns nil: the path is unknown.
  public func currentPath() throws(PersistenceError) -> String? { nil }
}

/// A new file that is being written from its beginning to its end.
///
/// Until it is closed, no process takes it for an abandoned one.
public protocol WritableFile: Sendable {
  var path: String { get }
  /// Appends `bytes`. After a failure, an unknown part of them may have been written.
  func write(_ bytes: UnsafeRawBufferPointer) throws(PersistenceError)
  /// Waits until everything written is on the disk.
  func synchronize() throws(PersistenceError)
  /// Closes the file; no more calls may follow.
  func close() throws(PersistenceError)
}

/// A file whose bytes are overwritten in place, and that grows at its end. It is closed when it is deallocated.
public protocol PatchableFile: Sendable {
  var path: String { get }
  /// Writes `bytes` over those from `offset` on, which is at most the length of the file; the file grows if they go
  /// beyond its end. Its ``FileIdentity`` is a different one afterwards. After a failure, an unknown part of the bytes
  /// may have been written.
  func write(_ bytes: [UInt8], at offset: Int) throws(PersistenceError)
  /// Removes the bytes from `length` on.
  func truncate(to length: Int) throws(PersistenceError)
  /// Waits until everything written is on the disk.
  func synchronize() throws(PersistenceError)
}

/// A lock on a file between processes.
public protocol FileLock: Sendable {
  /// Releases the lock for the next process. Must be called once.
  func release()
}

/// The bytes of a whole file in memory.
public struct FileBytes: Sendable {
  package let region: ByteRegion

  package init(_ region: ByteRegion) {
    self.region = region
  }

  /// Makes a copy of `bytes`, for file systems that keep files in memory.
  public init(copying bytes: [UInt8]) {
    self.region = bytes.withUnsafeBytes { ByteRegion.copying($0) }
  }
}

// MARK: FileStatus

/// What a file system reports about a file.
public struct FileStatus: Sendable, Hashable {
  /// The identity of the file and of its present content: it changes if the file is written or replaced.
  public var identity: FileIdentity
  /// The length in bytes.
  public var size: Int
  /// The permission bits.
  public var permissions: UInt32
  /// Whether it is a regular file, and not a folder or a device.
  public var isRegularFile: Bool

  /// Makes a status from what a file system reports.
  public init(identity: FileIdentity, size: Int, permissions: UInt32, isRegularFile: Bool) {
    self.identity = identity
    self.size = size
    self.permissions = permissions
    self.isRegularFile = isRegularFile
  }
}

/// A file in one state of its content, as far as a file system can distinguish states without reading it.
public struct FileIdentity: Sendable, Hashable {
  /// The number of the device that the file is on.
  public var device: UInt64
  /// The file's number on its device.
  public var number: UInt64
  /// The length in bytes.
  public var size: Int
  /// When the content was last changed, in seconds since 1970.
  public var modificationSeconds: Int64
  /// The fraction of a second that belongs to ``modificationSeconds``, in nanoseconds.
  public var modificationNanoseconds: Int64

  /// Makes an identity from what a file system reports.
  public init(device: UInt64, number: UInt64, size: Int, modificationSeconds: Int64, modificationNanoseconds: Int64) {
    self.device = device
    self.number = number
    self.size = size
    self.modificationSeconds = modificationSeconds
    self.modificationNanoseconds = modificationNanoseconds
  }

  /// Returns whether both are the same file, in the same or another state of its content.
  public func isSameFile(as other: FileIdentity) -> Bool {
    device == other.device && number == other.number
  }
}

// MARK: PathParts

/// Splits and joins paths, as a ``FileSystem`` takes them.
///
///     let (directory, name) = PathParts.split("/stores/Notes.db")   // "/stores" and "Notes.db"
///     let folder = PathParts.join(directory, ".\(name)-files")
public enum PathParts {
  /// Returns the directory and the last component of `path`; a path without a slash is in the working directory.
  public static func split(_ path: String) -> (directory: String, name: String) {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
    let directory = path[..<slash]
    return (directory.isEmpty ? "/" : String(directory), String(path[path.utf8.index(after: slash)...]))
  }

  /// Returns the path of `name` in `directory`.
  public static func join(_ directory: String, _ name: String) -> String {
    directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)"
  }

  /// Returns the extension of the last component, without the dot and in lower case; empty if there is none.
  public static func fileExtension(_ path: String) -> String {
    let name = split(path).name
    guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex else { return "" }
    return name[name.utf8.index(after: dot)...].lowercased()
  }
}
