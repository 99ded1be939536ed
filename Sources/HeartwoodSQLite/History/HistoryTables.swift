import GRDB
import HeartwoodModel
import HeartwoodStore

/// The tables of a file in which Core Data keeps the history of a store.
///
/// Real files contain two forms. The older one, of macOS 10.13, stores authors and similar values as texts in
/// `ATRANSACTION`. The newer one stores each of them once in `ATRANSACTIONSTRING`, and `ATRANSACTION` refers to them.
/// New files get the newer form; an existing file keeps its form.
struct HistoryTables: Sendable, Hashable {
  static let changeTable = "ACHANGE"
  static let transactionTable = "ATRANSACTION"
  static let stringTable = "ATRANSACTIONSTRING"

  /// The values that a transaction records about the origin of a save.
  enum Origin: String, CaseIterable {
    case author = "ZAUTHOR"
    case bundleID = "ZBUNDLEID"
    case contextName = "ZCONTEXTNAME"
    case processID = "ZPROCESSID"

    /// The column with the key of the text in ``HistoryTables/stringTable``.
    var keyColumn: String { rawValue + "TS" }
  }

  /// The first number in `Z_PRIMARYKEY` of Core Data's own entities: its history and its data for CloudKit.
  static let firstNumber = 16_000
  private static let changeName = "CHANGE"
  private static let transactionName = "TRANSACTION"
  private static let stringName = "TRANSACTIONSTRING"

  /// The numbers of the tables in `Z_PRIMARYKEY`, which counts their keys.
  let changeNumber: Int
  let transactionNumber: Int
  /// Nil in the older form.
  let stringNumber: Int?
  /// The columns of ``transactionTable``, in upper case.
  private let transactionColumns: Set<String>
  /// The number of columns for values of deleted records.
  let tombstoneCount: Int

  /// The order of the properties that the bits stand for.
  var propertyOrder: ChangedProperties.Order { stringNumber == nil ? .attributesFirst : .byName }

  /// The place of a text of a transaction: a column, or a column with a key of ``stringTable``.
  enum Place {
    case text(String)
    case key(String)
  }

  /// Returns the place of a text; nil if the file has none.
  func place(of origin: Origin) -> Place? {
    if stringNumber != nil, transactionColumns.contains(origin.keyColumn) { return .key(origin.keyColumn) }
    return transactionColumns.contains(origin.rawValue) ? .text(origin.rawValue) : nil
  }

  /// The names of the tables in the file.
  var tableNames: [String] {
    [Self.changeTable, Self.transactionTable] + (stringNumber == nil ? [] : [Self.stringTable])
  }

  /// The numbers of the tables in `Z_PRIMARYKEY`.
  var numbers: [Int] { [changeNumber, transactionNumber] + [stringNumber].compactMap(\.self) }

  static func tombstoneColumn(_ index: Int) -> String { tombstonePrefix + String(index) }
  private static let tombstonePrefix = "ZTOMBSTONE"
}

// MARK: Finding

extension HistoryTables {
  /// The history tables that were found in a file.
  enum Finding: Sendable {
    case none
    case known(HistoryTables)
    /// Tables in a form that no known file has, with a reason that follows a colon.
    case unknown(String)

    var tables: HistoryTables? {
      if case .known(let tables) = self { tables } else { nil }
    }
  }

  private static let changeColumns = [
    "Z_PK", "Z_ENT", "Z_OPT", "ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZTRANSACTIONID", "ZCOLUMNS",
  ]
  private static let leadingTransactionColumns = ["Z_PK", "Z_ENT", "Z_OPT", "ZTIMESTAMP"]
  private static let stringColumns = ["Z_PK", "Z_ENT", "Z_OPT", "ZNAME"]

  static func find(in catalog: FileCatalog, _ db: Database) throws -> Finding {
    let (changes, transactions, strings) = (catalog[changeTable], catalog[transactionTable], catalog[stringTable])
    if changes == nil, transactions == nil, strings == nil { return .none }
    guard let changes, let transactions else {
      return .unknown("the table \(changes == nil ? changeTable : transactionTable) is missing")
    }
    let origins = Origin.allCases.flatMap { [$0.rawValue, $0.keyColumn] } + ["ZQUERYGEN"]
    let found =
      oddity(of: changes, needs: changeColumns, mayHave: [])
      ?? oddity(of: transactions, needs: leadingTransactionColumns, mayHave: origins)
      ?? strings.flatMap { oddity(of: $0, needs: stringColumns, mayHave: []) }
    if let found { return .unknown(found) }
    let numbers = try numbers(in: db)
    let names = [changeName, transactionName] + (strings == nil ? [] : [stringName])
    if let missing = names.first(where: { numbers[$0] == nil }) {
      return .unknown("\(SQLiteName.primaryKeyTable) does not list \(missing)")
    }
    guard let change = numbers[changeName], let transaction = numbers[transactionName] else { return .none }
    return .known(
      HistoryTables(
        changeNumber: change,
        transactionNumber: transaction,
        stringNumber: strings == nil ? nil : numbers[stringName],
        transactionColumns: Set(transactions.columns.keys),
        tombstoneCount: changes.columns.keys.count { isTombstone($0) }
      )
    )
  }

  private static func oddity(
    of table: FileCatalog.Table,
    needs columns: [String],
    mayHave others: [String]
  ) -> String? {
    if let missing = columns.first(where: { table[$0] == nil }) {
      return "the table \(table.name) lacks the column \(missing)"
    }
    let known = Set(columns + others)
    let unknown = table.columns.keys.sorted().first { !known.contains($0) && !isTombstone($0) }
    return unknown.map { "the table \(table.name) has a column \($0)" }
  }

  private static func isTombstone(_ column: String) -> Bool {
    column.hasPrefix(tombstonePrefix) && SQLiteName.isNumbered(column, of: tombstonePrefix)
      && column != tombstonePrefix
  }

  private static func numbers(in db: Database) throws -> [String: Int] {
    let rows = try Row.fetchAll(
      db,
      sql: "SELECT Z_NAME, Z_ENT FROM Z_PRIMARYKEY WHERE Z_ENT >= ?",
      arguments: [firstNumber]
    )
    return rows.reduce(into: [:]) { numbers, row in
      guard let name = String.fromDatabaseValue(row[0]), let number = Int.fromDatabaseValue(row[1]) else { return }
      numbers[name] = number
    }
  }

  /// Returns whether a file has the tables, without reading them.
  static func exist(in db: Database) throws -> Bool {
    try Bool.fetchOne(
      db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?)"),
      arguments: [transactionTable]
    ) ?? false
  }

  /// Returns whether any of the tables has a row.
  static func haveRows(_ catalog: FileCatalog, _ db: Database) throws -> Bool {
    for name in [changeTable, transactionTable] {
      guard let table = catalog[name] else { continue }
      let query = "SELECT EXISTS (SELECT 1 FROM \(SQLiteName.quoted(table.name)))"
      if try Bool.fetchOne(db, sql: query) == true { return true }
    }
    return false
  }

  /// Returns the reason why nothing can be added to a history; nil if it can be written.
  static func refusal(_ finding: Finding, entities: [EntityDescription]) -> String? {
    switch finding {
    case .none: return nil
    case .unknown(let reason):
      return
        "The store keeps a history in a form that no known file has: \(reason). A change that is not in it would never be seen by "
        + "other readers of the history."
    case .known(let tables):
      let lacking = entities.first {
        $0.isAbstract == false && $0.tombstoneOrdinals(.byName).count > tables.tombstoneCount
      }
      return lacking.map { entity in
        "The history has \(tables.tombstoneCount) columns for values of deleted records, and the entity \(entity.name) has "
          + "\(entity.tombstoneOrdinals(.byName).count) attributes that are preserved on deletion."
      } ?? composite(in: entities)
    }
  }

  private static func composite(in entities: [EntityDescription]) -> String? {
    entities.first { !$0.compositeAttributes.isEmpty }.map { entity in
      "No known file shows how a history names changes of composite attributes, which the entity \(entity.name) has."
    }
  }
}

// MARK: Making

extension HistoryTables {
  private static let numbersOfNewFiles = [changeName: 16_001, transactionName: 16_002, stringName: 16_003]

  /// Returns the statements that create the tables in the newer form.
  ///
  /// - Parameter tombstoneCount: the maximum number of values that are kept of a deleted record.
  static func createStatements(tombstoneCount: Int) -> [String] {
    let leading = "Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER"
    let tombstones = (0..<tombstoneCount).map { ", \(tombstoneColumn($0)) BLOB" }.joined()
    let keys = Origin.allCases.map { "\($0.keyColumn) INTEGER" }.joined(separator: ", ")
    let texts = Origin.allCases.map { "\($0.rawValue) VARCHAR" }.joined(separator: ", ")
    return [
      "CREATE TABLE \(changeTable) ( \(leading), ZCHANGETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER, "
        + "ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB\(tombstones) )",
      "CREATE TABLE \(transactionTable) ( \(leading), \(keys), ZTIMESTAMP FLOAT, \(texts), ZQUERYGEN BLOB )",
      "CREATE TABLE \(stringTable) ( \(leading), ZNAME VARCHAR )",
      "CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON \(changeTable) (ZTRANSACTIONID)",
    ]
      + Origin.allCases.map {
        "CREATE INDEX ATRANSACTION_\($0.keyColumn)_INDEX ON \(transactionTable) (\($0.keyColumn))"
      } + [
        "CREATE INDEX Z_TRANSACTION_TransactionAuthorIndex ON \(transactionTable) (ZAUTHOR COLLATE BINARY ASC)",
        "CREATE INDEX Z_TRANSACTION_TransactionTimestampIndex ON \(transactionTable) (ZTIMESTAMP COLLATE BINARY ASC)",
        "CREATE UNIQUE INDEX Z_TRANSACTIONSTRING_UNIQUE_NAME ON \(stringTable) (ZNAME COLLATE BINARY ASC)",
      ]
  }

  /// Creates the tables in the newer form. The first transaction gets the number after `number`.
  ///
  /// - Throws: ``PersistenceError/Code/capabilityMissing`` if no known file shows how changes of an entity are stored
  ///   in a history.
  static func create(in db: Database, entities: [EntityDescription], after number: Int64) throws {
    if let refusal = composite(in: entities) {
      throw PersistenceError(
        .capabilityMissing,
        refusal,
        recovery: "Leave the history out: set tracksPersistentHistory to false.",
        context: .init(storeType: .sqlite)
      )
    }
    let tombstoneCount = entities.map { $0.tombstoneOrdinals(.byName).count }.max() ?? 0
    for statement in createStatements(tombstoneCount: tombstoneCount) { try db.execute(sql: statement) }
    for (name, entity) in numbersOfNewFiles.sorted(by: { $0.value < $1.value }) {
      try db.execute(
        sql: "INSERT OR REPLACE INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, 0, ?)",
        arguments: [entity, name, name == transactionName ? number : 0]
      )
    }
  }
}

// MARK: ChangedProperties

/// The properties that an update changed, as the bits of `ZCOLUMNS`: the first property is the highest bit of the first
/// byte.
struct ChangedProperties: Sendable {
  /// The order of the properties for bits, and of the attributes for the columns of tombstones.
  enum Order: Sendable {
    /// Files of macOS 10.13: attributes, then relationships; inherited ones first, and then by name.
    case attributesFirst
    /// Later files: all by name.
    case byName
  }

  /// The ordinals of the properties, in the order of their bits.
  let ordinals: [Int]
  private let entity: EntityDescription

  init(_ entity: EntityDescription, _ order: Order) {
    self.entity = entity
    ordinals = entity.ordered(entity.properties.indices.filter { !entity.properties[$0].isTransient }, order)
  }

  /// Returns the names of the properties whose bits are set, in the order of the model. Bits beyond the last property
  /// are ignored.
  func names(in bits: UnsafeRawBufferPointer) -> [String] {
    var changed: [Int] = []
    for (index, ordinal) in ordinals.enumerated() where index / 8 < bits.count {
      if bits[index / 8] & (0x80 >> UInt8(index % 8)) != 0 { changed.append(ordinal) }
    }
    return changed.sorted().map { entity.properties[$0].name }
  }

  /// Returns the bits of properties.
  func bits(of names: [String]) -> [UInt8] {
    var bits = [UInt8](repeating: 0, count: (ordinals.count + 7) / 8)
    let names = Set(names)
    for (index, ordinal) in ordinals.enumerated() where names.contains(entity.properties[ordinal].name) {
      bits[index / 8] |= 0x80 >> UInt8(index % 8)
    }
    return bits
  }
}

extension EntityDescription {
  /// Returns the attributes whose values are kept of deleted records, in the order of their columns. Data that may be
  /// in a file is not kept.
  func tombstoneOrdinals(_ order: ChangedProperties.Order) -> [Int] {
    ordered(
      properties.indices.filter { ordinal in
        guard let attribute = properties[ordinal].attribute, !attribute.isTransient else { return false }
        return attribute.preservesValueInHistoryOnDeletion && !attribute.allowsExternalBinaryDataStorage
      },
      order
    )
  }

  fileprivate func ordered(_ ordinals: [Int], _ order: ChangedProperties.Order) -> [Int] {
    switch order {
    case .byName: return ordinals.sorted { properties[$0].name < properties[$1].name }
    case .attributesFirst:
      func rank(_ ordinal: Int) -> (Int, Int, String) {
        let property = properties[ordinal]
        return (property.attribute == nil ? 1 : 0, depth(ofProperty: ordinal), property.name)
      }
      return ordinals.sorted { rank($0) < rank($1) }
    }
  }

  /// Returns the number of superentities above the entity that declares a property.
  private func depth(ofProperty ordinal: Int) -> Int {
    guard let superentity else { return 0 }
    return ordinal < superentity.properties.count ? superentity.depth(ofProperty: ordinal) : superentity.level + 1
  }

  /// The number of superentities.
  private var level: Int { superentity.map { $0.level + 1 } ?? 0 }
}
