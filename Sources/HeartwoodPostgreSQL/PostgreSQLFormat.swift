public import HeartwoodFoundation
public import HeartwoodModel
public import HeartwoodStore

/// A format for stores in PostgreSQL databases. Register it before use:
///
///     try registry.register(PostgreSQLFormat())
///     try coordinator.addPersistentStore(at: url)  // postgresql://ann@db.example/app/todos
///
/// A store is a schema of a database, and its location is a URL: see <doc:PostgreSQL>.
public struct PostgreSQLFormat: IncrementalStoreFormat {
  /// The capabilities of the format: it keeps all attribute types, and identifies records by UUIDs.
  public let typeDescription = StoreTypeDescription(
    type: .postgreSQL,
    displayName: "PostgreSQL",
    fileExtensions: [],
    urlSchemes: PostgreSQLLocation.schemes,
    capabilities: StoreCapabilities(
      kind: .incremental,
      features: [.persistence, .relationships, .userMetadata, .embeddedModel, .history],
      attributeTypes: Set(AttributeType.allCases),
      referenceKinds: [.uuid]
    )
  )

  /// Creates the format, to be registered.
  public init() {}

  /// Makes a store for a URL. It connects to the server only if the model names columns of keys, to find out whether
  /// the tables are those of another program.
  public func makeStore(_ setup: StoreSetup) throws -> any IncrementalStore {
    let location = try Self.location(of: setup)
    if let store = try ForeignStore.find(setup, at: location) { return store }
    return try PostgreSQLStore(
      model: setup.model,
      entities: setup.entities,
      location: location,
      options: setup.options
    )
  }

  static func location(of setup: StoreSetup) throws(PersistenceError) -> PostgreSQLLocation {
    guard case .url(let url) = setup.place else { throw noURL(setup.place?.description) }
    return try PostgreSQLLocation(url: url)
  }

  static func noURL(_ place: String?) -> PersistenceError {
    PersistenceError(
      .fileNotFound,
      "A PostgreSQL store is at a URL.",
      recovery: "Add it with a URL such as postgresql://user@host/database/schema.",
      context: .init(path: place, storeType: .postgreSQL)
    )
  }

  /// Returns the metadata of the store at a URL; nil if the schema contains no store.
  public func readMetadata(at url: URL, options: StoreOptions) throws -> StoreMetadata? {
    try PostgreSQLStore.metadata(at: try PostgreSQLLocation(url: url), options: options)
  }

  /// Returns the model that the store at a URL was written with; nil if the schema contains no store.
  public func readModel(at url: URL, options: StoreOptions) throws -> ManagedObjectModel? {
    try PostgreSQLStore.model(at: try PostgreSQLLocation(url: url), options: options)
  }

  /// Removes the tables of a store, and the schema if the store created it and it contains nothing else. Does nothing
  /// if there is no store.
  public func removeStore(at url: URL, options: StoreOptions) throws {
    try PostgreSQLStore.destroy(at: try PostgreSQLLocation(url: url), options: options)
  }

  /// Returns a URL of another schema in the same database.
  public func temporaryURL(for url: URL) throws -> URL? {
    let location = try PostgreSQLLocation(url: url)
    let mark = UUID().uuidString.replacing("-", with: "").lowercased()
    return URL(string: location.replacing(schema: "heartwood_\(mark)").text)
  }

  /// Renames the schema of a store to that of another store, which is removed, in one transaction. If that schema
  /// remains, for example because it contains other tables, the tables are moved there instead.
  public func moveStore(at temporary: URL, to url: URL, replacing: Bool, options: StoreOptions)
    throws
  {
    try PostgreSQLStore.move(
      from: try PostgreSQLLocation(url: temporary),
      to: try PostgreSQLLocation(url: url),
      replacing: replacing,
      options: options
    )
  }

  /// Refuses records if one refers to another that does not refer back: in the tables, either both would refer to each
  /// other, or neither. Refuses all records for a schema with the tables of another program.
  public func check(_ contents: StoreContents, for setup: StoreSetup) throws {
    if case .url(let url) = setup.place {
      let location = try PostgreSQLLocation(url: url)
      if let store = try ForeignStore.find(setup, at: location) { throw store.refusal }
    }
    let schema = try PostgreSQLSchema(
      name: PostgreSQLLocation.defaultSchema,
      model: setup.model,
      entities: setup.entities
    )
    try contents.checkInverses(for: setup, .postgreSQL, sharedInverse: schema.sharedInverse)
  }
}
