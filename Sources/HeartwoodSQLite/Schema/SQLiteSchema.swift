import GRDB
import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Describes where the entities of a store are stored in a file: the tables and columns that Core Data creates for a
/// model.
struct SQLiteSchema: Sendable {
  /// An entity's row in `Z_PRIMARYKEY`.
  struct EntityRow: Sendable, Hashable {
    let number: Int
    let name: String
    /// The number of the superentity; 0 if there is none.
    let superNumber: Int
  }

  let model: ManagedObjectModel
  /// Indexed by the ordinal of the entity in the model; nil for entities that the store does not keep.
  let entities: [EntityPlacement?]
  /// The tables of records, each followed by the relationship tables that are named after its entities.
  let tables: [SQLiteTable]
  /// The indexes that Core Data would create.
  let indexes: [SQLiteIndex]
  /// The triggers that Core Data would create, as far as known files show them.
  let triggers: [SQLiteTrigger]
  /// The entities by number.
  let entityRows: [EntityRow]
  /// The reasons why the file must not be written, each a sentence; empty if it may be.
  let writeRefusals: [String]
  /// What happens to a change of a store that is mirrored to CloudKit: it is written only with the caller's permission.
  /// Nil for other stores.
  var mirroring: String?
  /// Whether the file has triggers that only Core Data can run.
  var hasDerivedTriggers: Bool
  /// Whether the file's text is UTF-8, as Core Data's is: in another encoding, SQL does not compare it as predicates
  /// do.
  var keepsUTF8 = true
  /// The numbers of all entities that the file knows and that can have records, including those that the model lacks.
  var knownNumbers: Set<Int>
  /// The identifier of the store, if one is open: keys refer only to its records.
  var storeIdentifier: UUID?
  /// The tables of the file's history.
  var history = HistoryTables.Finding.none

  /// Creates the schema of a new file for `entities` of `model`.
  ///
  /// - Throws: ``PersistenceError/Code/capabilityMissing`` if the destination of a relationship is an entity that the
  ///   store does not keep.
  init(model: ManagedObjectModel, entities: [EntityDescription]) throws(PersistenceError) {
    let forest = EntityForest(entities)
    self.init(try SchemaPlan(model: model, forest: forest, numbers: forest.numbers), writeRefusals: [])
  }

  init(_ plan: SchemaPlan, writeRefusals: [String]) {
    model = plan.model
    entities = plan.placements
    tables = plan.tables.flatMap { table in
      [table.table] + plan.joins.filter { plan.forest[$0.relationship.entity]?.root === table.root }.map(\.table)
    }
    indexes = plan.indexes
    triggers = plan.triggers
    hasDerivedTriggers = !triggers.isEmpty
    entityRows = plan.forest.members.map { member in
      EntityRow(
        number: plan.number(member.entity),
        name: member.entity.name,
        superNumber: member.parent.map(plan.number) ?? 0
      )
    }
    knownNumbers = Set(plan.forest.members.map { plan.number($0.entity) })
    self.writeRefusals = writeRefusals
  }

  /// Returns the placement of an entity; nil if the store does not keep it. O(1).
  func placement(of entity: EntityDescription) -> EntityPlacement? {
    entities.indices.contains(entity.ordinal) ? entities[entity.ordinal] : nil
  }

  /// Returns the placement of an entity that the store must keep. O(1).
  ///
  /// - Throws: ``PersistenceError/Code/entityUnknown`` if the store does not keep it.
  func keptPlacement(of entity: EntityDescription, path: String) throws(PersistenceError) -> EntityPlacement {
    if let placement = placement(of: entity) { return placement }
    throw PersistenceError(
      .entityUnknown,
      "The store does not keep the entity.",
      context: .init(path: path, storeType: .sqlite, entity: entity.name)
    )
  }

  /// Returns whether the table of an entity contains no records of other entities. O(n).
  func isAlone(_ placement: EntityPlacement) -> Bool {
    entities.count { $0?.tableName == placement.tableName } == 1
  }
}

extension SchemaPlan.Table {
  var table: SQLiteTable {
    SQLiteTable(name: name, columns: columns.map { .init(name: $0.name, type: $0.type) }, compoundKey: [])
  }
}

// MARK: Making a file

extension SQLiteSchema {
  private static let ownTables = [
    "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
    "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
    "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)",
  ]

  /// The statements that create all tables, indexes and triggers, exactly as Core Data writes them.
  var createStatements: [String] {
    tables.map(\.createStatement) + indexes.map(\.createStatement) + Self.ownTables + triggers.map(\.createStatement)
  }

  /// Creates all tables, indexes and triggers in an empty database, and a row for each entity. The caller must have
  /// begun a transaction.
  func create(in db: Database) throws {
    for statement in createStatements { try db.execute(sql: statement) }
    try addEntityRows(to: db)
  }

  /// Creates all tables, and a row for each entity, but no indexes and triggers: many records are inserted faster
  /// without them.
  func createTables(in db: Database) throws {
    for statement in tables.map(\.createStatement) + Self.ownTables { try db.execute(sql: statement) }
    try addEntityRows(to: db)
  }

  /// Creates the indexes and triggers that ``createTables(in:)`` leaves out.
  func createIndexesAndTriggers(in db: Database) throws {
    for statement in indexes.map(\.createStatement) + triggers.map(\.createStatement) { try db.execute(sql: statement) }
  }

  private func addEntityRows(to db: Database) throws {
    for row in entityRows {
      try db.execute(
        sql: "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, ?, 0)",
        arguments: [row.number, row.name, row.superNumber]
      )
    }
  }
}

// MARK: SQLiteTable

/// The types that Core Data gives to columns. SQLite stores any value in any column; dates are seconds since 2001, and
/// decimal numbers are reals.
enum SQLiteColumnType: String, Sendable, Hashable {
  case integer = "INTEGER"
  case float = "FLOAT"
  case timestamp = "TIMESTAMP"
  case decimal = "DECIMAL"
  case text = "VARCHAR"
  case blob = "BLOB"
}

/// A table of the records of an entity and all its subentities, or of a many-to-many relationship.
struct SQLiteTable: Sendable, Hashable {
  struct Column: Sendable, Hashable {
    let name: String
    let type: SQLiteColumnType
  }

  let name: String
  let columns: [Column]
  /// The columns that form the key together; empty if the first column alone is the key.
  let compoundKey: [String]

  /// The statement that creates the table, as Core Data writes it.
  var createStatement: String {
    var parts = columns.map { SQLiteName.quoted($0.name) + " " + $0.type.rawValue }
    if compoundKey.isEmpty {
      parts[0] += " PRIMARY KEY"
    } else {
      parts.append("PRIMARY KEY (" + compoundKey.map(SQLiteName.quoted).joined(separator: ", ") + ")")
    }
    return "CREATE TABLE \(SQLiteName.quoted(name)) ( " + parts.joined(separator: ", ") + " )"
  }
}

/// An index of a table.
struct SQLiteIndex: Sendable, Hashable {
  struct Term: Sendable, Hashable {
    let column: String
    /// Nil for an index that Core Data creates by itself, whose statement does not contain an order.
    let isAscending: Bool?

    fileprivate var text: String {
      let name = SQLiteName.quoted(column)
      return isAscending.map { "\(name) COLLATE BINARY \($0 ? "ASC" : "DESC")" } ?? name
    }
  }

  let name: String
  let tableName: String
  let terms: [Term]
  let isUnique: Bool
  /// The numbers of the entities to whose rows the index applies; empty if it applies to the whole table.
  var entityNumbers: [Int] = []

  /// The condition that the rows of the index meet; nil if it contains all rows.
  var condition: String? {
    if entityNumbers.isEmpty { return nil }
    return "\(SQLiteName.entity) IN (\(entityNumbers.map(String.init).joined(separator: ", ")))"
  }

  /// The statement that creates the index, as Core Data writes it; Core Data has no indexes for some entities only.
  var createStatement: String {
    "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(SQLiteName.quoted(name)) ON \(SQLiteName.quoted(tableName)) ("
      + terms.map(\.text).joined(separator: ", ") + ")" + (condition.map { " WHERE \($0)" } ?? "")
  }
}
