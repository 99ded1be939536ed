import Foundation
import GRDB
import Heartwood
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodSQLite

/// Files that Core Data mirrors to CloudKit: they are changed if the caller says so, and the change is where Core Data looks for it.
@Suite struct MirroredStoreTests {
  private let bench: HistoryBench

  init() throws {
    bench = try HistoryBench()
    try bench.makeStore()
  }

  private static let allowed: StoreOptions = {
    var options = StoreOptions()
    options[.sqliteAllowsMirroredChanges] = true
    return options
  }()

  private static let mirror = [
    "CREATE TABLE ANSCKRECORDMETADATA (Z_PK INTEGER PRIMARY KEY, ZENTITYID INTEGER, ZENTITYPK INTEGER, ZCKRECORDNAME VARCHAR)",
    "INSERT INTO ANSCKRECORDMETADATA VALUES (1, 3, 1, 'F8A2')",
  ]

  private func mirror(withHistory: Bool) throws {
    if withHistory { try bench.change("Store.sqlite", HistorySQL.newer, HistorySQL.newerNumbers) }
    for statement in Self.mirror { try bench.change("Store.sqlite", statement) }
  }

  private func insertShelf(_ options: StoreOptions = StoreOptions()) throws {
    let context = try bench.context(author: "heartwood", options: options)
    defer { context.persistentStoreCoordinator.close() }
    try context.insert(entityName: "Shelf").setValue("a", forKey: "name")
    try context.save()
  }

  @Test(arguments: [true, false]) func theyAreNotChangedByDefault(_ hasHistory: Bool) throws {
    try mirror(withHistory: hasHistory)
    let error = try #require(throws: PersistenceError.self) { try insertShelf() }
    #expect(error.code == .storeReadOnly)
    #expect(error.message.contains("ANSCKRECORDMETADATA"))
    #expect(error.message.contains(hasHistory ? "when the app is next opened" : "has no history"))
    #expect(error.recovery?.text.contains("--allow-mirrored") == true)
    #expect(error.recovery?.text.contains("heartwood convert") == true)
    #expect(try bench.rows("SELECT * FROM ZSHELF").isEmpty)
  }

  @Test func aChangeThatIsAllowedIsInTheHistory() throws {
    try mirror(withHistory: true)
    try insertShelf(Self.allowed)
    let context = try bench.context(options: Self.allowed)
    let shelf = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Shelf")).first)
    context.delete(shelf)
    try context.save()
    let number = shelf.objectID.reference.text
    let history = try bench.history(context).map { $0.drop { $0 != " " } }
    #expect(history == [" heartwood: insert Shelf \(number)", " -: delete Shelf \(number)"])
    #expect(try bench.rows("SELECT ZCHANGETYPE FROM ACHANGE ORDER BY Z_PK") == ["0", "2"])
  }

  @Test(arguments: [true, false]) func theMirrorsOwnRowsStayAsTheyAre(_ hasHistory: Bool) throws {
    try mirror(withHistory: hasHistory)
    try insertShelf(Self.allowed)
    #expect(try bench.rows("SELECT ZNAME FROM ZSHELF") == ["'a'"])
    #expect(try bench.rows("SELECT * FROM ANSCKRECORDMETADATA") == ["1|3|1|'F8A2'"])
    #expect(
      try bench.rows("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name LIKE 'ATRANS%'") == [
        hasHistory ? "2" : "0"
      ]
    )
  }

  @Test func otherReasonsNotToWriteStand() throws {
    try mirror(withHistory: false)
    try bench.change(
      "Store.sqlite",
      "CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY)",
      "INSERT INTO ACHANGE VALUES (1)"
    )
    let error = try #require(throws: PersistenceError.self) { try insertShelf(Self.allowed) }
    #expect(error.code == .storeReadOnly)
    #expect(error.recovery?.text.contains("--allow-mirrored") == false)
  }
}
