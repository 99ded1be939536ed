package import GRDB
package import HeartwoodStore

// MARK: Making

extension SQLiteFile {
  /// Makes a database at `path`, where nothing may be, and lets `body` fill it: the file has its name only when it is whole and on the disk.
  ///
  /// - Throws: ``PersistenceError/Code/fileExists``.
  package static func create(
    atPath path: String,
    options: StoreOptions = StoreOptions(),
    fileSystem: any FileSystem = POSIXFileSystem(),
    _ body: (Database) throws -> Void
  ) throws(PersistenceError) {
    try make(atPath: path, options, fileSystem) { writer in
      try writer.writeWithoutTransaction { db in try transaction(db, body) }
    }
  }

  /// Makes a database at `path`, where nothing may be, of another one: `body` finds that by the name ``sourceName``, and can only read it. What
  /// `body` answers nil for is not kept: then the file is one without a table.
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

  /// Lets a connection read another database, also where no file can be made beside that and none is needed.
  ///
  /// - Returns: the other one, where it is read as one that nobody writes.
  private static func attach(_ location: SQLiteLocation, to db: Database) throws -> RestingFile? {
    var isAttached = false
    return try location.reading { access in
      // It may be there from an attempt that could not read it.
      // try?: attaching it again throws what is wrong.
      if isAttached { try? db.execute(sql: "DETACH DATABASE \(sourceName)") }
      isAttached = true
      try location.attach(access, to: db)
      _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM \(sourceName).sqlite_schema")
    }.resting
  }

  /// What a database is called of which another one is made.
  static let sourceName = "source"

  /// Writes what is in the database now as a new one at `path`, where nothing may be, while others may save: page by page, as it is at one
  /// moment. The copy has the permissions of the file; `body` looks at it before it has its name.
  func copy<Value>(toPath path: String, _ body: (Database) throws -> Value) throws(PersistenceError) -> Value {
    try Self.make(atPath: path, like: self.path, StoreOptions(), POSIXFileSystem()) { writer in
      try writer.writeWithoutTransaction { copy in try self.copy(to: copy, body) }
    }
  }

  private func copy<Value>(to copy: Database, _ body: (Database) throws -> Value) throws -> Value {
    try read { db in try db.backup(to: copy) }
    return try body(copy)
  }

  /// The owner writes a file before it gets permissions that forbid that.
  private static let ownerPermissions: UInt32 = 0o600

  /// - Parameter original: a file whose permissions the new one gets; nil means those that a new file gets.
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
        // try?: the error that made it vain is thrown.
        try? fileSystem.removeFile(atPath: path)
      }
      throw SQLiteFailure.error(error, path: path)
    }
  }

  /// Closes a file once `body` is done: once only, since its descriptor may be another file's afterwards.
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

  /// Gives a file its name, by which no log is that was another file's: SQLite would take it for this one's.
  private static func place(_ temporary: String, at path: String, _ fileSystem: any FileSystem) throws {
    // Whoever else makes the file waits, so that no log is in use.
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

/// A file that was at rest when it was opened, and is read as one that nobody writes: without locks and without files beside it.
struct RestingFile: Sendable {
  private let location: SQLiteLocation
  private let identity: FileIdentity

  /// Nil where the file is not at rest.
  init?(_ location: SQLiteLocation) throws(PersistenceError) {
    guard let identity = try location.identity(), SQLiteLocation.readsURIs, try location.isAtRest() else { return nil }
    (self.location, self.identity) = (location, identity)
  }

  /// Calls `body`, which reads the file.
  ///
  /// - Throws: ``PersistenceError/Code/fileChangedOnDisk`` where somebody writes after all, so that what was read may be of several moments,
  ///   or where the file is not at its place any more.
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
      "Somebody has written to the file since it was opened. It was at rest then, and is read as a file that nobody writes, since it or its "
        + "folder must not be written here.",
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
  /// Calls `open`, which opens the file for reading: as one that nobody writes where that is better, or where nothing else can be done and no file
  /// beside it is needed.
  ///
  /// - Returns: what `open` gives, and the file where it is read so.
  func reading<Result>(_ open: (Access) throws -> Result) throws -> (Result, resting: RestingFile?) {
    // Who closes the file may be removing its log.
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
  /// Two connections that read, also where no file can be made beside this one and none is needed.
  func readers() throws(PersistenceError) -> (first: DatabaseQueue, second: DatabaseQueue, resting: RestingFile?) {
    do {
      let (readers, resting) = try location.reading { access in (try reader(access), try reader(access)) }
      return (readers.0, readers.1, resting)
    } catch {
      throw SQLiteFailure.error(error, path: location.path)
    }
  }
}
