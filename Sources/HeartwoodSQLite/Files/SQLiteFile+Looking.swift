package import GRDB
package import HeartwoodStore

extension SQLiteFile {
  /// Reads from the file at `path` without opening it as a store, and without a file beside it where that can be: where the file is at
  /// rest. A file with a log has one beside it already; reading then makes a `-shm` too, as any reader does.
  ///
  /// `body` may be called twice, where somebody begins to write meanwhile.
  package static func inspect<Value>(
    atPath path: String,
    options: StoreOptions = StoreOptions(),
    fileSystem: any FileSystem = POSIXFileSystem(),
    _ body: (Database) throws -> Value
  ) throws(PersistenceError) -> Value {
    let location = try SQLiteLocation(path, fileSystem: fileSystem)
    try location.checkMagic()
    let connections = SQLiteConnections(location: location, options: options)
    if SQLiteLocation.readsURIs, try location.isAtRest() {
      let before = try location.identity()
      let result = Result { try read(from: try connections.unchangingReader(), path: location.path, body) }
      if try location.isAtRest(), try location.identity() == before { return try unwrapped(result, location.path) }
    }
    return try unwrapped(
      Result { try read(from: try connections.reader(), path: location.path, body) },
      location.path
    )
  }

  private static func read<Value>(
    from reader: DatabaseQueue,
    path: String,
    _ body: (Database) throws -> Value
  ) throws -> Value {
    let result = Result { try reader.read(body) }
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
