import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore
import Synchronization

/// The tables of another program, which are read through a model that names their columns, and never written.
///
/// There is no change log: what others have saved is noticed by the server's list of transactions, and the known
/// records are then read again.
final class ForeignStore: IncrementalStore {
  private let location: PostgreSQLLocation
  private let schema: ForeignSchema
  private let storeMetadata: StoreMetadata
  private let session: PostgreSQLSession
  /// The data version that the current transaction sees; nil outside of one.
  private let version = Mutex<UInt64?>(nil)

  /// Returns the store for a schema that contains tables of the model, but none of a store; nil if there is no such
  /// schema, or the model does not name columns of keys.
  static func find(_ setup: StoreSetup, at location: PostgreSQLLocation) throws -> ForeignStore? {
    let entities = setup.entities
    guard ForeignSchema.isDescribed(by: entities) else { return nil }
    var options = setup.options
    // The server refuses writes, too.
    options[.isReadOnly] = true
    do {
      let connection = try PostgreSQLConnection(location, options: options)
      if try PostgreSQLStore.hasStore(location.schema, connection) { return nil }
      let catalog = try Catalog(schema: location.schema, connection)
      guard entities.contains(where: { catalog.tables[ForeignSchema.table($0)] != nil }) else { return nil }
      try PostgreSQLStore.checkServer(connection, location)
      let schema = try ForeignSchema(name: location.schema, model: setup.model, entities: entities, catalog)
      return ForeignStore(setup, location, options, schema, connection)
    } catch {
      throw PostgreSQLStore.persistenceError(error, at: location)
    }
  }

  private init(
    _ setup: StoreSetup,
    _ location: PostgreSQLLocation,
    _ options: StoreOptions,
    _ schema: ForeignSchema,
    _ connection: PostgreSQLConnection
  ) {
    (self.location, self.schema) = (location, schema)
    session = PostgreSQLSession(location, options, connection)
    let names = Set(setup.entities.map(\.name))
    storeMetadata = StoreMetadata(
      identifier: location.identifier,
      storeType: .postgreSQL,
      modelVersionHashes: setup.model.entityVersionHashesByName.filter { names.contains($0.key) },
      modelVersionIdentifiers: setup.model.versionIdentifiers
    )
  }

  func connect() throws -> StoreMetadata? {
    try withConnection { _ in storeMetadata }
  }

  func disconnect() {
    session.close()
    version.withLock { $0 = nil }
  }

  func metadata() throws -> StoreMetadata { storeMetadata }
}

extension PostgreSQLLocation {
  /// An identifier that is the same for the same schema of the same database.
  fileprivate var identifier: UUID {
    let names = ["host", "hostaddr", "port", "dbname", "service"].map { parameters[$0] ?? "" } + [schema]
    let text = names.joined(separator: "\u{0}")
    var bytes = [PostgreSQLName.hash(text), PostgreSQLName.hash(text + "\u{0}heartwood")].flatMap(\.bigEndianBytes)
    // A UUID of version 8, whose other bits are the program's own.
    bytes[6] = bytes[6] & 0x0F | 0x80
    bytes[8] = bytes[8] & 0x3F | 0x80
    return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }
}

// MARK: Connections

extension ForeignStore {
  /// Calls `body` with the connection. If the connection was lost outside of a transaction, it is made again.
  private func withConnection<Value>(_ body: (PostgreSQLConnection) throws -> Value) throws -> Value {
    do {
      if version.withLock({ $0 != nil }), let connection = session.current { return try body(connection) }
      return try session.connectingAgain { try body(try session.connection().connection) }
    } catch {
      throw PostgreSQLStore.persistenceError(error, at: location)
    }
  }

  /// Calls `body`, and adds the entity to an error of the server.
  private func naming<Value>(_ entity: EntityDescription, _ body: () throws -> Value) throws -> Value {
    try PostgreSQLStore.naming(entity, at: location, body)
  }

  private static let snapshot = "SELECT pg_current_snapshot()::text"

  /// Returns a number that differs if another transaction has been committed.
  func dataVersion() throws -> UInt64 {
    if let version = version.withLock({ $0 }) { return version }
    return try withConnection { connection in try Self.version(try connection.run(Self.snapshot)) }
  }

  private static func version(_ result: PostgreSQLResult) throws -> UInt64 {
    PostgreSQLName.hash(try result.first { try $0.text(0) ?? "" } ?? "")
  }

  /// Reads in one transaction, which sees the database as it is at one moment.
  func reading<Result>(_ body: () throws -> Result) throws -> Result {
    if version.withLock({ $0 != nil }) { return try body() }
    return try withConnection { connection in
      do {
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; \(Self.snapshot)"
        let version = try Self.version(try connection.execute(begin))
        self.version.withLock { $0 = version }
        defer { self.version.withLock { $0 = nil } }
        let result = try body()
        try connection.execute("COMMIT")
        return result
      } catch {
        session.rollBack(connection)
        throw error
      }
    }
  }
}

// MARK: Reading

extension ForeignStore {
  func load(_ entities: [EntityDescription], into loader: StoreLoader) throws {
    for entity in entities {
      try withConnection { connection in
        try naming(entity) { try reader(entity).readAll(connection, into: loader) }
      }
    }
  }

  func load(_ references: [ReferenceID], of entity: EntityDescription, into loader: StoreLoader) throws {
    if references.isEmpty { return }
    try withConnection { connection in
      try naming(entity) { try reader(entity).read(references, connection, into: loader) }
    }
  }

  private func reader(_ entity: EntityDescription) throws -> ForeignReader {
    ForeignReader(try schema.entity(entity), schema.translated)
  }

  func count(of entity: EntityDescription) throws -> Int {
    let table = schema.translated.source(try schema.translated.placement(of: entity).table)
    return try count(FetchStatement(text: "SELECT count(*) FROM \(table) AS r", parameters: []), entity)
  }

  private func count(_ query: FetchStatement, _ entity: EntityDescription) throws -> Int {
    try withConnection { connection in
      try naming(entity) {
        let result = try connection.run(query.text, query.parameters)
        return Int(clamping: try result.first { try $0.bigint(0) ?? 0 } ?? 0)
      }
    }
  }

  /// Finds records in SQL; returns nil if SQL would not find exactly what the predicate means.
  func fetch(_ fetch: RecordFetch) throws -> [ReferenceID]? {
    guard let query = keys(fetch) else { return nil }
    let key = try schema.entity(fetch.entity).key
    return try withConnection { connection in
      try naming(fetch.entity) {
        var references: [ReferenceID] = []
        try connection.run(query.text, query.parameters).forEachRow { row in
          guard let bytes = row[0] else { return }
          references.append(try key.reference(bytes))
        }
        return references
      }
    }
  }

  private func keys(_ fetch: RecordFetch) -> FetchStatement? {
    FetchTranslator.keys(fetch, in: schema.translated, of: storeMetadata.identifier)
  }

  func canAnswer(_ fetch: RecordFetch) throws -> Bool { keys(fetch) != nil }

  func count(_ fetch: RecordFetch) throws -> Int? {
    let query = FetchTranslator.count(fetch, in: schema.translated, of: storeMetadata.identifier)
    return try query.map { try count($0, fetch.entity) }
  }

  func queryPlan(_ fetch: RecordFetch) throws -> [String]? {
    guard let query = keys(fetch) else { return nil }
    return try withConnection { try query.plan($0) }
  }

  /// Always `true`: the inverse of a relationship is not stored a second time.
  var storesInversesOnce: Bool { true }
}

// MARK: Writing

extension ForeignStore {
  /// The error of every change.
  var refusal: PersistenceError {
    PersistenceError(
      .storeReadOnly,
      "The tables of the schema \(location.schema) are those of another program, and are only read. Nothing was changed.",
      recovery: "Convert them to a store in another schema: heartwood convert, or convert(_:to:).",
      context: .init(path: location.text, storeType: .postgreSQL)
    )
  }

  func create(_ metadata: StoreMetadata) throws { throw refusal }
  func newReferences(count: Int, for entity: EntityDescription) throws -> [ReferenceID] { throw refusal }
  func saving<Result>(_ body: () throws -> Result) throws -> Result { throw refusal }
  func save(_ changes: ChangeSet, over contents: StoreContents) throws { throw refusal }
  func saveMetadata(_ metadata: StoreMetadata) throws { throw refusal }
}
