import Foundation
import GRDB
import Heartwood
import HeartwoodStore
import Testing

@testable import HeartwoodSQLite

/// A store of shelves and books, whose rows of a history are looked at.
struct HistoryBench {
  let bench: SQLiteBench

  /// By name, the properties of a book are isbn, pages, shelf, title; as attributes and relationships isbn, pages, title, shelf.
  static func model() throws -> ManagedObjectModel {
    var (isbn, title) = (
      AttributeDescription(name: "isbn", type: .string, isOptional: true),
      AttributeDescription(name: "title", type: .string, isOptional: true)
    )
    isbn.preservesValueInHistoryOnDeletion = true
    title.preservesValueInHistoryOnDeletion = true
    return try ManagedObjectModel(entities: [
      EntityDefinition(
        name: "Book",
        properties: [
          .attribute(title), .attribute("pages", .integer32, optional: true), .attribute(isbn),
          .toOne("shelf", "Shelf", inverse: "books"),
        ]
      ),
      EntityDefinition(
        name: "Novel",
        superentityName: "Book",
        properties: [.attribute("genre", .string, optional: true)]
      ),
      EntityDefinition(
        name: "Shelf",
        properties: [.attribute("name", .string, optional: true), .toMany("books", "Book", inverse: "shelf")]
      ),
    ])
  }

  init() throws {
    bench = try SQLiteBench(try Self.model())
  }

  static let tracking: StoreOptions = {
    var options = StoreOptions()
    options[.tracksPersistentHistory] = true
    return options
  }()

  func context(
    _ name: String = "Store.sqlite",
    author: String? = nil,
    options: StoreOptions = StoreOptions()
  ) throws -> ManagedObjectContext {
    let context = try bench.context(name, options: options)
    context.transactionAuthor = author
    return context
  }

  /// A store without records that keeps no history, which is closed.
  func makeStore(options: StoreOptions = StoreOptions()) throws {
    try context(options: options).persistentStoreCoordinator.close()
  }

  func change(_ name: String = "Store.sqlite", _ statements: String...) throws {
    let queue = try DatabaseQueue(path: bench.url(name).path)
    try queue.write { db in for statement in statements { try db.execute(sql: statement) } }
    try queue.close()
  }

  /// The rows that a query finds, each as SQLite writes it: `1|'a'|NULL|x'80'`.
  func rows(_ sql: String, _ name: String = "Store.sqlite") throws -> [String] {
    try bench.query(name) { db in
      try Row.fetchAll(db, sql: sql).map { row in
        row.databaseValues.map(Self.text).joined(separator: "|")
      }
    }
  }

  private static func text(_ value: DatabaseValue) -> String {
    switch value.storage {
    case .null: "NULL"
    case .int64(let number): "\(number)"
    case .double(let number): "\(number)"
    case .string(let text): "'\(text)'"
    case .blob(let data): "x'" + data.map { String(format: "%02X", $0) }.joined() + "'"
    }
  }

  /// The rows of `ACHANGE`.
  func changes(_ name: String = "Store.sqlite") throws -> [String] {
    try rows("SELECT * FROM ACHANGE ORDER BY Z_PK", name)
  }

  static let changeColumns = "Z_PK, Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS"

  /// What a transaction says, as text.
  static func text(_ transaction: PersistentHistoryTransaction) -> String {
    let changes = transaction.changes.map { change in
      let tombstone = change.tombstone.sorted { $0.key < $1.key }.map { "\($0.key)=\(Self.text($0.value))" }
      let rest = change.updatedProperties + tombstone
      return "\(change.changeType) \(change.changedObjectID.entity.name) \(change.changedObjectID.reference.text)"
        + (rest.isEmpty ? "" : " (\(rest.joined(separator: ", ")))")
    }
    return "\(transaction.transactionNumber) \(transaction.author ?? "-"): " + changes.joined(separator: "; ")
  }

  private static func text(_ value: PropertyValue) -> String {
    switch value {
    case .null: "nil"
    case .string(let text): text
    default: "\(value)"
    }
  }

  func history(_ context: ManagedObjectContext) throws -> [String] {
    try context.execute(.fetchHistory(after: nil)).map(Self.text)
  }
}

/// Tables of a history as Core Data makes them.
enum HistorySQL {
  /// The newer form, as files of framework 1344 and 1345 have it, for two preserved attributes.
  static let newer = """
    CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, ZENTITY INTEGER, \
    ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB, ZTOMBSTONE0 BLOB, ZTOMBSTONE1 BLOB );
    CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHORTS INTEGER, \
    ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, \
    ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR, ZQUERYGEN BLOB );
    CREATE TABLE ATRANSACTIONSTRING ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR );
    CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID);
    CREATE INDEX ATRANSACTION_ZAUTHORTS_INDEX ON ATRANSACTION (ZAUTHORTS);
    CREATE INDEX ATRANSACTION_ZBUNDLEIDTS_INDEX ON ATRANSACTION (ZBUNDLEIDTS);
    CREATE INDEX ATRANSACTION_ZCONTEXTNAMETS_INDEX ON ATRANSACTION (ZCONTEXTNAMETS);
    CREATE INDEX ATRANSACTION_ZPROCESSIDTS_INDEX ON ATRANSACTION (ZPROCESSIDTS);
    CREATE INDEX Z_TRANSACTION_TransactionAuthorIndex ON ATRANSACTION (ZAUTHOR COLLATE BINARY ASC);
    CREATE INDEX Z_TRANSACTION_TransactionTimestampIndex ON ATRANSACTION (ZTIMESTAMP COLLATE BINARY ASC);
    CREATE UNIQUE INDEX Z_TRANSACTIONSTRING_UNIQUE_NAME ON ATRANSACTIONSTRING (ZNAME COLLATE BINARY ASC);
    """

  /// The older form, as a file of framework 851 has it.
  static let older = """
    CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, ZENTITY INTEGER, \
    ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB, ZTOMBSTONE0 BLOB, ZTOMBSTONE1 BLOB );
    CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTIMESTAMP FLOAT, \
    ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR, ZQUERYGEN BLOB );
    CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID);
    CREATE INDEX Z_TRANSACTION_TransactionAuthorIndex ON ATRANSACTION (ZAUTHOR COLLATE BINARY ASC);
    CREATE INDEX Z_TRANSACTION_TransactionTimestampIndex ON ATRANSACTION (ZTIMESTAMP COLLATE BINARY ASC);
    """

  static let newerNumbers =
    "INSERT INTO Z_PRIMARYKEY VALUES (16001, 'CHANGE', 0, 7), (16002, 'TRANSACTION', 0, 4), (16003, 'TRANSACTIONSTRING', 0, 4)"
  static let olderNumbers = "INSERT INTO Z_PRIMARYKEY VALUES (16001, 'CHANGE', 0, 7), (16002, 'TRANSACTION', 0, 4)"

  /// Three transactions, the first of which was purged: novel 1 and shelf 1 are new, the novel gets on the shelf, and is deleted.
  static let newerRows = [
    "INSERT INTO ATRANSACTIONSTRING VALUES (1, 16003, NULL, 'org.example.app'), (2, 16003, NULL, 'App'), (3, 16003, NULL, 'sync')",
    "INSERT INTO ATRANSACTION VALUES (2, 16002, NULL, NULL, 1, NULL, 2, 700000000.25, NULL, NULL, NULL, NULL, NULL)",
    "INSERT INTO ATRANSACTION VALUES (3, 16002, NULL, 3, 1, 2, 2, 700000001.5, NULL, NULL, NULL, NULL, NULL)",
    "INSERT INTO ATRANSACTION VALUES (4, 16002, NULL, NULL, NULL, NULL, 2, 700000002, NULL, NULL, NULL, NULL, NULL)",
    """
    INSERT INTO ACHANGE VALUES (2, 16001, NULL, 0, 2, 1, 2, NULL, NULL, NULL), (3, 16001, NULL, 0, 3, 1, 2, NULL, NULL, NULL),
    (4, 16001, NULL, 1, 3, 1, 3, x'80', NULL, NULL), (5, 16001, NULL, 1, 2, 1, 3, x'57', NULL, NULL),
    (6, 16001, NULL, 2, 2, 1, 4, NULL, '0-1', 'Emma'), (7, 16001, NULL, 1, 3, 1, 4, x'80', NULL, NULL)
    """,
  ]
}
