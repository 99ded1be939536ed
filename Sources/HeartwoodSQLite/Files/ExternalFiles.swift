import GRDB
import HeartwoodFoundation
import HeartwoodStore
import Synchronization

/// The files beside a store that hold its large binary data: `.NAME_SUPPORT/_EXTERNAL_DATA/<UUID>` for the store `NAME.sqlite`.
///
/// A file never changes: a new value is a new file. So a row of whatever transaction leads to the value that it had. Files and folders are made
/// with the permissions of the store.
struct ExternalFiles: Sendable {
  /// What data in the row begin with.
  static let inlineMark: UInt8 = 1
  /// What the name of a file with the data begins with.
  static let fileMark: UInt8 = 2
  /// Longer data are kept in files: 100 KB, as is told of Core Data.
  static let greatestInlineLength = 100 << 10

  private static let folderName = "_EXTERNAL_DATA"
  /// Those of a file until it has the store's.
  private static let privatePermissions: UInt32 = 0o600

  /// `.NAME_SUPPORT`.
  let supportFolder: String
  private let folder: String
  /// The file of the store, without symbolic links.
  let storePath: String
  private let fileSystem = POSIXFileSystem()

  /// - Parameter path: the file of the store. Where that is a link, the folder is beside what it leads to.
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
  /// A group takes a value behind others up to its limit, and a column has no more bytes than 32 bits count.
  private static let greatestLength = Int(UInt32.max) - RowGroupBuilder.columnByteLimit

  /// How many bytes the file called `name` has; 0 where it is not there.
  func size(of name: String) -> Int { (try? fileSystem.status(atPath: path(name)))?.size ?? 0 }

  /// The data in the file called `name`.
  ///
  /// - Throws: ``ValueFault``, one of the row for what is no name of such a file.
  func contents(_ name: String) throws -> [UInt8] {
    // The name comes from the file of the store, which may be anybody's: it must not lead elsewhere.
    guard UUID(uuidString: name) != nil else { throw ValueFault("names a file that is not called by a UUID") }
    let path = path(name)
    do {
      guard try fileSystem.status(atPath: path) != nil else {
        throw ValueFault(
          ofFile:
            "leads to the file \(name), which is not there: the folder belongs to the store and has to be copied with it"
        )
      }
      let input = try StoreInput(try fileSystem.openFile(atPath: path))
      guard input.size <= Self.greatestLength else {
        throw ValueFault(
          ofFile: "leads to the file \(name), which has \(input.size) bytes: a value has \(Self.greatestLength) at most"
        )
      }
      return try input.bytes()
    } catch let error as PersistenceError {
      throw ValueFault(ofFile: "leads to the file \(name), which cannot be read", underlyingError: error)
    }
  }

  /// The names of all files that have the form of such. What lies behind a symbolic link is somebody else's.
  func names() throws -> [String] {
    try support.files().map(PathParts.split).filter {
      $0.directory == Self.folderName && UUID(uuidString: $0.name) != nil
    }
    .map(\.name)
  }

  /// Whether a symbolic link leads to them, or none is there.
  var areBehindLink: Bool { (try? fileSystem.resolvingSymbolicLinks(inPath: folder)) != folder }

  /// Whether the files called `names` are there.
  func have(_ names: Set<String>) throws -> Bool { try support.hasFiles(paths(names)) }

  /// Copies the files called `names`.
  ///
  /// - Throws: ``PersistenceError/Code/fileNotFound`` where one is not there.
  func copy(_ names: Set<String>, to destination: ExternalFiles) throws {
    try support.copy(paths(names), to: destination.support)
  }

  /// The paths in the support folder of the files called `names`, but for names that no such file has.
  private func paths(_ names: Set<String>) -> [String] {
    names.filter { UUID(uuidString: $0) != nil }.sorted().map { PathParts.join(Self.folderName, $0) }
  }

  var support: SupportFolder { SupportFolder(path: supportFolder, fileSystem: fileSystem) }
}

// MARK: Writing

extension ExternalFiles {
  /// Writes data into a new file, which is on the disk when the call returns, but for its name: ``synchronize()`` sees to that.
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

  /// Lets those who may read or write the store, and nobody else, do so with a new file, or in a new folder.
  private func copyPermissions(to path: String) throws {
    if try fileSystem.status(atPath: storePath) == nil { return }
    try fileSystem.copyPermissions(ofFileAtPath: storePath, toPath: path)
  }

  /// Waits until the names of all files are on the disk.
  func synchronize() throws { try fileSystem.synchronizeDirectory(ofPath: path(".")) }

  /// Removes files. One that cannot be removed is no harm: it is tried again when the store is opened next.
  func remove(_ names: some Sequence<String>) {
    for name in names { try? fileSystem.removeFile(atPath: path(name)) }
  }

  /// Removes what writers have left that died while they wrote a file.
  func removeAbandonedFiles() {
    let files = (try? support.files().map(PathParts.split)) ?? []
    let names = files.filter { $0.directory == Self.folderName }.compactMap { Self.name(ofTemporaryFile: $0.name) }
    for name in Set(names) {
      try? fileSystem.removeAbandonedTemporaryFiles(besidePath: path(name))
    }
  }

  /// The name that a file that was being written, `.<UUID>.….heartwood-tmp`, was to have.
  private static func name(ofTemporaryFile name: String) -> String? {
    guard name.hasPrefix(".") else { return nil }
    let stem = String(name.dropFirst().prefix { $0 != "." })
    return UUID(uuidString: stem) == nil ? nil : stem
  }
}

// MARK: ExternalChanges

/// What one transaction does to the files that hold large binary data: new ones are written before the rows that name them, old ones go
/// when the rows that name them are gone for good.
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

  /// What a column gets that holds `bytes` or leads to them.
  func cell(for bytes: UnsafeRawBufferPointer) throws -> [UInt8] {
    guard bytes.count > ExternalFiles.greatestInlineLength else { return [ExternalFiles.inlineMark] + Array(bytes) }
    let name = try files.add(bytes)
    state.withLock { $0.written.append(name) }
    return [ExternalFiles.fileMark] + Array(name.utf8) + [0]
  }

  /// Notes that a row leads to the file called `name` no longer.
  func replace(_ name: String) {
    state.withLock { _ = $0.replaced.insert(name) }
  }

  /// Waits until all that was written is on the disk.
  func synchronize() throws {
    if state.withLock({ !$0.written.isEmpty }) { try files.synchronize() }
  }

  /// The transaction has ended: what it has replaced.
  func commit() -> Set<String> {
    take().replaced
  }

  /// The transaction has failed.
  ///
  /// - Parameter isUndone: whether it is certain that no row has been changed. Files of one of which nobody knows stay until the store
  ///   is opened next.
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

/// Finds which files with large binary data the rows of a database lead to.
enum ExternalNames {
  /// The mark, a UUID as text, and a NUL, which some may leave out.
  static let cellLengths = 37...38
  private static let uuidLength = 36

  /// All names, of whatever table and column: a model may not know all of them. O(rows), of which only the heads are read.
  static func all(in db: Database) throws -> Set<String> {
    let tables = try FileCatalog(db).tables.values
    return try all(
      in: tables.flatMap { table in
        table.columns.values.filter { $0.type == SQLiteColumnType.blob.rawValue }.map { (table.name, $0.name) }
      },
      db
    )
  }

  /// The same of tables that are known, or of views that stand for them.
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

  /// The name in a column of one row, or nil where there is none.
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

/// How often a file with large data could not be read: another process may have removed it, whose save a transaction does not see.
final class MissingFiles: Sendable {
  private let number = Atomic(0)

  var count: Int { number.load(ordering: .relaxed) }

  func note() { number.add(1, ordering: .relaxed) }
}
