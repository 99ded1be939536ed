import GRDB
import HeartwoodModel
import HeartwoodStore

extension SQLiteSchema {
  /// Returns the schema of a damaged file: missing tables and columns get their planned names, and are reported.
  static func remaining(
    in db: Database,
    model: ManagedObjectModel,
    entities: [EntityDescription],
    path: String
  ) throws -> (schema: SQLiteSchema, gaps: [PersistenceError]) {
    let catalog = try FileCatalog(db)
    let numbers = try EntityNumbers.read(
      from: db,
      catalog: catalog,
      entities: entities,
      path: path,
      toleratesGaps: true
    )
    let plan = try SchemaPlan(model: model, forest: EntityForest(entities), numbers: numbers)
    var resolution = SchemaResolution(plan: plan, catalog: catalog, path: path, toleratesGaps: true)
    let resolved = try resolution.resolve()
    return (SQLiteSchema(resolved, writeRefusals: []), resolution.gaps)
  }

  /// Returns the actual schema of a file: the numbers of its entities, and the names of its tables and columns, which
  /// differ from those of a new file if it was migrated. O(tables and columns).
  ///
  /// - Throws: ``PersistenceError/Code/fileMalformed`` if the file lacks an entity, a table or a column of the model,
  ///   or if it is not clear to which property a column belongs.
  static func existing(
    in db: Database,
    model: ManagedObjectModel,
    entities: [EntityDescription],
    path: String
  ) throws -> SQLiteSchema {
    let catalog = try FileCatalog(db)
    let numbers = try EntityNumbers.read(from: db, catalog: catalog, entities: entities, path: path)
    let plan = try SchemaPlan(model: model, forest: EntityForest(entities), numbers: numbers)
    var resolution = SchemaResolution(plan: plan, catalog: catalog, path: path)
    let resolved = try resolution.resolve()
    let keepsUTF8 = try String.fetchOne(db, sql: "PRAGMA encoding") == "UTF-8"
    let tables = resolved.tables.map(\.name) + resolved.joins.map(\.name)
    let hasDerivedTriggers = catalog.triggers.contains(where: DerivedTriggers.isOne)
    // Statements that are tried then do not need the functions of the triggers.
    if hasDerivedTriggers { try DerivedTriggers.switchOff(in: db) }
    let history = try HistoryTables.find(in: catalog, db)
    let refusals =
      resolution.refusals
      + (try WriteRefusals.all(
        of: catalog,
        in: db,
        keepsUTF8: keepsUTF8,
        tables: tables,
        entities: entities,
        history: history
      ))
    var schema = SQLiteSchema(resolved, writeRefusals: refusals)
    schema.history = history
    schema.mirroring = WriteRefusals.mirroring(catalog, history)
    schema.keepsUTF8 = keepsUTF8
    schema.hasDerivedTriggers = hasDerivedTriggers
    schema.knownNumbers.formUnion(try EntityNumbers.all(in: db))
    // No record of an abstract entity can exist.
    for entity in entities where entity.isAbstract { schema.knownNumbers.remove(plan.number(entity)) }
    return schema
  }
}

/// The numbers of entities in a file.
enum EntityNumbers {
  static func read(
    from db: Database,
    catalog: FileCatalog,
    entities: [EntityDescription],
    path: String,
    toleratesGaps: Bool = false
  ) throws -> [String: Int] {
    guard catalog[SQLiteName.primaryKeyTable] != nil else {
      throw malformed("The file has no table \(SQLiteName.primaryKeyTable), so it is not a store of Core Data.", path)
    }
    var numbers: [String: Int] = [:]
    for row in try Row.fetchAll(db, sql: "SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY") {
      // Core Data's own entities may have the name of an entity of the model.
      guard let number = Int.fromDatabaseValue(row[0]), number < HistoryTables.firstNumber,
        let name = String.fromDatabaseValue(row[1])
      else { continue }
      guard numbers.updateValue(number, forKey: name) == nil else {
        throw malformed("The table \(SQLiteName.primaryKeyTable) has the entity \(name) twice.", path)
      }
    }
    return try assigned(numbers, to: entities, path, toleratesGaps)
  }

  /// Returns the numbers of all entities.
  static func all(in db: Database) throws -> [Int] {
    try Row.fetchAll(db, sql: "SELECT Z_ENT FROM Z_PRIMARYKEY").compactMap { Int.fromDatabaseValue($0[0]) }
  }

  /// Returns the numbers of the entities by their names in the model: a migration by inference may leave the row of an
  /// entity under its previous name.
  private static func assigned(
    _ numbers: [String: Int],
    to entities: [EntityDescription],
    _ path: String,
    _ toleratesGaps: Bool
  ) throws(PersistenceError) -> [String: Int] {
    let names = Set(entities.map(\.name))
    var assigned: [String: Int] = [:]
    for entity in entities {
      let formerName = entity.renamingIdentifier.flatMap { names.contains($0) ? nil : $0 }
      guard let number = numbers[entity.name] ?? formerName.flatMap({ numbers[$0] }) else {
        if toleratesGaps {
          // This is a number that no row has.
          assigned[entity.name] = max(assigned.values.max() ?? 0, numbers.values.max() ?? 0) + 1
          continue
        }
        let problem = "The table \(SQLiteName.primaryKeyTable) has no entity \(entity.name)."
        throw malformed(problem, recovery: SchemaResolution.remedy, path, entity: entity.name)
      }
      assigned[entity.name] = number
    }
    return assigned
  }

  private static func malformed(
    _ problem: String,
    recovery: PersistenceError.Recovery? = nil,
    _ path: String,
    entity: String? = nil
  ) -> PersistenceError {
    PersistenceError(
      .fileMalformed,
      problem,
      recovery: recovery,
      context: .init(path: path, storeType: .sqlite, entity: entity)
    )
  }
}

/// The reasons why a file can only be read.
enum WriteRefusals {
  private static let mirroringPrefix = "ANSCK"

  private static let encoding =
    "The file keeps text in UTF-16, and Core Data in UTF-8: what is written as bytes would become other text."

  /// - Parameters:
  ///   - tables: the tables of records and relationships.
  ///   - entities: the entities that the store keeps.
  ///   - history: the tables of the history. Tables of an unknown form without rows are ignored.
  static func all(
    of catalog: FileCatalog,
    in db: Database,
    keepsUTF8: Bool,
    tables: [String],
    entities: [EntityDescription],
    history: HistoryTables.Finding
  ) throws -> [String] {
    let derivation = DerivedTriggers.refusal(catalog, entities: entities)
    let historyRefusal = try self.history(history, catalog, db, entities: entities)
    let refusals =
      [derivation, historyRefusal].compactMap(\.self) + (keepsUTF8 ? [] : [encoding])
    guard refusals.isEmpty else { return refusals }
    return try tables.compactMap { try unknowns(of: $0, catalog, db) }
  }

  /// Returns a reason if indexes or triggers of a table need functions or collations that only another program has:
  /// SQLite then cannot prepare a change.
  private static func unknowns(of table: String, _ catalog: FileCatalog, _ db: Database) throws -> String? {
    do {
      for change in changes(of: table, catalog) { _ = try db.makeStatement(sql: change) }
      return nil
    } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
      return
        "An index, a trigger or a condition of the table \(table) needs a function or collation of the program that made it (\(error.message ?? "")): without "
        + "that the table cannot be changed."
    }
  }

  /// Returns statements that involve all indexes and triggers of a table. Unlike an index, a trigger may apply to other
  /// changes than insertions.
  private static func changes(of table: String, _ catalog: FileCatalog) -> [String] {
    let name = SQLiteName.quoted(table)
    let insertion = "INSERT INTO \(name) DEFAULT VALUES"
    guard !catalog.triggers.isEmpty, let columns = catalog[table]?.columns.values else { return [insertion] }
    let values = columns.map { SQLiteName.quoted($0.name) }.map { "\($0) = \($0)" }
    return [insertion, "DELETE FROM \(name)", "UPDATE \(name) SET \(values.joined(separator: ", "))"]
  }

  /// Returns the reasons that come from Core Data's own data in the file.
  static func ofCoreData(_ catalog: FileCatalog, _ db: Database) throws -> [String] {
    let history = try HistoryTables.find(in: catalog, db)
    // A history that can be read is counted as lost, as that of any store.
    let historyRefusal = history.tables == nil ? try self.history(history, catalog, db, entities: []) : nil
    let mirroringRefusal = mirroringTable(catalog).map {
      "The store is mirrored to CloudKit (it has the table \($0)), and what Core Data notes of that would be gone."
    }
    return [DerivedTriggers.refusalOfReplacing(catalog), mirroringRefusal, historyRefusal].compactMap(\.self)
  }

  /// Returns the number of transactions in Core Data's history.
  static func transactionCount(_ catalog: FileCatalog, _ db: Database) throws -> Int {
    guard let table = catalog[HistoryTables.transactionTable] else { return 0 }
    return try Int.fetchOne(db, sql: "SELECT count(*) FROM \(SQLiteName.quoted(table.name))") ?? 0
  }

  private static func mirroringTable(_ catalog: FileCatalog) -> String? {
    catalog.tableNames.first { SQLiteName.key($0).hasPrefix(mirroringPrefix) }
  }

  /// Returns what happens to a change of a store that is mirrored to CloudKit; nil if it is not.
  static func mirroring(_ catalog: FileCatalog, _ history: HistoryTables.Finding) -> String? {
    guard let name = mirroringTable(catalog) else { return nil }
    let beginning = "The store is mirrored to CloudKit (it has the table \(name))"
    if history.tables == nil {
      return
        "\(beginning) and has no history: Core Data would not send a change to CloudKit, and a later change from there may undo it."
    }
    return
      "\(beginning): a change is noted in its history, from which Core Data sends it to CloudKit when the app is next "
      + "opened, and so to all devices of the user."
  }

  private static func history(
    _ history: HistoryTables.Finding,
    _ catalog: FileCatalog,
    _ db: Database,
    entities: [EntityDescription]
  ) throws -> String? {
    if case .unknown = history, try !HistoryTables.haveRows(catalog, db) { return nil }
    return HistoryTables.refusal(history, entities: entities)
  }
}

// MARK: FileCatalog

/// The tables, columns and triggers in a file.
struct FileCatalog {
  struct Table {
    let name: String
    /// The columns, by ``SQLiteName/key(_:)``.
    let columns: [String: Column]

    /// Returns the column with a name, ignoring its case.
    subscript(name: String) -> Column? { columns[SQLiteName.key(name)] }

    /// Returns the columns whose names pass a test, in alphabetical order.
    func columns(where test: (String) -> Bool) -> [Column] {
      columns.values.filter { test($0.name) }.sorted { $0.name < $1.name }
    }
  }

  struct Column {
    let name: String
    /// The declared type, in upper case.
    let type: String
  }

  /// The tables, by ``SQLiteName/key(_:)``. The columns of virtual tables are not read, because that would run code of
  /// the module.
  let tables: [String: Table]
  /// The names of all tables, including virtual ones.
  let tableNames: [String]
  struct Trigger {
    let name: String
    /// The statement that created it.
    let text: String
  }

  let triggers: [Trigger]

  init(_ db: Database) throws {
    var tables: [String: Table] = [:]
    var tableNames: [String] = []
    var triggers: [Trigger] = []
    let rows = try Row.fetchCursor(db, sql: "SELECT type, name, sql FROM sqlite_master ORDER BY name")
    while let row = try rows.next() {
      guard let name = String.fromDatabaseValue(row[1]) else { continue }
      let text = String.fromDatabaseValue(row[2]) ?? ""
      switch String.fromDatabaseValue(row[0]) {
      case "table":
        tableNames.append(name)
        let isVirtual = SQLiteName.key(text).hasPrefix("CREATE VIRTUAL")
        if !isVirtual { tables[SQLiteName.key(name)] = Table(name: name, columns: try Self.columns(of: name, in: db)) }
      case "trigger": triggers.append(Trigger(name: name, text: text))
      default: break
      }
    }
    (self.tables, self.tableNames, self.triggers) = (tables, tableNames, triggers)
  }

  private static func columns(of table: String, in db: Database) throws -> [String: Column] {
    var columns: [String: Column] = [:]
    for row in try Row.fetchAll(db, sql: "SELECT name, type FROM pragma_table_info(?)", arguments: [table]) {
      guard let name = String.fromDatabaseValue(row[0]) else { continue }
      columns[SQLiteName.key(name)] = Column(
        name: name,
        type: SQLiteName.key(String.fromDatabaseValue(row[1]) ?? "")
      )
    }
    return columns
  }

  /// Returns the table with a name, ignoring its case.
  subscript(name: String) -> Table? { tables[SQLiteName.key(name)] }
}
