import GRDB
import HeartwoodStore

// MARK: Making

extension SQLiteFile {
  /// Creates a database at `path`, where no file may exist, and calls `body` to fill it: the file gets its name only
  /// when it is complete and on the disk.
  ///
  /// - Throws: ``PersistenceError/Code/fileExists``.
  static func create(
    atPath path: String,
    options: StoreOptions = StoreOptions(),
    fileSystem: any FileSystem = POSIXFileSystem(),
    _ body: (Database) throws -> Void
  ) throws(PersistenceError) {
    try make(atPath: path, options, fileSystem) { writer in
      try writer.writeWithoutTransaction { db in try transaction(db, body) }
    }
  }

  /// Creates a database at `path`, where no file may exist, from another one, which is attached for reading under the
  /// name ``sourceName``. If `body` returns nil, its changes are not kept: the file then has no tables.
  static func create<Value>(
    atPath path: String,
    from source: String,
    options: StoreOptions,
    _ body: (Database) throws -> Value?
  ) throws(PersistenceError) -> Value? {
    let fileSystem = POSIXFileSystem()
    let location = try SQLiteLocation(source, fileSystem: fileSystem)
    defer { withExtendedLifetime(location) {} }
    return try make(atPath: path, options, fileSystem) { writer in
      try writer.writeWithoutTransaction { db in
        let resting = try attach(location, to: db)
        var value: Value?
        try db.inTransaction(.immediate) {
          value = try RestingFile.reading(resting) { try body(db) }
          return value == nil ? .rollback : .commit
        }
        return value
      }
    }
  }

  /// Attaches another database to a connection for reading, also if no file can be made beside it and none is needed.
  ///
  /// - Returns: the other file if it is read as if nothing writes to it.
  private static func attach(_ location: SQLiteLocation, to db: Database) throws -> RestingFile? {
    var isAttached = false
    return try location.reading { access in
      // It may be attached after a failed attempt to read it.
      // try?: attaching it again throws the actual error.
      if isAttached { try? db.execute(sql: "DETACH DATABASE \(sourceName)") }
      isAttached = true
      try location.attach(access, to: db)
      _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM \(sourceName).sqlite_schema")
    }.resting
  }

  /// The name under which a source database is attached.
  static let sourceName = "source"

  /// Copies the database as it is now to `path`, where no file may exist, page by page, while others may save. The copy
  /// has the permissions of the file; `body` inspects it before it gets its name.
  func copy<Value>(toPath path: String, _ body: (Database) throws -> Value) throws(PersistenceError) -> Value {
    try Self.make(atPath: path, like: self.path, StoreOptions(), POSIXFileSystem()) { writer in
      try writer.writeWithoutTransaction { copy in try self.copy(to: copy, body) }
    }
  }

  private func copy<Value>(to copy: Database, _ body: (Database) throws -> Value) throws -> Value {
    try read { db in try db.backup(to: copy) }
    return try body(copy)
  }

  /// The owner writes a file before it gets permissions that may forbid that.
  private static let ownerPermissions: UInt32 = 0o600

  /// - Parameter original: a file whose permissions the new one gets; nil means those of a new file.
  private static func make<Value>(
    atPath path: String,
    like original: String? = nil,
    _ options: StoreOptions,
    _ fileSystem: any FileSystem,
    _ fill: (DatabaseQueue) throws -> Value
  ) throws(PersistenceError) -> Value {
    guard try fileSystem.status(atPath: path) == nil else {
      let context = PersistenceError.Context(path: path, storeType: .sqlite)
      throw PersistenceError(.fileExists, "There is a file already. Nothing was changed.", context: context)
    }
    try fileSystem.removeAbandonedTemporaryFiles(besidePath: path)
    var permissions: UInt32?
    if let original { permissions = try fileSystem.status(atPath: original)?.permissions }
    let temporary = try fileSystem.createTemporaryFile(
      besidePath: path,
      permissions: permissions.map { $0 | ownerPermissions }
    )
    do {
      let value = try closing(temporary) {
        let value = try fillFile(atPath: temporary.path, options, fileSystem, fill)
        if let original { try fileSystem.copyPermissions(ofFileAtPath: original, toPath: temporary.path) }
        try place(temporary.path, at: path, fileSystem)
        return value
      }
      try fileSystem.synchronizeDirectory(ofPath: path)
      return value
    } catch {
      for path in [temporary.path] + SQLiteLocation.sideFiles(ofFileAt: temporary.path) {
        // try?: the error that made the file fail is thrown.
        try? fileSystem.removeFile(atPath: path)
      }
      throw SQLiteFailure.error(error, path: path)
    }
  }

  /// Closes a file after `body`. It is closed only once, because its descriptor may belong to another file afterwards.
  private static func closing<Value>(_ file: any WritableFile, _ body: () throws -> Value) throws -> Value {
    let value: Value
    do {
      value = try body()
    } catch {
      // try?: as above.
      try? file.close()
      throw error
    }
    try file.close()
    return value
  }

  /// Moves a file to its path, at which there must be no log of another file: SQLite would use it as the log of this
  /// one.
  private static func place(_ temporary: String, at path: String, _ fileSystem: any FileSystem) throws {
    // Other processes that create the file wait, so that no log is in use.
    let lock = try fileSystem.lockFile(atPath: PathParts.split(path).directory)
    defer { lock?.release() }
    if try fileSystem.status(atPath: path) == nil {
      for sideFile in SQLiteLocation.sideFiles(ofFileAt: path) { try fileSystem.removeFile(atPath: sideFile) }
    }
    try fileSystem.moveFile(atPath: temporary, toPath: path, exclusively: true)
  }

  private static func fillFile<Value>(
    atPath path: String,
    _ options: StoreOptions,
    _ fileSystem: any FileSystem,
    _ fill: (DatabaseQueue) throws -> Value
  ) throws -> Value {
    let location = try SQLiteLocation(path, fileSystem: fileSystem)
    let writer = try SQLiteConnections(location: location, options: options).creator()
    do {
      let value = try fill(writer)
      try writer.close()
      return value
    } catch {
      // try?: as above.
      try? writer.close()
      throw error
    }
  }
}

// MARK: RestingFile

/// A file that was at rest when it was opened, and is read as if nothing writes to it: without locks and without files
/// beside it.
struct RestingFile: Sendable {
  private let location: SQLiteLocation
  private let identity: FileIdentity

  /// Returns nil if the file is not at rest.
  init?(_ location: SQLiteLocation) throws(PersistenceError) {
    guard let identity = try location.identity(), SQLiteLocation.readsURIs, try location.isAtRest() else { return nil }
    (self.location, self.identity) = (location, identity)
  }

  /// Calls `body`, which reads the file.
  ///
  /// - Throws: ``PersistenceError/Code/fileChangedOnDisk`` if another process wrote to it nevertheless, so that the
  ///   data may be from several moments, or if the file is no longer at its path.
  static func reading<Value>(_ file: RestingFile?, _ body: () throws -> Value) throws -> Value {
    guard let file else { return try body() }
    let result = Result { try body() }
    try file.check()
    return try result.get()
  }

  func check() throws(PersistenceError) {
    guard let found = try location.identity(), found.isSameFile(as: identity) else {
      throw changed(
        "The file was moved, removed or replaced since it was opened.",
        recovery: "Open the store again where it is now."
      )
    }
    if found == identity, try location.isAtRest() { return }
    throw changed(
      "Another process has written to the file since it was opened. It was opened as a file that does not change, because it or its "
        + "folder cannot be written.",
      recovery: .openAgain
    )
  }

  private func changed(_ problem: String, recovery: PersistenceError.Recovery) -> PersistenceError {
    PersistenceError(
      .fileChangedOnDisk,
      problem,
      recovery: recovery,
      context: .init(path: location.path, storeType: .sqlite)
    )
  }
}

extension SQLiteLocation {
  /// Calls `open`, which opens the file for reading: as a file that nothing writes to, if that is better, or if nothing
  /// else is possible and no file beside it is needed.
  ///
  /// - Returns: the result of `open`, and the file if it is read that way.
  func reading<Result>(_ open: (Access) throws -> Result) throws -> (Result, resting: RestingFile?) {
    // A process that is closing the file may be removing its log.
    try checkReadable()
    if try shouldBeReadAsUnchanging(), let resting = try RestingFile(self) { return (try open(.unchanging), resting) }
    do {
      return (try open(.read), nil)
    } catch {
      guard try canBeReadAsUnchanging(after: error), let resting = try RestingFile(self) else { throw error }
      return (try open(.unchanging), resting)
    }
  }
}

extension SQLiteConnections {
  /// Returns two connections that read, also if no file can be made beside this one and none is needed.
  func readers() throws(PersistenceError) -> (first: DatabaseQueue, second: DatabaseQueue, resting: RestingFile?) {
    do {
      let (readers, resting) = try location.reading { access in (try reader(access), try reader(access)) }
      return (readers.0, readers.1, resting)
    } catch {
      throw SQLiteFailure.error(error, path: location.path)
    }
  }
}
