import GRDB
import GRDBSQLite
import HeartwoodStore

/// A file that SQLite shall open, and what can be told of it without SQLite.
///
/// It is to be kept as long as a connection to the file: it holds the file, on which SQLite keeps locks.
struct SQLiteLocation {
  /// What a connection may do.
  enum Access: String {
    case read = "ro"
    case write = "rw"
    /// Reads a file that nobody writes, without locks and without files beside it.
    case unchanging = "ro&immutable=1"
  }

  private static let magic = Array("SQLite format 3\0".utf8)
  private static let headerLength = 100
  /// Where the header says how a reader has to go about the file; 2 is a write-ahead log.
  private static let readVersionOffset = 19
  private static let logVersion: UInt8 = 2
  private static let logSuffix = "-wal"
  private static let sharedSuffix = "-shm"
  private static let journalSuffix = "-journal"
  /// How often, and after how many milliseconds each, it is looked again whether somebody was just closing the file.
  private static let closingChecks = 10
  private static let closingDelay: CInt = 10

  /// Absolute, without symbolic links: the files beside it are beside the file itself.
  let path: String
  private let fileSystem: any FileSystem
  private let hold: FileHold?

  /// - Throws: ``PersistenceError/Code/fileNotFound``: a file is never made by opening it.
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

  /// What SQLite is to open: a URI, where it reads such, since only that can say that no file is to be made.
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

  /// Whether SQLite was built to take names for URIs.
  static let readsURIs = sqlite3_compileoption_used("USE_URI") != 0 || sqlite3_compileoption_used("USE_URI=1") != 0

  /// The paths of the files that SQLite may put beside the one at `path`.
  static func sideFiles(ofFileAt path: String) -> [String] {
    [logSuffix, sharedSuffix, journalSuffix].map { path + $0 }
  }

  /// Whether any of the files lies beside this one that SQLite may put there.
  func hasSideFiles() throws(PersistenceError) -> Bool { try Self.hasSideFiles(ofFileAt: path, in: fileSystem) }

  /// Whether any of the files lies beside the one at `path` that SQLite may put there.
  static func hasSideFiles(ofFileAt path: String, in fileSystem: any FileSystem) throws(PersistenceError) -> Bool {
    for sideFile in sideFiles(ofFileAt: path) where try fileSystem.status(atPath: sideFile) != nil { return true }
    return false
  }

  /// Lets a connection find the file by the name ``SQLiteFile/sourceName``.
  func attach(_ access: Access, to db: Database) throws {
    if access == .read { try checkReadable() }
    try db.execute(sql: "ATTACH DATABASE ? AS \(SQLiteFile.sourceName)", arguments: [name(for: access)])
  }

  /// Whether a file lies beside this one, with something in it.
  private func hasFile(_ suffix: String) throws(PersistenceError) -> Bool {
    (try fileSystem.status(atPath: path + suffix)?.size ?? 0) > 0
  }

  /// Whether the file says that changes go to a log.
  func keepsLog() throws(PersistenceError) -> Bool {
    let header = try header()
    return header.count == Self.headerLength && header[Self.readVersionOffset] == Self.logVersion
  }

  /// Whether the file says that changes go to a log, and no log is there: then nobody has it open, and all of it is in the file.
  func isAtRest() throws(PersistenceError) -> Bool {
    guard try keepsLog() else { return false }
    let (hasLog, hasJournal) = (try hasFile(Self.logSuffix), try hasFile(Self.journalSuffix))
    return !hasLog && !hasJournal
  }

  /// Whether this process may write the file, as SQLite finds out. Nothing tells that of the folder.
  var isWritable: Bool {
    guard let system = sqlite3_vfs_find(nil) else { return true }
    var isWritable: CInt = 0
    let code = system.pointee.xAccess(system, path, SQLITE_ACCESS_READWRITE, &isWritable)
    return code != SQLITE_OK || isWritable != 0
  }

  /// Whether the file is better read as one that nobody writes: what SQLite makes beside it for readers has its permissions, cannot be removed
  /// by who cannot write the file, and would then be in the way of those who can.
  func shouldBeReadAsUnchanging() throws(PersistenceError) -> Bool {
    // Who has the file open has made a -shm, and may write at any moment.
    guard Self.readsURIs, !isWritable, try !hasSharedMemory() else { return false }
    return try isAtRest()
  }

  private func hasSharedMemory() throws(PersistenceError) -> Bool {
    try fileSystem.status(atPath: path + Self.sharedSuffix) != nil
  }

  /// Makes sure that who reads the file, and its log, leaves nothing beside it that is in the way of those who may write it.
  ///
  /// - Throws: ``PersistenceError/Code/fileReadFailed`` where SQLite would make a `-shm` and this process must not write the file.
  func checkReadable() throws(PersistenceError) {
    for _ in 0..<Self.closingChecks {
      guard !isWritable, try hasFile(Self.logSuffix), try !hasSharedMemory() else { return }
      // Who closes a file removes the -shm, and then the log.
      sqlite3_sleep(Self.closingDelay)
    }
    throw PersistenceError(
      .fileReadFailed,
      "A log with changes lies beside the file, -wal, and no -shm, which SQLite has to make before it reads a "
        + "log. One that is made where the file must not be written keeps everybody from writing it.",
      recovery: "Copy the file and its -wal to a folder of your own, make the copy writable, and open that.",
      context: .init(path: path, storeType: .sqlite)
    )
  }

  /// Whether the file can be read as one that nobody writes, after `error` has told that it could not be opened: where only the files that
  /// SQLite makes beside it were not to be made, and none is needed.
  func canBeReadAsUnchanging(after error: any Error) throws(PersistenceError) -> Bool {
    let failure = ((error as? PersistenceError)?.underlyingError ?? error) as? DatabaseError
    guard Self.readsURIs, failure?.resultCode == .SQLITE_CANTOPEN || failure?.resultCode == .SQLITE_READONLY else {
      return false
    }
    return try isAtRest()
  }

  /// - Throws: ``PersistenceError/Code/fileMalformed`` where the file does not begin as a database, or ``PersistenceError/Code/fileCorrupt`` where
  ///   it ends before the last of its pages does.
  func checkHeader() throws(PersistenceError) {
    let header = try header()
    try checkMagic(header)
    if try missingLength(header) != nil { try checkLength() }
  }

  private func checkMagic(_ header: [UInt8]) throws(PersistenceError) {
    guard header.starts(with: Self.magic) || header.isEmpty else {
      throw PersistenceError(
        .fileMalformed,
        "The file is no SQLite database, or it is encrypted.",
        context: .init(path: path, byteOffset: 0, storeType: .sqlite)
      )
    }
  }

  /// Refuses a file that stays too short. SQLite takes what a page lacks for zeros, and finds nothing wrong with it.
  private func checkLength() throws(PersistenceError) {
    var (size, length) = (0, 0)
    // Who writes the file may just be making it longer or shorter, with a journal that is in no file.
    for _ in 0..<Self.closingChecks {
      sqlite3_sleep(Self.closingDelay)
      guard let found = try missingLength(try header()) else { return }
      (size, length) = found
    }
    throw PersistenceError(
      .fileCorrupt,
      "The file was cut short: it has \(size) bytes, and says that it has \(length).",
      context: .init(path: path, byteOffset: size, storeType: .sqlite)
    )
  }

  /// How long the file is, and how long it says it is, where that is more and nothing beside it has the rest.
  private func missingLength(_ header: [UInt8]) throws(PersistenceError) -> (size: Int, length: Int)? {
    guard header.count == Self.headerLength, let length = Self.length(header),
      let size = try fileSystem.status(atPath: path)?.size, size < length,
      try !hasFile(Self.logSuffix), try !hasFile(Self.journalSuffix)
    else { return nil }
    return (size, length)
  }

  /// What a header says of the length of its file: the size of a page at byte 16, where 1 stands for 65,536, and the number of pages at
  /// byte 28, which counts where the numbers of changes at bytes 24 and 92 are the same. https://www.sqlite.org/fileformat.html
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

  /// Which file it is and in which state.
  func identity() throws(PersistenceError) -> FileIdentity? { try fileSystem.status(atPath: path)?.identity }
}
