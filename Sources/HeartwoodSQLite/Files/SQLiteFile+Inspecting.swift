package import GRDB
package import HeartwoodStore

extension SQLiteFile {
  /// Reads from the file at `path` without opening it as a store, and without a file beside it where that can be: where the file is at
  /// rest. A file with a log has one beside it already; reading then makes a `-shm` too, as any reader does, or is refused where the file
  /// cannot be written.
  ///
  /// `body` may be called twice, where somebody begins to write meanwhile.
  package static func inspect<Value>(
    atPath path: String,
    options: StoreOptions = StoreOptions(),
    fileSystem: any FileSystem = POSIXFileSystem(),
    _ body: (Database) throws -> Value
  ) throws(PersistenceError) -> Value {
    try inspect(atPath: path, options, fileSystem) { connections, access in
      try closing(try connections.reader(access)) { try $0.read(body) }
    }
  }

  /// The same, but `body` finds the file by the name ``sourceName``, in a connection that can have temporary views and nothing else of its own.
  static func inspectAsSource<Value>(
    atPath path: String,
    options: StoreOptions,
    _ body: (Database) throws -> Value?
  ) throws(PersistenceError) -> Value? {
    try inspect(atPath: path, options, POSIXFileSystem()) { connections, access in
      try closing(try connections.readerAsSource(access)) { reader in
        try reader.inDatabase { db in
          var value: Value?
          try db.inTransaction(.deferred) {
            value = try body(db)
            return .rollback
          }
          return value
        }
      }
    }
  }

  private static func inspect<Value>(
    atPath path: String,
    _ options: StoreOptions,
    _ fileSystem: any FileSystem,
    _ read: (SQLiteConnections, SQLiteLocation.Access) throws -> Value
  ) throws(PersistenceError) -> Value {
    let location = try SQLiteLocation(path, fileSystem: fileSystem)
    try location.checkHeader()
    try location.checkReadable()
    let connections = SQLiteConnections(location: location, options: options)
    if SQLiteLocation.readsURIs, try location.isAtRest() {
      let before = try location.identity()
      let result = Result { try read(connections, .unchanging) }
      if try location.isAtRest(), try location.identity() == before { return try unwrapped(result, location.path) }
    }
    return try unwrapped(Result { try read(connections, .read) }, location.path)
  }

  private static func closing<Value>(
    _ reader: DatabaseQueue,
    _ body: (DatabaseQueue) throws -> Value
  ) throws -> Value {
    let result = Result { try body(reader) }
    try reader.close()
    return try result.get()
  }

  private static func unwrapped<Value>(
    _ result: Result<Value, any Error>,
    _ path: String
  ) throws(PersistenceError) -> Value {
    do {
      return try result.get()
    } catch {
      throw SQLiteFailure.error(error, path: path)
    }
  }
}
