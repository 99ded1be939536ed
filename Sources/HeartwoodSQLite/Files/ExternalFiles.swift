import GRDB
import HeartwoodFoundation
import HeartwoodStore
import Synchronization

/// The files beside a store that contain its large binary data: `.NAME_SUPPORT/_EXTERNAL_DATA/<UUID>` for the store
/// `NAME.sqlite`.
///
/// A file never changes: a new value is a new file. So in any transaction, a row refers to the value that it had. Files
/// and folders get the permissions of the store.
struct ExternalFiles: Sendable {
  /// The first byte of data that is stored in the row.
  static let inlineMark: UInt8 = 1
  /// The first byte before the name of a file with the data.
  static let fileMark: UInt8 = 2
  /// The maximum length of data in the row: longer data is kept in files. 100 KB, as documented for Core Data.
  static let greatestInlineLength = 100 << 10

  private static let folderName = "_EXTERNAL_DATA"
  /// The permissions of a file until it gets the store's.
  private static let privatePermissions: UInt32 = 0o600

  /// The path of `.NAME_SUPPORT`.
  let supportFolder: String
  private let folder: String
  /// The path of the store's file, without symbolic links.
  let storePath: String
  private let fileSystem = POSIXFileSystem()

  /// - Parameter path: the file of the store. If it is a symbolic link, the folder is beside the link's destination.
  init(ofStoreAt path: String) {
    storePath = (try? fileSystem.resolvingSymbolicLinks(inPath: path)) ?? path
    supportFolder = Self.supportFolder(storePath)
    folder = PathParts.join(supportFolder, Self.folderName)
  }

  private static func supportFolder(_ path: String) -> String {
    let (directory, name) = PathParts.split(path)
    let fileExtension = PathParts.fileExtension(path)
    let stem = fileExtension.isEmpty ? name : String(name.dropLast(fileExtension.utf8.count + 1))
    return PathParts.join(directory, ".\(stem)_SUPPORT")
  }

  private func path(_ name: String) -> String { PathParts.join(folder, name) }
}

// MARK: Reading

extension ExternalFiles {
  /// The maximum length of a value: a row group accepts a value after others up to its limit, and the length of a
  /// column has 32 bits.
  private static let greatestLength = Int(UInt32.max) - RowGroupBuilder.columnByteLimit

  /// Returns the size in bytes of the file called `name`; 0 if it does not exist.
  func size(of name: String) -> Int { (try? fileSystem.status(atPath: path(name)))?.size ?? 0 }

  /// Returns the data in the file called `name`.
  ///
  /// - Throws: ``ValueFault``; a fault of the row if `name` is not the name of such a file.
  func contents(_ name: String) throws -> [UInt8] {
    // The name comes from the file of the store, which may be malicious: it must not refer to a file elsewhere.
    guard UUID(uuidString: name) != nil else { throw ValueFault("names a file that is not called by a UUID") }
    let path = path(name)
    do {
      guard try fileSystem.status(atPath: path) != nil else {
        throw ValueFault(
          ofFile:
            "refers to the file \(name), which is not there: the folder belongs to the store and has to be copied with it"
        )
      }
      let input = try StoreInput(try fileSystem.openFile(atPath: path))
      guard input.size <= Self.greatestLength else {
        throw ValueFault(
          ofFile:
            "refers to the file \(name), which has \(input.size) bytes: a value has \(Self.greatestLength) at most"
        )
      }
      return try input.bytes()
    } catch let error as PersistenceError {
      throw ValueFault(ofFile: "refers to the file \(name), which cannot be read", underlyingError: error)
    }
  }

  /// Returns the names of all files whose names have the right form. Files behind a symbolic link belong to another
  /// store.
  func names() throws -> [String] {
    try support.files().map(PathParts.split).filter {
      $0.directory == Self.folderName && UUID(uuidString: $0.name) != nil
    }
    .map(\.name)
  }

  /// Whether the folder is reached through a symbolic link, or does not exist.
  var areBehindLink: Bool { (try? fileSystem.resolvingSymbolicLinks(inPath: folder)) != folder }

  /// Returns whether the files called `names` exist.
  func have(_ names: Set<String>) throws -> Bool { try support.hasFiles(paths(names)) }

  /// Copies the files called `names`.
  ///
  /// - Throws: ``PersistenceError/Code/fileNotFound`` if one of them does not exist.
  func copy(_ names: Set<String>, to destination: ExternalFiles) throws {
    try support.copy(paths(names), to: destination.support)
  }

  /// Returns the paths in the support folder of the files called `names`, except for names that no such file has.
  private func paths(_ names: Set<String>) -> [String] {
    names.filter { UUID(uuidString: $0) != nil }.sorted().map { PathParts.join(Self.folderName, $0) }
  }

  var support: SupportFolder { SupportFolder(path: supportFolder, fileSystem: fileSystem) }
}

// MARK: Writing

extension ExternalFiles {
  /// Writes data to a new file, and returns its name. The data is on the disk when the call returns, but the name is
  /// only after ``synchronize()``.
  func add(_ bytes: UnsafeRawBufferPointer) throws -> String {
    for folder in [supportFolder, folder] where try fileSystem.status(atPath: folder) == nil {
      try fileSystem.createFolder(atPath: folder)
      try copyPermissions(to: folder)
      try fileSystem.synchronizeDirectory(ofPath: folder)
    }
    let name = UUID().uuidString
    let file = try fileSystem.createTemporaryFile(besidePath: path(name), permissions: Self.privatePermissions)
    do {
      defer { try? file.close() }
      try copyPermissions(to: file.path)
      try file.write(bytes)
      try file.synchronize()
      try fileSystem.moveFile(atPath: file.path, toPath: path(name), exclusively: true)
    } catch {
      try? fileSystem.removeFile(atPath: file.path)
      throw error
    }
    return name
  }

  /// Gives a new file or folder the permissions of the store's file.
  private func copyPermissions(to path: String) throws {
    if try fileSystem.status(atPath: storePath) == nil { return }
    try fileSystem.copyPermissions(ofFileAtPath: storePath, toPath: path)
  }

  /// Waits until the names of all files are on the disk.
  func synchronize() throws { try fileSystem.synchronizeDirectory(ofPath: path(".")) }

  /// Removes files. If one cannot be removed, the next opening of the store tries again.
  func remove(_ names: some Sequence<String>) {
    for name in names { try? fileSystem.removeFile(atPath: path(name)) }
  }

  /// Removes the temporary files of processes that died while they wrote a file.
  func removeAbandonedFiles() {
    let files = (try? support.files().map(PathParts.split)) ?? []
    let names = files.filter { $0.directory == Self.folderName }.compactMap { Self.name(ofTemporaryFile: $0.name) }
    for name in Set(names) {
      try? fileSystem.removeAbandonedTemporaryFiles(besidePath: path(name))
    }
  }

  /// Returns the final name for a temporary file, `.<UUID>.….heartwood-tmp`.
  private static func name(ofTemporaryFile name: String) -> String? {
    guard name.hasPrefix(".") else { return nil }
    let stem = String(name.dropFirst().prefix { $0 != "." })
    return UUID(uuidString: stem) == nil ? nil : stem
  }
}

// MARK: ExternalChanges

/// The changes of one transaction to the files with large binary data: new files are written before the rows that name
/// them, and old ones are removed after the rows that named them are gone for good.
final class ExternalChanges: Sendable {
  private struct State {
    var written: [String] = []
    var replaced: Set<String> = []
  }

  private let files: ExternalFiles
  private let state = Mutex(State())

  init(_ files: ExternalFiles) {
    self.files = files
  }

  /// Returns the value of a column that contains `bytes` or refers to a file with them.
  func cell(for bytes: UnsafeRawBufferPointer) throws -> [UInt8] {
    guard bytes.count > ExternalFiles.greatestInlineLength else { return [ExternalFiles.inlineMark] + Array(bytes) }
    let name = try files.add(bytes)
    state.withLock { $0.written.append(name) }
    return [ExternalFiles.fileMark] + Array(name.utf8) + [0]
  }

  /// Notes that a row no longer refers to the file called `name`.
  func replace(_ name: String) {
    state.withLock { _ = $0.replaced.insert(name) }
  }

  /// Waits until all written data is on the disk.
  func synchronize() throws {
    if state.withLock({ !$0.written.isEmpty }) { try files.synchronize() }
  }

  /// Ends the transaction, and returns the files that it has replaced.
  func commit() -> Set<String> {
    take().replaced
  }

  /// Ends a failed transaction.
  ///
  /// - Parameter isUndone: whether it is certain that no row was changed. If it is unknown, the files stay until the
  ///   store is opened next.
  func rollBack(isUndone: Bool) {
    let written = take().written
    if isUndone { files.remove(written) }
  }

  private func take() -> State {
    state.withLock { state in
      let taken = state
      state = State()
      return taken
    }
  }
}

// MARK: ExternalNames

/// Finds the files with large binary data that the rows of a database refer to.
enum ExternalNames {
  /// The lengths of a value: the mark, a UUID as text, and a NUL, which some writers may omit.
  static let cellLengths = 37...38
  private static let uuidLength = 36

  /// Returns all names, in any table and column: a model may not contain all of them. O(rows), of which only the
  /// beginnings of values are read.
  static func all(in db: Database) throws -> Set<String> {
    let tables = try FileCatalog(db).tables.values
    return try all(
      in: tables.flatMap { table in
        table.columns.values.filter { $0.type == SQLiteColumnType.blob.rawValue }.map { (table.name, $0.name) }
      },
      db
    )
  }

  /// Returns the names in certain tables, or in views that stand for them.
  static func all(of tables: [SQLiteTable], in db: Database) throws -> Set<String> {
    try all(
      in: tables.flatMap { table in table.columns.filter { $0.type == .blob }.map { (table.name, $0.name) } },
      db
    )
  }

  private static func all(in columns: [(table: String, name: String)], _ db: Database) throws -> Set<String> {
    try columns.reduce(into: Set<String>()) { names, column in
      let query = selection(SQLiteName.quoted(column.name), SQLiteName.quoted(column.table))
      names.formUnion(try String.fetchSet(db, sql: query))
    }
  }

  /// Returns the name in a column of one row; nil if there is none.
  static func name(in column: String, ofRow key: Int64, of table: String, _ db: Database) throws -> String? {
    let query = selection(SQLiteName.quoted(column), SQLiteName.quoted(table)) + " AND Z_PK = ?"
    return try String.fetchOne(try db.cachedStatement(sql: query), arguments: [key])
  }

  private static func selection(_ column: String, _ table: String) -> String {
    "SELECT CAST(substr(\(column), 2, \(uuidLength)) AS TEXT) FROM \(table)"
      + " WHERE length(\(column)) BETWEEN \(cellLengths.lowerBound) AND \(cellLengths.upperBound)"
      + " AND typeof(\(column)) = 'blob' AND hex(substr(\(column), 1, 1)) = '02'"
  }
}

// MARK: MissingFiles

/// Counts how often a file with large data could not be read: another process may have removed it in a save that the
/// transaction does not see.
final class MissingFiles: Sendable {
  private let number = Atomic(0)

  var count: Int { number.load(ordering: .relaxed) }

  func note() { number.add(1, ordering: .relaxed) }
}
