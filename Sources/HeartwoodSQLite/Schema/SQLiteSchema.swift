package import GRDB
import HeartwoodFoundation
package import HeartwoodModel
import HeartwoodStore

/// Where the entities of a store are kept in a file: the tables and columns that Core Data makes of a model.
package struct SQLiteSchema: Sendable {
  /// An entity's row in `Z_PRIMARYKEY`.
  package struct EntityRow: Sendable, Hashable {
    package let number: Int
    package let name: String
    /// The number of the entity that this one inherits from; 0 for none.
    package let superNumber: Int
  }

  package let model: ManagedObjectModel
  /// Indexed by the ordinal of the entity in the model; nil for those that the store does not keep.
  package let entities: [EntityPlacement?]
  /// The tables of records, each with the tables of relationships that are called after its entities behind it.
  package let tables: [SQLiteTable]
  /// The indexes that Core Data would make.
  package let indexes: [SQLiteIndex]
  /// The triggers that Core Data would make, as far as files show them.
  package let triggers: [SQLiteTrigger]
  /// The entities by number.
  package let entityRows: [EntityRow]
  /// Why the file must not be written, each a sentence; empty where it may.
  package let writeRefusals: [String]
  /// What becomes of a change, for a store that is mirrored to CloudKit: it is written only if the caller says so. Nil for other stores.
  var mirroring: String?
  /// Whether the file has triggers that only Core Data can run.
  var hasDerivedTriggers: Bool
  /// Whether the file's text is UTF-8, as Core Data's is: in another encoding SQL compares it otherwise than predicates do.
  var keepsUTF8 = true
  /// The numbers of all entities that the file knows and that can have records, those too that the model does not have.
  var knownNumbers: Set<Int>
  /// The identifier of the store, where one is open: keys are those of its records alone.
  var storeIdentifier: UUID?
  /// The tables of the file's history.
  var history = HistoryTables.Finding.none

  /// The schema of a new file for `entities` of `model`.
  ///
  /// - Throws: ``PersistenceError/Code/capabilityMissing`` where a relationship leads to an entity that the store does not keep.
  package init(model: ManagedObjectModel, entities: [EntityDescription]) throws(PersistenceError) {
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

  /// Where an entity is kept, or nil where the store does not keep it. O(1).
  package func placement(of entity: EntityDescription) -> EntityPlacement? {
    entities.indices.contains(entity.ordinal) ? entities[entity.ordinal] : nil
  }

  /// Where an entity is kept. O(1).
  ///
  /// - Throws: ``PersistenceError/Code/entityUnknown`` where the store does not keep it.
  func keptPlacement(of entity: EntityDescription, path: String) throws(PersistenceError) -> EntityPlacement {
    if let placement = placement(of: entity) { return placement }
    throw PersistenceError(
      .entityUnknown,
      "The store does not keep the entity.",
      context: .init(path: path, storeType: .sqlite, entity: entity.name)
    )
  }

  /// Whether the table of an entity has no other entity's records. O(n).
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

  /// The statements that make all tables, indexes and triggers, in the words of Core Data.
  package var createStatements: [String] {
    tables.map(\.createStatement) + indexes.map(\.createStatement) + Self.ownTables + triggers.map(\.createStatement)
  }

  /// Makes all tables, indexes and triggers in an empty database, and a row for each entity. The caller has begun a transaction.
  package func create(in db: Database) throws {
    for statement in createStatements { try db.execute(sql: statement) }
    try addEntityRows(to: db)
  }

  /// Makes all tables, and a row for each entity, but no index and no trigger: many records are put into tables faster without them.
  func createTables(in db: Database) throws {
    for statement in tables.map(\.createStatement) + Self.ownTables { try db.execute(sql: statement) }
    try addEntityRows(to: db)
  }

  /// Makes what ``createTables(in:)`` has left out.
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

/// The types that Core Data gives to columns. SQLite keeps any value in any column; dates are seconds since 2001, decimal numbers are
/// reals.
enum SQLiteColumnType: String, Sendable, Hashable {
  case integer = "INTEGER"
  case float = "FLOAT"
  case timestamp = "TIMESTAMP"
  case decimal = "DECIMAL"
  case text = "VARCHAR"
  case blob = "BLOB"
}

/// A table: of the records of an entity and all that inherit from it, or of a relationship between many and many.
package struct SQLiteTable: Sendable, Hashable {
  package struct Column: Sendable, Hashable {
    package let name: String
    let type: SQLiteColumnType
  }

  package let name: String
  package let columns: [Column]
  /// The columns that are the key together; none where the first column is the key alone.
  package let compoundKey: [String]

  /// The statement that makes the table, as Core Data writes it.
  package var createStatement: String {
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
package struct SQLiteIndex: Sendable, Hashable {
  struct Term: Sendable, Hashable {
    let column: String
    /// Nil for an index that Core Data makes by itself, in whose statement nothing is said of the order.
    let isAscending: Bool?

    fileprivate var text: String {
      let name = SQLiteName.quoted(column)
      return isAscending.map { "\(name) COLLATE BINARY \($0 ? "ASC" : "DESC")" } ?? name
    }
  }

  package let name: String
  package let tableName: String
  let terms: [Term]
  let isUnique: Bool
  /// The numbers of the entities whose rows the index is about; empty where it is about all of the table.
  var entityNumbers: [Int] = []

  /// The condition that the rows of the index meet; nil where it has all.
  var condition: String? {
    if entityNumbers.isEmpty { return nil }
    return "\(SQLiteName.entity) IN (\(entityNumbers.map(String.init).joined(separator: ", ")))"
  }

  /// The statement that makes the index, as Core Data writes it; Core Data has none about some entities alone.
  package var createStatement: String {
    "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(SQLiteName.quoted(name)) ON \(SQLiteName.quoted(tableName)) ("
      + terms.map(\.text).joined(separator: ", ") + ")" + (condition.map { " WHERE \($0)" } ?? "")
  }
}
