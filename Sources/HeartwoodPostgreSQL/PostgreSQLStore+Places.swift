import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

// MARK: Without opening

extension PostgreSQLStore {
  /// Returns the metadata of the store at a location; nil if there is none.
  static func metadata(at location: PostgreSQLLocation, options: StoreOptions) throws
    -> StoreMetadata?
  {
    try examining(location, options) { connection in
      guard try hasStore(location.schema, connection) else { return nil }
      return try readMetadata(schemaName: location.schema, connection)
    }
  }

  /// Returns the model that the store at a location was written with; nil if there is none.
  static func model(at location: PostgreSQLLocation, options: StoreOptions) throws
    -> ManagedObjectModel?
  {
    try examining(location, options) { connection in
      guard try hasStore(location.schema, connection) else { return nil }
      return try readModel(schemaName: location.schema, connection)
    }
  }

  /// Removes the tables of the store at a location, and the schema if the store created it and it contains nothing
  /// else. Does nothing if there is no store.
  static func destroy(at location: PostgreSQLLocation, options: StoreOptions) throws {
    try examining(location, options) { connection in
      try connection.execute("BEGIN")
      do {
        if try hasStore(location.schema, connection) { try drop(location.schema, connection) }
        try connection.execute("COMMIT")
      } catch {
        // try?: the connection is closed next, and the transaction ends with it.
        _ = try? connection.execute("ROLLBACK")
        throw error
      }
    }
  }

  private static func drop(_ name: String, _ connection: PostgreSQLConnection) throws {
    let table = qualified(name, PostgreSQLSchema.storeTable)
    let owns = try connection.run("SELECT owns_schema FROM \(table) WHERE id = 1").first {
      try $0.boolean(0) ?? false
    }
    let schema = try schema(ofStoreIn: name, connection)
    // One statement drops tables that refer to each other together; objects of other users that depend on them make it
    // fail.
    try connection.execute(
      "DROP TABLE \(schema.allTables.map { qualified(name, $0) }.joined(separator: ", "))"
    )
    for function in schema.triggerFunctions {
      try connection.execute("DROP FUNCTION IF EXISTS \(qualified(name, function))()")
    }
    let isEmpty = try connection.run(
      """
      SELECT NOT EXISTS (SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
      WHERE n.nspname = $1::text)
      """,
      [.text(name)]
    ).first { try $0.boolean(0) ?? false }
    if owns == true, isEmpty == true {
      try connection.execute("DROP SCHEMA \(PostgreSQLName.quoted(name)) CASCADE")
    }
  }

  /// Moves a store to the location of another one, in one transaction.
  ///
  /// - Parameter replacing: whether a store at the location is removed; otherwise there must be none.
  static func move(
    from location: PostgreSQLLocation,
    to destination: PostgreSQLLocation,
    replacing: Bool,
    options: StoreOptions
  ) throws {
    let (name, newName) = (location.schema, destination.schema)
    try examining(destination, options) { connection in
      try connection.execute("BEGIN")
      do {
        if try hasStore(newName, connection) {
          guard replacing else {
            throw PersistenceError(
              .fileExists,
              "There is a store in the schema already.",
              recovery: .replaceFile
            )
          }
          try drop(newName, connection)
        }
        if try hasSchema(newName, connection) {
          try moveTables(from: name, to: newName, connection)
        } else {
          try connection.execute(
            "ALTER SCHEMA \(PostgreSQLName.quoted(name)) RENAME TO \(PostgreSQLName.quoted(newName))"
          )
        }
        try connection.execute("COMMIT")
      } catch {
        // try?: the connection is closed next, and the transaction ends with it.
        _ = try? connection.execute("ROLLBACK")
        throw error
      }
    }
  }

  /// Moves the tables of a store to an existing schema.
  private static func moveTables(
    from name: String,
    to newName: String,
    _ connection: PostgreSQLConnection
  ) throws {
    let schema = try Self.schema(ofStoreIn: name, connection)
    for table in schema.allTables {
      try connection.execute(
        "ALTER TABLE \(qualified(name, table)) SET SCHEMA \(PostgreSQLName.quoted(newName))"
      )
    }
    for function in schema.triggerFunctions where try hasFunction(function, in: name, connection) {
      try connection.execute(
        "ALTER FUNCTION \(qualified(name, function))() SET SCHEMA \(PostgreSQLName.quoted(newName))"
      )
    }
    try connection.execute(
      "UPDATE \(qualified(newName, PostgreSQLSchema.storeTable)) SET owns_schema = false"
    )
    try connection.execute("DROP SCHEMA \(PostgreSQLName.quoted(name))")
  }

  private static func hasFunction(
    _ function: String,
    in schema: String,
    _ connection: PostgreSQLConnection
  ) throws
    -> Bool
  {
    try connection.run(
      """
      SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace \
      WHERE n.nspname = $1::text AND p.proname = $2::text)
      """,
      [.text(schema), .text(function)]
    ).first { try $0.boolean(0) ?? false } ?? false
  }

  static func hasSchema(_ schema: String, _ connection: PostgreSQLConnection) throws -> Bool {
    try connection.run(
      "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1::text)",
      [.text(schema)]
    ).first { try $0.boolean(0) ?? false } ?? false
  }

  /// Returns the tables of the store in a schema, as the store describes them.
  private static func schema(ofStoreIn name: String, _ connection: PostgreSQLConnection) throws
    -> PostgreSQLSchema
  {
    let model = try readModel(schemaName: name, connection)
    let kept = Set(try readMetadata(schemaName: name, connection).modelVersionHashes.keys)
    return try PostgreSQLSchema(
      name: name,
      model: model,
      entities: model.entities.filter { kept.contains($0.name) }
    )
  }

  /// Copies a store to another schema of the same database, as the store is at one moment.
  static func copy(from location: PostgreSQLLocation, toSchema name: String, options: StoreOptions)
    throws
  {
    try examining(location, options) { connection in
      try connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
      do {
        let schema = try Self.schema(ofStoreIn: location.schema, connection).renamed(name)
        try connection.execute("CREATE SCHEMA \(PostgreSQLName.quoted(name))")
        for statement in schema.tableCreation(in: connection.dialect) { try connection.execute(statement) }
        for table in schema.allTables {
          try connection.execute(
            "INSERT INTO \(qualified(name, table)) SELECT * FROM \(qualified(location.schema, table))"
          )
        }
        try connection.execute(
          "UPDATE \(qualified(name, PostgreSQLSchema.storeTable)) SET owns_schema = true"
        )
        try HistoryTables(schema).continueNumbers(connection)
        let triggers = options[.postgresNotesOtherClients] ? schema.triggerCreation : []
        for statement in schema.constraintCreation + triggers { try connection.execute(statement) }
        try connection.execute("COMMIT")
      } catch {
        // try?: the connection is closed next, and the transaction ends with it.
        _ = try? connection.execute("ROLLBACK")
        throw error
      }
    }
  }

  /// Calls `body` with a new connection.
  private static func examining<Value>(
    _ location: PostgreSQLLocation,
    _ options: StoreOptions,
    _ body: (PostgreSQLConnection) throws -> Value
  ) throws -> Value {
    do {
      return try body(try PostgreSQLConnection(location, options: options))
    } catch {
      throw persistenceError(error, at: location)
    }
  }

  private static func qualified(_ schema: String, _ table: String) -> String {
    "\(PostgreSQLName.quoted(schema)).\(PostgreSQLName.quoted(table))"
  }

  private static func readModel(schemaName: String, _ connection: PostgreSQLConnection) throws
    -> ManagedObjectModel
  {
    let table = qualified(schemaName, PostgreSQLSchema.storeTable)
    let data = try connection.run("SELECT model FROM \(table) WHERE id = 1").first { row in
      try row.required(0, row.data)
    }
    guard let data else {
      throw PersistenceError(.fileMalformed, "The table \(PostgreSQLSchema.storeTable) has no row.")
    }
    do {
      return try ManagedObjectModel(encoded: data)
    } catch {
      throw PersistenceError(
        .fileMalformed,
        "The model in the table \(PostgreSQLSchema.storeTable) cannot be read.",
        underlyingError: error
      )
    }
  }

  static func readMetadata(schemaName: String, _ connection: PostgreSQLConnection) throws
    -> StoreMetadata
  {
    let table = qualified(schemaName, PostgreSQLSchema.storeTable)
    let found = try connection.run("SELECT metadata, format FROM \(table) WHERE id = 1").first {
      row in
      (try row.required(0, row.data), try row.required(1, row.bigint))
    }
    guard let (data, foundFormat) = found else {
      throw PersistenceError(.fileMalformed, "The table \(PostgreSQLSchema.storeTable) has no row.")
    }
    guard foundFormat == format else {
      throw PersistenceError(
        .fileFormatUnsupported,
        "The tables have the form \(foundFormat), and this version of Heartwood reads the form \(format).",
        recovery: "Use the version that wrote them."
      )
    }
    return try MetadataCoding.metadata(data)
  }
}
