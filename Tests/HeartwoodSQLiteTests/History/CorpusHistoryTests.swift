import Foundation
import GRDB
import Heartwood
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodSQLite

/// Histories that Core Data has kept, held against what SQL finds, and gone on with.
@Suite(.enabled(if: SQLiteCorpus.folder != nil, "set HEARTWOOD_CORPUS to the folder of the corpus"))
struct CorpusHistoryTests {
  private static let stores = SQLiteCorpus.stores.filter { store in
    store.name == "knowledgec-10.13.db" || store.name == "SampleModel2_V1.sqlite"
  }

  private struct Opened {
    let scratch: ScratchFolder
    let path: String
    let store: PersistentStore
    let context: ManagedObjectContext

    init(_ corpus: SQLiteCorpus.Store) throws {
      scratch = try ScratchFolder()
      path = try SQLiteCorpus.copy(corpus, to: scratch)
      let model = try #require(try SQLiteCorpus.models(corpus, path: path).first)
      let coordinator = try SQLiteBench.coordinator(model)
      store = try coordinator.addPersistentStore(type: .sqlite, at: URL(filePath: path))
      context = ManagedObjectContext(coordinator)
    }

    func query<Value>(_ body: (Database) throws -> Value) throws -> Value {
      let queue = try DatabaseQueue(path: path)
      defer { try? queue.close() }
      return try queue.read(body)
    }

    func rows(_ sql: String) throws -> [[DatabaseValue]] {
      try query { try Row.fetchAll($0, sql: sql).map { Array($0.databaseValues) } }
    }
  }

  @Test("Every transaction and every change is read", arguments: stores)
  func reading(_ corpus: SQLiteCorpus.Store) throws {
    let opened = try Opened(corpus)
    let transactions = try opened.context.execute(.fetchHistory(after: nil))
    let heads = try opened.rows("SELECT Z_PK, ZTIMESTAMP FROM ATRANSACTION ORDER BY Z_PK")
    #expect(transactions.map(\.transactionNumber) == heads.map { Int64.fromDatabaseValue($0[0]) })
    #expect(
      transactions.map(\.timestamp.timeIntervalSinceReferenceDate) == heads.map { Double.fromDatabaseValue($0[1]) }
    )
    #expect(transactions.allSatisfy { $0.processID != nil && $0.bundleID != nil })
    let numbers = try opened.query { db in
      try Row.fetchAll(db, sql: "SELECT Z_NAME, Z_ENT FROM Z_PRIMARYKEY").reduce(into: [String: Int]()) {
        $0[$1[0] as String? ?? ""] = $1[1] as Int?
      }
    }
    for transaction in transactions {
      let found = Set(
        transaction.changes.map { change in
          "\(change.changeType.rawValue)|\(numbers[change.changedObjectID.entity.name] ?? 0)|\(change.changedObjectID.reference.text)"
        }
      )
      let expected = try opened.rows(
        "SELECT ZCHANGETYPE || '|' || ZENTITY || '|' || ZENTITYPK FROM ACHANGE WHERE ZTRANSACTIONID = \(transaction.transactionNumber)"
      )
      #expect(found == Set(expected.compactMap { String.fromDatabaseValue($0[0]) }))
      #expect(transaction.changeCount == expected.count)
    }
    #expect(try opened.context.count(for: .fetchHistory(after: nil)) == transactions.count)
  }

  /// When the events of a source were deleted, the relationship to them changed; the values of deleted events are preserved.
  @Test func propertiesAndTombstonesOfKnowledge() throws {
    guard let corpus = Self.stores.first(where: { $0.name == "knowledgec-10.13.db" }) else { return }
    let opened = try Opened(corpus)
    let changes = try opened.context.execute(.fetchHistory(after: nil)).flatMap(\.changes)
    let sources = changes.filter { $0.changeType == .update && $0.changedObjectID.entity.name == "Source" }
    #expect(sources.count == 14)
    #expect(sources.allSatisfy { $0.updatedProperties == ["product"] })
    let events = changes.filter { $0.changeType == .delete && $0.changedObjectID.entity.name == "Event" }
    #expect(events.count == 507)
    #expect(events.allSatisfy { $0.tombstone["shouldSync"] == .boolean(false) && $0.tombstone.count == 2 })
    let uuids = Set(events.compactMap { if case .string(let text) = $0.tombstone["uuid"] { text } else { nil } })
    let expected = try opened.rows("SELECT ZTOMBSTONE0 FROM ACHANGE WHERE ZENTITY = 10 AND ZCHANGETYPE = 2")
    #expect(uuids == Set(expected.compactMap { String.fromDatabaseValue($0[0]) }))
  }

  @Test("An edit adds rows of the file's form and leaves those that were there", arguments: stores)
  func editing(_ corpus: SQLiteCorpus.Store) throws {
    let opened = try Opened(corpus)
    opened.context.transactionAuthor = "test"
    let tables = ["ACHANGE", "ATRANSACTION"]
    let before = try tables.map { try opened.rows("SELECT * FROM \($0) ORDER BY Z_PK") }
    let schema = try opened.rows("SELECT type, name, sql FROM sqlite_master ORDER BY name")
    let isOlder = corpus.framework < 1000
    let (entity, attribute) = isOlder ? ("Source", "itemID") : ("Feedback", "comment")
    let objects = try opened.context.fetch(FetchRequest<ManagedObject>(entityName: entity))
    let object: ManagedObject
    if let first = objects.first {
      object = first
      try object.setValue("edited", forKey: attribute)
    } else {
      object = try opened.context.insert(entityName: entity)
    }
    try opened.context.save()

    let after = try tables.map { try opened.rows("SELECT * FROM \($0) ORDER BY Z_PK") }
    for (old, new) in zip(before, after) { #expect(Array(new.prefix(old.count)) == old) }
    #expect(after.map(\.count) == before.map { $0.count + 1 })
    #expect(try opened.rows("SELECT type, name, sql FROM sqlite_master ORDER BY name") == schema)
    let number = Int64(before[1].count + 1)
    let change = try #require(after[0].last)
    guard case .integer(let key) = object.objectID.reference else {
      Issue.record("The record has no number.")
      return
    }
    // Source: bundleID, deviceID, groupID, itemID, …; feedback: authorAlias, bookID, comment, rating.
    let bits: Data? = objects.isEmpty ? nil : Data([isOlder ? 0x10 : 0x20])
    let expected: [(any DatabaseValueConvertible)?] = [
      Int64(before[0].count + 1), 16001, nil, objects.isEmpty ? 0 : 1, isOlder ? 14 : 3, key, number, bits,
    ]
    #expect(Array(change.prefix(8)) == expected.map { $0?.databaseValue ?? .null })
    #expect(change.dropFirst(8).allSatisfy { $0.isNull })
    let head = try #require(
      try opened.rows("SELECT * FROM ATRANSACTION WHERE Z_PK = \(number)").first
    )
    #expect(Array(head.prefix(3)) == [number.databaseValue, 16002.databaseValue, .null])
    let authors = try opened.rows(
      isOlder
        ? "SELECT ZAUTHOR FROM ATRANSACTION WHERE Z_PK = \(number)"
        : "SELECT ZNAME FROM ATRANSACTIONSTRING WHERE Z_PK = (SELECT ZAUTHORTS FROM ATRANSACTION WHERE Z_PK = \(number))"
    )
    #expect(authors == [["test".databaseValue]])
    let greatest = try opened.rows("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT IN (16001, 16002) ORDER BY Z_ENT")
    #expect(greatest == [[Int64(before[0].count + 1).databaseValue], [number.databaseValue]])
    #expect(try opened.query { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok")
  }
}
