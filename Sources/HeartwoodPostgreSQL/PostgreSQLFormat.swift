public import HeartwoodFoundation
public import HeartwoodModel
public import HeartwoodStore

/// Stores in PostgreSQL databases, to be registered:
///
///     try registry.register(PostgreSQLFormat())
///     try coordinator.addPersistentStore(at: url)  // postgresql://ann@db.example/app/todos
///
/// A store is a schema, and its place a URL: see <doc:PostgreSQL>.
public struct PostgreSQLFormat: IncrementalStoreFormat {
  /// What is kept how: all attribute types, under UUIDs.
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

  /// Makes the format.
  public init() {}

  /// Makes a store at a URL.
  public func makeStore(_ setup: StoreSetup) throws -> any IncrementalStore {
    try PostgreSQLStore(
      model: setup.model,
      entities: setup.entities,
      location: try Self.location(of: setup),
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

  /// The metadata of the store at a URL; nil if the schema has no store.
  public func readMetadata(at url: URL, options: StoreOptions) throws -> StoreMetadata? {
    try PostgreSQLStore.metadata(at: try PostgreSQLLocation(url: url), options: options)
  }

  /// The model that the store at a URL was written with; nil if the schema has no store.
  public func readModel(at url: URL, options: StoreOptions) throws -> ManagedObjectModel? {
    try PostgreSQLStore.model(at: try PostgreSQLLocation(url: url), options: options)
  }

  /// Removes the tables of a store, and the schema if the store has made it and nothing else is there. Does nothing if there is no store.
  public func removeStore(at url: URL, options: StoreOptions) throws {
    try PostgreSQLStore.destroy(at: try PostgreSQLLocation(url: url), options: options)
  }

  /// A URL of another schema in the same database.
  public func temporaryURL(for url: URL) throws -> URL? {
    let location = try PostgreSQLLocation(url: url)
    let mark = UUID().uuidString.replacing("-", with: "").lowercased()
    return URL(string: location.replacing(schema: "heartwood_\(mark)").text)
  }

  /// Gives the schema of a store the name of another one, whose store is removed, in one transaction. If other tables are in the old schema, the new
  /// tables go there.
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

  /// Refuses records one of which leads to another that does not lead back: in the tables, both would, or neither.
  public func check(_ contents: StoreContents, for setup: StoreSetup) throws {
    let schema = try PostgreSQLSchema(
      name: PostgreSQLLocation.defaultSchema,
      model: setup.model,
      entities: setup.entities
    )
    try contents.checkInverses(try schema.sharedRelationships(), for: setup, .postgreSQL)
  }
}
