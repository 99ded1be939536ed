import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Writes the changes of one save, within a transaction: one statement for the new records of an entity, and one for
/// the records of an entity in which the same properties change. The statements are queued, so that the server gets all
/// of them together with the commit.
///
/// Deletions come first, so that unique values become available, and references to new records are written after those
/// records.
struct RecordWriter {
  let schema: PostgreSQLSchema
  /// The records before the changes.
  let contents: StoreContents
  let connection: PostgreSQLConnection
  /// The URL of the store, for errors.
  let place: String

  func write(_ changes: ChangeSet) throws {
    let (inserted, updated) = (changes.inserted, changes.updated)
    try hold(changes.preconditions)
    try delete(changes.deleted)
    try vacate(updated, beside: inserted.count)
    let postponed = try insert(inserted)
    try update(updated)
    try write(postponed)
    var links = LinkWriter(self)
    for record in inserted { try links.add(record) }
    for record in updated { try links.add(record, contents) }
    try links.write()
  }

  func key(_ id: ManagedObjectID) throws(PersistenceError) -> UUID {
    if case .uuid(let key) = id.reference { return key }
    throw PersistenceError(
      .valueUnsupported,
      "The references of a PostgreSQL store are UUIDs, and \(id.reference.text) is not one.",
      context: .init(path: place, storeType: .postgreSQL, entity: id.entity.name)
    )
  }

  /// Returns the records by entity, in the order in which the entities occur.
  private func grouped<Record>(
    _ records: [Record],
    _ entity: (Record) -> EntityDescription
  ) -> [(entity: EntityDescription, records: [Record])] {
    var places: [Int: Int] = [:]
    var groups: [(entity: EntityDescription, records: [Record])] = []
    for record in records {
      let entity = entity(record)
      if let place = places[entity.ordinal] {
        groups[place].records.append(record)
      } else {
        places[entity.ordinal] = groups.count
        groups.append((entity, [record]))
      }
    }
    return groups
  }
}

// MARK: Counting

extension RecordWriter {
  /// Queues a statement that returns a row for each record, and makes it fail on the server if another client has
  /// changed some of them. So the commit need not wait until the client has counted: the server skips it.
  private func queue(
    _ text: String,
    _ parameters: [PostgreSQLParameter],
    affecting count: Int,
    of ids: [ManagedObjectID]
  ) throws {
    let number = parameters.count + 1
    try connection.queue(
      "WITH done AS (\(text)) SELECT 1 / (count(*) = $\(number))::integer FROM done",
      parameters + [.bigint(Int64(count))]
    ) { error in
      if error.sqlState == PostgreSQLError.divisionByZero { return SavedOver(ids: ids) }
      return error
    }
  }
}

// MARK: Preconditions

extension RecordWriter {
  /// Checks that records have the expected versions, and locks them until the save is done.
  private func hold(_ preconditions: [RecordPrecondition]) throws {
    for (entity, records) in grouped(preconditions, \.objectID.entity) {
      let table = schema.qualified(try schema.placement(of: entity).table)
      let keys = try records.map { try key($0.objectID) }
      let versions = records.map { Int64(clamping: $0.version) }
      let text =
        "SELECT r.id FROM \(table) AS r JOIN unnest($1::uuid[], $2::bigint[]) AS u(id, version)"
        + " ON r.id = u.id AND r.version = u.version FOR SHARE OF r"
      try queue(text, [.uuids(keys), .bigints(versions)], affecting: Set(keys).count, of: records.map(\.objectID))
    }
  }
}

// MARK: Deletions

extension RecordWriter {
  private func delete(_ deletions: [RecordDeletion]) throws {
    for (entity, records) in grouped(deletions, \.objectID.entity) {
      let table = schema.qualified(try schema.placement(of: entity).table)
      let keys = try records.map { try key($0.objectID) }
      let versions = records.map { Int64(clamping: $0.baseVersion) }
      let text =
        "DELETE FROM \(table) AS r USING unnest($1::uuid[], $2::bigint[]) AS u(id, version)"
        + " WHERE r.id = u.id AND r.version = u.version RETURNING r.id"
      try queue(text, [.uuids(keys), .bigints(versions)], affecting: records.count, of: records.map(\.objectID))
    }
  }
}

// MARK: Updates

extension RecordWriter {
  /// Clears the unique values of records that get other ones: another record may take them over in the same save, and
  /// the index is checked row by row.
  private func vacate(_ updates: [RecordUpdate], beside insertedCount: Int) throws {
    for (entity, records) in grouped(updates, \.objectID.entity) {
      let unique = Set(entity.uniquenessConstraints.flatMap(\.self))
      if unique.isEmpty { continue }
      let placement = try schema.placement(of: entity)
      let touching = records.filter { $0.values.contains { unique.contains($0.ordinal) } }
      if touching.count + insertedCount < 2 { continue }
      for ordinal in unique.sorted() {
        let changing = touching.filter { $0.values.contains { $0.ordinal == ordinal } }
        let columns = placement.valueColumns(ordinal).map { "\(PostgreSQLName.quoted($0)) = NULL" }
        if changing.isEmpty || columns.isEmpty { continue }
        let text =
          "UPDATE \(schema.qualified(placement.table)) SET \(columns.joined(separator: ", ")) WHERE id = ANY($1)"
        try connection.queue(text, [.uuids(try changing.map { try key($0.objectID) })])
      }
    }
  }

  private struct UpdateKind: Hashable {
    let entity: Int
    let ordinals: [Int]
  }

  private func update(_ updates: [RecordUpdate]) throws {
    var places: [UpdateKind: Int] = [:]
    var groups: [(kind: UpdateKind, updates: [RecordUpdate])] = []
    for update in updates {
      let kind = UpdateKind(
        entity: update.objectID.entity.ordinal,
        ordinals: update.values.map(\.ordinal).sorted()
      )
      if let place = places[kind] {
        groups[place].updates.append(update)
      } else {
        places[kind] = groups.count
        groups.append((kind, [update]))
      }
    }
    for (kind, updates) in groups { try update(updates, kind) }
  }

  private func update(_ updates: [RecordUpdate], _ kind: UpdateKind) throws {
    let placement = try schema.placement(of: schema.model.entities[kind.entity])
    let writer = ColumnWriter(placement, ordinals: kind.ordinals, self)
    var columns = writer.makeArrays(capacity: updates.count)
    for update in updates {
      let values = Dictionary(update.values.map { ($0.ordinal, $0.value) }) { _, last in last }
      for index in columns.indices {
        let column = writer.columns[index]
        try columns[index].append {
          try writer.append(values[column.ordinal] ?? .null, column, to: &$0)
        }
      }
    }
    let assignments =
      ["version = r.version + 1"]
      + writer.columns.enumerated().map { "\(PostgreSQLName.quoted($1.name)) = u.c\($0)" }
    let text =
      "UPDATE \(schema.qualified(placement.table)) AS r SET \(assignments.joined(separator: ", "))"
      + " FROM \(writer.unnest(from: 1)) WHERE r.id = u.id AND r.version = u.version RETURNING r.id"
    let keys = try updates.map { try key($0.objectID) }
    let versions = updates.map { Int64(clamping: $0.baseVersion) }
    try queue(
      text,
      [.uuids(keys), .bigints(versions)] + columns.map(\.parameter),
      affecting: updates.count,
      of: updates.map(\.objectID)
    )
  }
}

// MARK: Insertions

extension RecordWriter {
  /// To-one relationships that refer to records which are inserted later.
  struct PostponedLinks {
    let entity: EntityDescription
    let ordinal: Int
    var owners: [UUID] = []
    var destinations: [UUID] = []
  }

  /// The maximum number of rows in a statement with arrays: for more rows, copying is faster.
  private static let greatestArrayCount = 100

  private func insert(_ snapshots: [ObjectSnapshot]) throws -> [PostponedLinks] {
    var groups = grouped(snapshots, \.objectID.entity)
    var postponed: [PostponedLinks] = []
    while !groups.isEmpty {
      let next = nextGroup(groups)
      let (entity, records) = groups.remove(at: next)
      let later = Set(groups.map(\.entity.ordinal))
      postponed += try insert(records, of: entity, before: later)
    }
    return postponed
  }

  /// Returns the index of the first group that has no relationship to another group, or else 0.
  private func nextGroup(_ groups: [(entity: EntityDescription, records: [ObjectSnapshot])]) -> Int {
    groups.firstIndex { group in
      groups.allSatisfy { other in
        other.entity === group.entity || !leads(from: group.entity, to: other.entity)
      }
    } ?? 0
  }

  private func leads(from entity: EntityDescription, to other: EntityDescription) -> Bool {
    entity.properties.enumerated().contains { ordinal, property in
      guard let relationship = property.relationship, !relationship.isToMany,
        !relationship.isTransient,
        let target = entity.relationshipTargets[ordinal]
      else { return false }
      return other.isKind(of: schema.model.entities[target.entityOrdinal])
    }
  }

  private func insert(
    _ records: [ObjectSnapshot],
    of entity: EntityDescription,
    before later: Set<Int>
  ) throws -> [PostponedLinks] {
    let placement = try schema.placement(of: entity)
    let writer = ColumnWriter(placement, ordinals: Array(placement.properties.indices), self)
    var postponed: [Int: PostponedLinks] = [:]
    func value(_ record: ObjectSnapshot, _ ordinal: Int) throws -> PropertyValue {
      let value = record.values[ordinal]
      guard case .toOne(let id) = value, later.contains(id.entity.ordinal) else { return value }
      var links = postponed[ordinal] ?? PostponedLinks(entity: entity, ordinal: ordinal)
      links.owners.append(try key(record.objectID))
      links.destinations.append(try key(id))
      postponed[ordinal] = links
      return .null
    }
    if records.count > Self.greatestArrayCount {
      // A copy cannot be queued, and what is queued is sent before it.
      try connection.sendQueue()
      do {
        try copy(records, writer, value)
      } catch let error as PostgreSQLError {
        throw self.error(error, insertingInto: placement)
      }
    } else {
      try insertArrays(records, writer, value)
    }
    return postponed.sorted { $0.key < $1.key }.map(\.value)
  }

  private func error(_ error: PostgreSQLError, insertingInto placement: EntityPlacement) -> any Error {
    guard error.isOfPrimaryKey(of: placement.table) else { return error }
    return PersistenceError(
      .duplicateReference,
      "A row of the table \(placement.table) has the key of a new record already.",
      recovery: "Give the record a key of its own, or none.",
      context: .init(path: place, storeType: .postgreSQL, entity: placement.entity.name),
      underlyingError: error
    )
  }

  private func copy(
    _ records: [ObjectSnapshot],
    _ writer: ColumnWriter,
    _ value: (ObjectSnapshot, Int) throws -> PropertyValue
  ) throws {
    let names = ["id", "version", "entity"] + writer.columns.map { PostgreSQLName.quoted($0.name) }
    let text =
      "COPY \(schema.qualified(writer.placement.table)) (\(names.joined(separator: ", "))) FROM STDIN (FORMAT binary)"
    let entity = Array(writer.placement.entity.name.utf8)
    try connection.copyIn(text) { buffer, endRow in
      for record in records {
        buffer.append(bigEndian: Int16(names.count))
        buffer.appendField(try key(record.objectID))
        buffer.appendField(Int64(clamping: record.version))
        buffer.appendField(entity)
        for column in writer.columns {
          try writer.append(try value(record, column.ordinal), column, to: &buffer)
        }
        try endRow(&buffer)
      }
    }
  }

  private func insertArrays(
    _ records: [ObjectSnapshot],
    _ writer: ColumnWriter,
    _ value: (ObjectSnapshot, Int) throws -> PropertyValue
  ) throws {
    var columns = writer.makeArrays(capacity: records.count)
    for record in records {
      for index in columns.indices {
        let column = writer.columns[index]
        let value = try value(record, column.ordinal)
        try columns[index].append { try writer.append(value, column, to: &$0) }
      }
    }
    let names = ["id", "version", "entity"] + writer.columns.map { PostgreSQLName.quoted($0.name) }
    let values = ["u.id", "u.version", "$1::text"] + writer.columns.indices.map { "u.c\($0)" }
    let text =
      "INSERT INTO \(schema.qualified(writer.placement.table)) (\(names.joined(separator: ", ")))"
      + " SELECT \(values.joined(separator: ", ")) FROM \(writer.unnest(from: 2))"
    let keys = try records.map { try key($0.objectID) }
    let versions = records.map { Int64(clamping: $0.version) }
    try connection.queue(
      text,
      [.text(writer.placement.entity.name), .uuids(keys), .bigints(versions)] + columns.map(\.parameter)
    ) { self.error($0, insertingInto: writer.placement) }
  }

  private func write(_ postponed: [PostponedLinks]) throws {
    for links in postponed {
      let placement = try schema.placement(of: links.entity)
      guard let column = placement.valueColumns(links.ordinal).first else { continue }
      let text =
        "UPDATE \(schema.qualified(placement.table)) AS r SET \(PostgreSQLName.quoted(column)) = u.destination"
        + " FROM unnest($1::uuid[], $2::uuid[]) AS u(id, destination) WHERE r.id = u.id"
      try connection.queue(text, [.uuids(links.owners), .uuids(links.destinations)])
    }
  }
}

extension PostgreSQLError {
  fileprivate static let divisionByZero = "22012"

  /// Whether two rows of a table would have the same key. PostgreSQL names the constraint after the table, and may
  /// truncate the name.
  fileprivate func isOfPrimaryKey(of table: String) -> Bool {
    sqlState == "23505" && tableName == table && constraintName?.hasSuffix("_pkey") == true
  }
}
