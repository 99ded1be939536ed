import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

extension PostgreSQLStore {
  /// Reads all records of `entities`, in the order of their keys.
  func load(_ entities: [EntityDescription], into loader: StoreLoader) throws {
    for entity in entities {
      try withConnection { connection in
        try naming(entity) { try reader(of: entity).readAll(connection, into: loader) }
      }
    }
  }

  /// Reads records by their keys.
  func load(_ references: [ReferenceID], of entity: EntityDescription, into loader: StoreLoader)
    throws
  {
    let keys = references.compactMap { reference -> UUID? in
      if case .uuid(let key) = reference { key } else { nil }
    }
    if keys.isEmpty { return }
    try withConnection { connection in
      try naming(entity) { try reader(of: entity).read(keys, connection, into: loader) }
    }
  }

  func reader(of entity: EntityDescription) throws -> RecordReader {
    RecordReader(try schema.placement(of: entity), schema: schema)
  }

  /// Calls `body`, and adds the entity to an error of the server. A connection error is not changed, because the
  /// connection may be made again.
  func naming<Value>(_ entity: EntityDescription, _ body: () throws -> Value) throws -> Value {
    try Self.naming(entity, at: location, body)
  }

  static func naming<Value>(
    _ entity: EntityDescription,
    at location: PostgreSQLLocation,
    _ body: () throws -> Value
  ) throws -> Value {
    do {
      return try body()
    } catch let error as PostgreSQLError where !error.isOfConnection {
      throw persistenceError(error, at: location, entity: entity.name)
    } catch let error as FieldFault {
      throw persistenceError(error, at: location, entity: entity.name)
    }
  }

  /// Counts the rows of the entity.
  func count(of entity: EntityDescription) throws -> Int {
    let placement = try schema.placement(of: entity)
    return try withConnection { connection in
      let text =
        "SELECT count(*) FROM \(schema.qualified(placement.table)) AS r WHERE r.entity = $1"
      let count = try connection.run(text, [.text(entity.name)]).first { try $0.bigint(0) }
      return Int(clamping: (count ?? nil) ?? 0)
    }
  }

  /// Returns the row count in the server's statistics if the table has only one entity, or else the exact count.
  func estimatedCount(of entity: EntityDescription) throws -> Int {
    let placement = try schema.placement(of: entity)
    guard placement.isAlone else { return try count(of: entity) }
    let text =
      "SELECT c.reltuples::bigint FROM pg_catalog.pg_class c WHERE c.oid = $1::text::regclass"
    let estimate = try withConnection { connection in
      try connection.run(text, [.text(schema.qualified(placement.table))]).first {
        try $0.bigint(0)
      }
    }
    // The server knows nothing about a table that was never analysed, and too little about a small one.
    guard let estimate = estimate ?? nil, estimate > Self.leastEstimate else {
      return try count(of: entity)
    }
    return Int(clamping: estimate)
  }

  /// The smallest estimate that is used: smaller tables are counted.
  private static let leastEstimate: Int64 = 100_000

  /// Returns UUIDs of version 7, without asking the server.
  func newReferences(count: Int, for entity: EntityDescription) throws -> [ReferenceID] {
    ReferenceMaker.references(count: count).map(ReferenceID.uuid)
  }

  /// Writes the changes of a save.
  func save(_ changes: ChangeSet, over contents: StoreContents) throws {
    try writing { connection in
      try RecordWriter(
        schema: schema,
        contents: contents,
        connection: connection,
        place: location.text
      ).write(changes)
    }
    try logging { try $0.note(changes, over: contents, in: schema) }
  }
}

extension PostgreSQLStore {
  /// Always `true`: a relationship and its inverse are stored once, as the key of the record at one end or as a row of
  /// both keys.
  var storesInversesOnce: Bool { true }
}
