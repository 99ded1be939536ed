import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore
import Synchronization

/// A store whose records are rows of PostgreSQL tables: a schema of a database, with a table for each root entity.
///
/// Records are read when they are needed, and written row by row, in a transaction that is on the server's disk when
/// the save returns. Changes that other processes and hosts save are visible to the next fetch.
///
/// Methods block until the server answers, as those of every store block: a background context runs them on a thread of
/// its own.
final class PostgreSQLStore: IncrementalStore {
  let location: PostgreSQLLocation
  let options: StoreOptions
  let schema: PostgreSQLSchema
  let session: PostgreSQLSession
  /// The slot of the store: the row in which it records its saves. No other open store has it, so that no save waits
  /// for another.
  let slot = Int64.random(in: 1 ... .max)
  let state = Mutex(State())

  /// The state that belongs to the connection.
  struct State: Sendable {
    /// The current transaction; nil outside of one.
    var transaction: Transaction?
    /// The identifier of the store when it was last read.
    var identifier: UUID?
    /// The marks that were seen over this connection.
    var marks = KnownMarks()
    /// The number of the store's saves, as far as it knows that they were committed.
    var saveCount: Int64 = 0
  }

  init(
    model: ManagedObjectModel,
    entities: [EntityDescription],
    location: PostgreSQLLocation,
    options: StoreOptions
  ) throws {
    self.location = location
    self.options = options
    schema = try PostgreSQLSchema(name: location.schema, model: model, entities: entities)
    session = PostgreSQLSession(location, options)
  }
}

// MARK: Connecting

extension PostgreSQLStore {
  /// The version of the table format.
  static let format: Int64 = 3

  /// Connects to the server; returns nil if the schema contains no store.
  func connect() throws -> StoreMetadata? {
    do {
      return try withConnection { connection in
        try Self.checkServer(connection, location)
        guard try Self.hasStore(schema.name, connection) else { return nil }
        let metadata = try readMetadata(connection)
        if !options[.isReadOnly] { try foldSlots(connection) }
        return metadata
      }
    } catch {
      disconnect()
      throw error
    }
  }

  static func hasStore(_ schema: String, _ connection: PostgreSQLConnection) throws -> Bool {
    let query = """
      SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
      WHERE n.nspname = $1::text AND c.relname = $2::text)
      """
    let parameters = [PostgreSQLParameter.text(schema), .text(PostgreSQLSchema.storeTable)]
    return try connection.run(query, parameters).first { try $0.boolean(0) ?? false } ?? false
  }

  /// The maximum number of slots that stores which are no longer open may leave.
  private static let greatestSlotCount: Int64 = 64

  /// Combines the slots of stores that have not saved for a long time, so that there are never many. The mark of all
  /// slots together stays the same.
  private func foldSlots(_ connection: PostgreSQLConnection) throws {
    let table = schema.qualified(PostgreSQLSchema.markTable)
    let count =
      try connection.run("SELECT count(*) FROM \(table)").first { try $0.bigint(0) ?? 0 } ?? 0
    if count <= Self.greatestSlotCount { return }
    do {
      try connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
      var (saves, stamp): (Int64, Int64) = (0, 0)
      try connection.runOnce(
        "DELETE FROM \(table) WHERE slot <> 0 AND saved_at < now() - interval '1 day' RETURNING saves, stamp"
      ).forEachRow { row in
        saves &+= try row.required(0, row.bigint)
        stamp ^= try row.required(1, row.bigint)
      }
      try connection.runOnce(
        "UPDATE \(table) SET saves = saves + $1, stamp = stamp # $2 WHERE slot = 0",
        [.bigint(saves), .bigint(stamp)]
      )
      try connection.runOnce(
        "DELETE FROM \(schema.qualified(PostgreSQLSchema.logTable)) AS l "
          + "WHERE NOT EXISTS (SELECT 1 FROM \(table) AS m WHERE m.slot = l.slot)"
      )
      try connection.execute("COMMIT")
    } catch let error as PostgreSQLError where error.sqlState == "40001" {
      // Another client is doing the same, or is saving; a later call can do it.
      rollBack(connection)
    } catch {
      rollBack(connection)
      throw error
    }
  }

  /// Creates the schema and its tables, without records.
  func create(_ metadata: StoreMetadata) throws {
    try withConnection { connection in
      try connection.execute("BEGIN")
      do {
        try make(metadata, connection)
        try connection.execute("COMMIT")
      } catch {
        rollBack(connection)
        // If several clients create the same store, one creates it, and the others find its names taken.
        if error.serverError?.isOfTakenName == true, try Self.hasStore(schema.name, connection) { throw storeExists }
        throw error
      }
    }
  }

  private var storeExists: PersistenceError {
    PersistenceError(
      .fileExists,
      "There is a store in the schema already.",
      recovery: "Choose another schema.",
      context: .init(path: location.text, storeType: .postgreSQL)
    )
  }

  private func make(_ metadata: StoreMetadata, _ connection: PostgreSQLConnection) throws {
    if try Self.hasStore(schema.name, connection) { throw storeExists }
    let exists = try Self.hasSchema(schema.name, connection)
    if !exists { try connection.execute("CREATE SCHEMA \(PostgreSQLName.quoted(schema.name))") }
    for statement in schema.creation(notesOthers: options[.postgresNotesOtherClients], in: connection.dialect) {
      try connection.execute(statement)
    }
    try Self.writeStoreRow(metadata, schema, ownsSchema: !exists, connection)
  }

  /// Writes the row in which a new store describes itself.
  static func writeStoreRow(
    _ metadata: StoreMetadata,
    _ schema: PostgreSQLSchema,
    ownsSchema: Bool,
    _ connection: PostgreSQLConnection
  ) throws {
    try connection.runOnce(
      "INSERT INTO \(schema.qualified(PostgreSQLSchema.storeTable)) VALUES (1, $1, \(format), $2, $3, $4)",
      [
        .uuid(metadata.identifier), .bytea(try MetadataCoding.data(metadata)),
        .bytea(try schema.model.encoded()),
        .boolean(ownsSchema),
      ]
    )
    try connection.runOnce(
      "INSERT INTO \(schema.qualified(PostgreSQLSchema.markTable)) (slot, saves, stamp) VALUES (0, 0, $1)",
      [.bigint(.random(in: .min ... .max))]
    )
  }

  /// The oldest version of PostgreSQL that has all required features: 13.
  private static let leastServerVersion = 130_000

  static func checkServer(_ connection: PostgreSQLConnection, _ location: PostgreSQLLocation) throws {
    guard connection.serverVersion >= leastServerVersion else {
      throw PersistenceError(
        .fileFormatUnsupported,
        "The server is PostgreSQL \(connection.serverVersion / 10_000); a store needs version 13 or a later one.",
        context: .init(path: location.text, storeType: .postgreSQL)
      )
    }
    let encoding = try connection.execute("SHOW server_encoding").first { row in try row.text(0) }
    guard encoding == "UTF8" else {
      throw PersistenceError(
        .fileFormatUnsupported,
        "The database is of the encoding \((encoding ?? nil) ?? "that is not known"); a store needs UTF8.",
        recovery: "Create another one with createdb --encoding=UTF8 --template=template0.",
        context: .init(path: location.text, storeType: .postgreSQL)
      )
    }
  }

  /// Closes the connection.
  func disconnect() {
    session.close()
    state.withLock { $0 = State() }
  }
}

extension PostgreSQLError {
  /// Whether a schema or a table was to be created that another client has created.
  fileprivate var isOfTakenName: Bool { ["23505", "42P06", "42P07", "42710"].contains(sqlState) }
}

// MARK: Metadata

extension PostgreSQLStore {
  /// Returns the metadata that is in the database.
  func metadata() throws -> StoreMetadata {
    try withConnection { connection in try readMetadata(connection) }
  }

  /// Returns the identifier of the store.
  func identifier() throws -> UUID {
    if let identifier = state.withLock({ $0.identifier }) { return identifier }
    return try metadata().identifier
  }

  private func readMetadata(_ connection: PostgreSQLConnection) throws -> StoreMetadata {
    let metadata = try Self.readMetadata(schemaName: schema.name, connection)
    state.withLock { $0.identifier = metadata.identifier }
    return metadata
  }

  /// Writes the metadata and the model.
  func saveMetadata(_ metadata: StoreMetadata) throws {
    _ = try writing { connection in
      try connection.run(
        "UPDATE \(schema.qualified(PostgreSQLSchema.storeTable)) SET identifier = $1, metadata = $2, model = $3 WHERE id = 1",
        [
          .uuid(metadata.identifier), .bytea(try MetadataCoding.data(metadata)),
          .bytea(try schema.model.encoded()),
        ]
      )
    }
  }
}

/// Encodes and decodes metadata as JSON.
enum MetadataCoding {
  private static let (infinity, negativeInfinity, notANumber) = ("inf", "-inf", "nan")

  static func data(_ metadata: StoreMetadata) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: infinity,
      negativeInfinity: negativeInfinity,
      nan: notANumber
    )
    return try encoder.encode(metadata)
  }

  static func metadata(_ data: Data) throws -> StoreMetadata {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: infinity,
      negativeInfinity: negativeInfinity,
      nan: notANumber
    )
    do {
      return try decoder.decode(StoreMetadata.self, from: data)
    } catch {
      throw PersistenceError(
        .fileMalformed,
        "The metadata in the table \(PostgreSQLSchema.storeTable) cannot be read.",
        context: .init(storeType: .postgreSQL),
        underlyingError: error
      )
    }
  }
}
