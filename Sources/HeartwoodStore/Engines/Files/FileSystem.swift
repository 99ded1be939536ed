/// The one seam through which stores touch files, so that tests can keep files in memory and stop the world at each step.
///
/// Paths are absolute or relative to the working directory, as the system takes them. Errors carry the path.
public protocol FileSystem: Sendable {
  /// What is at `path`, after following symbolic links, or nil where nothing is.
  func status(atPath path: String) throws(PersistenceError) -> FileStatus?

  /// `path` with every symbolic link followed. The last component need not exist.
  func resolvingSymbolicLinks(inPath path: String) throws(PersistenceError) -> String

  /// Opens a file for reading.
  func openFile(atPath path: String) throws(PersistenceError) -> any ReadableFile

  /// Opens a file for writing over parts of it where they stand; nil where that cannot be done, which is the default.
  func openFileForPatching(atPath path: String) throws(PersistenceError) -> (any PatchableFile)?

  /// Makes a new, empty file in the same directory as `path`, which is nobody else's.
  ///
  /// - Parameters:
  ///   - path: a path in the directory.
  ///   - permissions: the permission bits of the file, or nil for those that a new file gets.
  func createTemporaryFile(besidePath path: String, permissions: UInt32?) throws(PersistenceError) -> any WritableFile

  /// Removes the temporary files beside `path` whose writers have died without closing them.
  func removeAbandonedTemporaryFiles(besidePath path: String) throws(PersistenceError)

  /// Gives the file at `source` the name `destination` in one step, replacing what stood there.
  ///
  /// - Parameters:
  ///   - source: the path that the file has.
  ///   - destination: the path that it gets, in the same file system.
  ///   - exclusively: whether it is an error if something stands there.
  func moveFile(atPath source: String, toPath destination: String, exclusively: Bool) throws(PersistenceError)

  /// Waits until the names in the directory of `path` are on the disk.
  func synchronizeDirectory(ofPath path: String) throws(PersistenceError)

  /// Removes a file.
  func removeFile(atPath path: String) throws(PersistenceError)

  /// Waits until nobody else holds the file's lock, and takes it until the lock is released. Nil where there is no file.
  func lockFile(atPath path: String) throws(PersistenceError) -> (any FileLock)?

  /// What is in the folder at `path`, in no order, without following symbolic links; nothing where there is no folder.
  func entries(ofFolderAtPath path: String) throws(PersistenceError) -> [FolderEntry]

  /// Makes a folder, which may be there already, in one that is.
  func createFolder(atPath path: String) throws(PersistenceError)

  /// Removes a folder, unless something is in it; it is no error if there is none.
  func removeFolder(atPath path: String) throws(PersistenceError)

  /// Gives the file at `destination` the permission bits of that at `source`, and its owner, where that is allowed. A folder gets those that go
  /// with the bits of a file: who may read that finds what is in the folder, and who may write it adds to it.
  func copyPermissions(ofFileAtPath source: String, toPath destination: String) throws(PersistenceError)

  /// Whether the permissions of the file at `path`, and the disk, let it be written. Where no file is, nothing forbids that.
  func isWritableFile(atPath path: String) -> Bool
}

extension FileSystem {
  /// True: such files have no permissions.
  public func isWritableFile(atPath path: String) -> Bool { true }

  /// Nil: files are replaced, and never written over.
  public func openFileForPatching(atPath path: String) throws(PersistenceError) -> (any PatchableFile)? { nil }

  /// Nothing: such files are in no folders.
  public func entries(ofFolderAtPath path: String) throws(PersistenceError) -> [FolderEntry] { [] }

  /// Refuses: such files are in no folders.
  public func createFolder(atPath path: String) throws(PersistenceError) {
    throw PersistenceError(
      .capabilityMissing,
      "No folder can be made among these files.",
      recovery: "Choose another file system.",
      context: .init(path: path)
    )
  }

  /// Does nothing: there are no folders.
  public func removeFolder(atPath path: String) throws(PersistenceError) {}

  /// Does nothing: such files have no permissions.
  public func copyPermissions(ofFileAtPath source: String, toPath destination: String) throws(PersistenceError) {}
}

/// What a folder has under one name.
public struct FolderEntry: Sendable, Hashable {
  /// What it is.
  public enum Kind: Sendable, Hashable {
    /// A regular file.
    case file
    /// A folder.
    case folder
    /// A symbolic link, wherever it leads, a device or a pipe.
    case other
  }

  /// The name in the folder.
  public var name: String
  /// What it is.
  public var kind: Kind

  /// Makes an entry of what a file system tells.
  public init(name: String, kind: Kind) {
    self.name = name
    self.kind = kind
  }
}

/// A file that is open for reading. It stays the same file when another takes its name.
public protocol ReadableFile: Sendable {
  var path: String { get }
  /// What the file is now.
  func status() throws(PersistenceError) -> FileStatus
  /// Fills `buffer` with the bytes from `offset` on and returns how many there were: fewer than it holds only at the end.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(PersistenceError) -> Int
  /// The whole file as bytes in memory; where the system can, without reading it yet.
  ///
  /// Where the system does so, a file that somebody cuts short in place, instead of replacing it, takes away bytes that are
  /// still to be read.
  func mapped() throws(PersistenceError) -> FileBytes
  /// The path that the file has now, whatever it was opened by; nil where it has none any more, or where nobody can tell.
  func currentPath() throws(PersistenceError) -> String?
}

extension ReadableFile {
  /// Nil: nobody can tell.
  public func currentPath() throws(PersistenceError) -> String? { nil }
}

/// A new file that is being written from its beginning to its end.
///
/// Until it is closed, nobody takes it for one that was abandoned.
public protocol WritableFile: Sendable {
  var path: String { get }
  /// Appends `bytes`. After a failure nobody knows how many of them have been written.
  func write(_ bytes: UnsafeRawBufferPointer) throws(PersistenceError)
  /// Waits until everything written is on the disk.
  func synchronize() throws(PersistenceError)
  /// Closes the file; no more calls may follow.
  func close() throws(PersistenceError)
}

/// A file whose bytes are written over where they stand. It is closed when nobody holds it any more.
public protocol PatchableFile: Sendable {
  var path: String { get }
  /// Writes `bytes` over those from `offset` on, which lie inside of the file. Whoever asks for the file's ``FileIdentity`` before and
  /// after is told different ones. After a failure nobody knows how many bytes have been written.
  func write(_ bytes: [UInt8], at offset: Int) throws(PersistenceError)
  /// Waits until everything written is on the disk.
  func synchronize() throws(PersistenceError)
}

/// A lock on a file between processes.
public protocol FileLock: Sendable {
  /// Lets the next one have it. To be called once.
  func release()
}

/// The bytes of a whole file in memory.
public struct FileBytes: Sendable {
  package let region: ByteRegion

  package init(_ region: ByteRegion) {
    self.region = region
  }

  /// A copy of `bytes`, for file systems that keep files in memory.
  public init(copying bytes: [UInt8]) {
    self.region = bytes.withUnsafeBytes { ByteRegion.copying($0) }
  }
}

// MARK: FileStatus

/// What a file system tells about a file.
public struct FileStatus: Sendable, Hashable {
  /// Which file it is and in which state: it differs once somebody has written or replaced the file.
  public var identity: FileIdentity
  /// The length in bytes.
  public var size: Int
  /// The permission bits.
  public var permissions: UInt32
  /// Whether it is a file, and not a folder or a device.
  public var isRegularFile: Bool

  /// Makes a status of what a file system tells.
  public init(identity: FileIdentity, size: Int, permissions: UInt32, isRegularFile: Bool) {
    self.identity = identity
    self.size = size
    self.permissions = permissions
    self.isRegularFile = isRegularFile
  }
}

/// A file in one state of its content, as far as a file system can tell without reading it.
public struct FileIdentity: Sendable, Hashable {
  /// The number of the device that the file is on.
  public var device: UInt64
  /// The file's number on its device.
  public var number: UInt64
  /// The length in bytes.
  public var size: Int
  /// When the content was last changed, in seconds since 1970.
  public var modificationSeconds: Int64
  /// The part of a second that belongs to ``modificationSeconds``.
  public var modificationNanoseconds: Int64

  /// Makes an identity of what a file system tells.
  public init(device: UInt64, number: UInt64, size: Int, modificationSeconds: Int64, modificationNanoseconds: Int64) {
    self.device = device
    self.number = number
    self.size = size
    self.modificationSeconds = modificationSeconds
    self.modificationNanoseconds = modificationNanoseconds
  }

  /// Whether both are one file, in whatever state of its content.
  public func isSameFile(as other: FileIdentity) -> Bool {
    device == other.device && number == other.number
  }
}

// MARK: PathParts

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
