public import HeartwoodStore
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// MARK: Connecting

extension SQLiteStore {
  /// An open file, and what of it is known.
  struct Connection: Sendable {
    let file: SQLiteFile
    /// The store's identifier, as it was when the file was opened.
    var storeIdentifier: UUID?
    /// Where everything is; nil until something is looked for.
    var schema: SQLiteSchema?
    /// What reads records, by the ordinal of their entity.
    var readers: [Int: RecordReader] = [:]
    /// The database within a transaction; nil outside of one.
    var transaction: Transaction?
    /// The transaction that waits for the disk, where others read beside it.
    var commit: Commit?
    /// Whether the file has a write-ahead log; nil until somebody asks.
    var isLogged: Bool?
  }

  /// Opens the file; nil where there is none, or one without a byte.
  public func connect() throws -> StoreMetadata? {
    guard let status = try POSIXFileSystem().status(atPath: path), status.size > 0 || !status.isRegularFile else {
      return nil
    }
    let file = try SQLiteFile.open(
      atPath: path,
      options: setup.options,
      isReadOnly: setup.options[.isReadOnly] ?? false,
      checking: SQLiteMetadata.checkPresence
    )
    connection.withLock { $0 = Connection(file: file) }
    do {
      let metadata = try metadata()
      connection.withLock { $0?.storeIdentifier = metadata.identifier }
      if !file.isReadOnly { try tidy(file) }
      return metadata
    } catch {
      // What is closed in order leaves nothing beside the file.
      disconnect()
      throw error
    }
  }

  /// Makes the file, with all tables and no record, and opens it. Where a symbolic link leads to its place, the link stays.
  public func create(_ metadata: StoreMetadata) throws {
    let target = try POSIXFileSystem().resolvingSymbolicLinks(inPath: path)
    try removeEmptyFile(atPath: target)
    let schema = try SQLiteSchema(model: setup.model, entities: setup.entities)
    try SQLiteFile.create(atPath: target, options: setup.options) { db in
      try schema.create(in: db)
      try SQLiteMetadata(metadata).write(to: db, model: setup.model)
      try SQLiteModelCache.write(setup.model, to: db)
    }
    _ = try connect()
  }

  /// Makes room for the file, unless another process has filled it meanwhile.
  private func removeEmptyFile(atPath path: String) throws {
    let fileSystem = POSIXFileSystem()
    guard let lock = try fileSystem.lockFile(atPath: path) else { return }
    defer { lock.release() }
    if let status = try fileSystem.status(atPath: path), status.isRegularFile, status.size == 0 {
      try fileSystem.removeFile(atPath: path)
    }
  }

  /// Closes the file.
  public func disconnect() {
    let open = connection.withLock { $0.take() }
    // try?: where it cannot be closed in order, the system closes it, and SQLite puts the rest right when it is opened again.
    try? open?.file.close()
  }

  func file() throws(PersistenceError) -> SQLiteFile {
    if let file = connection.withLock({ $0?.file }) { return file }
    throw PersistenceError(.storeNotOpen, "The file is not open.", context: .init(path: path, storeType: .sqlite))
  }
}
