import GRDB
import GRDBSQLite
import HeartwoodStore

/// The path of a file that SQLite is to open, and the properties of the file that can be determined without SQLite.
///
/// Keep it as long as a connection to the file: it holds the file, on which SQLite has locks.
struct SQLiteLocation {
  /// The kinds of access of a connection.
  enum Access: String {
    case read = "ro"
    case write = "rw"
    /// Reads a file that nothing writes to, without locks and without files beside it.
    case unchanging = "ro&immutable=1"
  }

  /// The bytes that every SQLite database begins with.
  static let magic = Array("SQLite format 3\0".utf8)
  private static let headerLength = 100
  /// The offset of the byte in the header that says how a reader has to access the file; 2 means a write-ahead log.
  private static let readVersionOffset = 19
  private static let logVersion: UInt8 = 2
  private static let logSuffix = "-wal"
  private static let sharedSuffix = "-shm"
  private static let journalSuffix = "-journal"
  /// The number of checks whether another process was just closing the file, and the delay of each in milliseconds.
  private static let closingChecks = 10
  private static let closingDelay: CInt = 10

  /// The absolute path without symbolic links, because SQLite's other files are beside the file itself.
  let path: String
  private let fileSystem: any FileSystem
  private let hold: FileHold?

  /// - Throws: ``PersistenceError/Code/fileNotFound``: opening a file never creates it.
  init(_ path: String, fileSystem: any FileSystem) throws(PersistenceError) {
    self.path = try fileSystem.resolvingSymbolicLinks(inPath: path)
    self.fileSystem = fileSystem
    guard let status = try fileSystem.status(atPath: path) else {
      throw PersistenceError(.fileNotFound, "There is no such file.", context: .init(path: path, storeType: .sqlite))
    }
    guard status.isRegularFile else {
      throw PersistenceError(
        .fileReadFailed,
        "It is not a regular file.",
        context: .init(path: path, storeType: .sqlite)
      )
    }
    hold = FileHold(atPath: self.path)
  }

  /// Returns the name for SQLite: a URI, if SQLite reads URIs, because only a URI can prevent that a file is created.
  func name(for access: Access) -> String {
    guard Self.readsURIs else { return path }
    let escaped = path.utf8.map { byte -> String in
      switch byte {
      case UInt8(ascii: "%"), UInt8(ascii: "?"), UInt8(ascii: "#"), 0x80...: Self.escape(byte)
      default: String(UnicodeScalar(byte))
      }
    }
    return "file:" + escaped.joined() + "?mode=" + access.rawValue
  }

  private static func escape(_ byte: UInt8) -> String {
    let digits = Array("0123456789ABCDEF")
    return "%" + String([digits[Int(byte >> 4)], digits[Int(byte & 15)]])
  }

  /// Whether SQLite was built to read names as URIs.
  static let readsURIs = sqlite3_compileoption_used("USE_URI") != 0 || sqlite3_compileoption_used("USE_URI=1") != 0

  /// Returns the paths of the files that SQLite may create beside the one at `path`.
  static func sideFiles(ofFileAt path: String) -> [String] {
    [logSuffix, sharedSuffix, journalSuffix].map { path + $0 }
  }

  /// Returns whether any file that SQLite may create exists beside this one.
  func hasSideFiles() throws(PersistenceError) -> Bool { try Self.hasSideFiles(ofFileAt: path, in: fileSystem) }

  /// Returns whether any file that SQLite may create exists beside the one at `path`.
  static func hasSideFiles(ofFileAt path: String, in fileSystem: any FileSystem) throws(PersistenceError) -> Bool {
    for sideFile in sideFiles(ofFileAt: path) where try fileSystem.status(atPath: sideFile) != nil { return true }
    return false
  }

  /// Attaches the file to a connection under the name ``SQLiteFile/sourceName``.
  func attach(_ access: Access, to db: Database) throws {
    if access == .read { try checkReadable() }
    try db.execute(sql: "ATTACH DATABASE ? AS \(SQLiteFile.sourceName)", arguments: [name(for: access)])
  }

  /// Returns whether a file exists beside this one and is not empty.
  private func hasFile(_ suffix: String) throws(PersistenceError) -> Bool {
    (try fileSystem.status(atPath: path + suffix)?.size ?? 0) > 0
  }

  /// Returns whether the header of the file says that changes go to a log.
  func keepsLog() throws(PersistenceError) -> Bool {
    let header = try header()
    return header.count == Self.headerLength && header[Self.readVersionOffset] == Self.logVersion
  }

  /// Returns whether the header of the file says that changes go to a log, and there is no log: then no connection has
  /// it open, and it is complete.
  func isAtRest() throws(PersistenceError) -> Bool {
    guard try keepsLog() else { return false }
    let (hasLog, hasJournal) = (try hasFile(Self.logSuffix), try hasFile(Self.journalSuffix))
    return !hasLog && !hasJournal
  }

  /// Whether this process may write to the file, as SQLite determines it. This says nothing about the folder.
  var isWritable: Bool {
    guard let system = sqlite3_vfs_find(nil) else { return true }
    var isWritable: CInt = 0
    let code = system.pointee.xAccess(system, path, SQLITE_ACCESS_READWRITE, &isWritable)
    return code != SQLITE_OK || isWritable != 0
  }

  /// Returns whether it is better to read the file as if nothing writes to it: the files that SQLite makes beside it
  /// for readers have its permissions, cannot be removed by a process that cannot write to the file, and would then
  /// hinder processes that can.
  func shouldBeReadAsUnchanging() throws(PersistenceError) -> Bool {
    // A process that has the file open has made a -shm, and may write at any moment.
    guard Self.readsURIs, !isWritable, try !hasSharedMemory() else { return false }
    return try isAtRest()
  }

  private func hasSharedMemory() throws(PersistenceError) -> Bool {
    try fileSystem.status(atPath: path + Self.sharedSuffix) != nil
  }

  /// Checks that reading the file, and its log, leaves nothing beside it that hinders processes that may write to it.
  ///
  /// - Throws: ``PersistenceError/Code/fileReadFailed`` if SQLite would make a `-shm` and this process must not write
  ///   to the file.
  func checkReadable() throws(PersistenceError) {
    for _ in 0..<Self.closingChecks {
      guard !isWritable, try hasFile(Self.logSuffix), try !hasSharedMemory() else { return }
      // A process that closes a file removes the -shm, and then the log.
      sqlite3_sleep(Self.closingDelay)
    }
    throw PersistenceError(
      .fileReadFailed,
      "There is a log with changes (-wal) beside the file but no -shm file, which SQLite has to make before it reads the "
        + "log. If a user makes it who cannot write the file, no other user can write the file any more.",
      recovery: "Copy the file and its -wal to a folder of your own, make the copy writable, and open that.",
      context: .init(path: path, storeType: .sqlite)
    )
  }

  /// Returns whether the file can be read as if nothing writes to it, after it could not be opened because of `error`:
  /// that is so if only the files that SQLite makes beside it could not be made, and none is needed.
  func canBeReadAsUnchanging(after error: any Error) throws(PersistenceError) -> Bool {
    let failure = ((error as? PersistenceError)?.underlyingError ?? error) as? DatabaseError
    guard Self.readsURIs, failure?.resultCode == .SQLITE_CANTOPEN || failure?.resultCode == .SQLITE_READONLY else {
      return false
    }
    return try isAtRest()
  }

  /// - Throws: ``PersistenceError/Code/fileMalformed`` if the file does not begin as a database, or
  ///   ``PersistenceError/Code/fileCorrupt`` if it ends before its last page does.
  func checkHeader() throws(PersistenceError) {
    let header = try header()
    try checkMagic(header)
    if try missingLength(header) != nil { try checkLength() }
  }

  private func checkMagic(_ header: [UInt8]) throws(PersistenceError) {
    guard header.starts(with: Self.magic) || header.isEmpty else {
      throw PersistenceError(
        .fileMalformed,
        "The file is not an SQLite database, or it is encrypted.",
        context: .init(path: path, byteOffset: 0, storeType: .sqlite)
      )
    }
  }

  /// Refuses a file that stays too short. SQLite reads the missing part of a page as zeros, and reports no error.
  private func checkLength() throws(PersistenceError) {
    var (size, length) = (0, 0)
    // A process that writes to the file may just be changing its length, with a journal that is not a file.
    for _ in 0..<Self.closingChecks {
      sqlite3_sleep(Self.closingDelay)
      guard let found = try missingLength(try header()) else { return }
      (size, length) = found
    }
    throw PersistenceError(
      .fileCorrupt,
      "The file was cut short: it has \(size) bytes, and should have \(length).",
      context: .init(path: path, byteOffset: size, storeType: .sqlite)
    )
  }

  /// Returns the actual length of the file and the length in its header, if that is greater and no file beside it
  /// contains the rest.
  private func missingLength(_ header: [UInt8]) throws(PersistenceError) -> (size: Int, length: Int)? {
    guard header.count == Self.headerLength, let length = Self.length(header),
      let size = try fileSystem.status(atPath: path)?.size, size < length,
      try !hasFile(Self.logSuffix), try !hasFile(Self.journalSuffix)
    else { return nil }
    return (size, length)
  }

  /// Returns the length of the file according to its header: the page size at byte 16, where 1 stands for 65,536, times
  /// the number of pages at byte 28, which is valid if the change counters at bytes 24 and 92 are the same.
  /// https://www.sqlite.org/fileformat.html
  private static func length(_ header: [UInt8]) -> Int? {
    guard header[24..<28] == header[92..<96] else { return nil }
    let size = Int(header[16]) << 8 | Int(header[17])
    let count = header[28..<32].reduce(0) { $0 << 8 | Int($1) }
    return (size == 1 ? 65_536 : size) * count
  }

  private func header() throws(PersistenceError) -> [UInt8] {
    let file = try fileSystem.openFile(atPath: path)
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.headerLength, alignment: 1)
    defer { bytes.deallocate() }
    return Array(bytes.prefix(try file.read(into: bytes, at: 0)))
  }

  /// Returns the identity of the file and its state.
  func identity() throws(PersistenceError) -> FileIdentity? { try fileSystem.status(atPath: path)?.identity }
}
