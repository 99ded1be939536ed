import Foundation
import GRDB
import Heartwood
import HeartwoodStore
import Testing

/// One row of a store cannot be read: what depends on it fails, and nothing of it is saved.
@Suite struct UnreadableRowTests {
  private let bench: SQLiteBench
  private let names = (1...3).map { "item \($0)" }

  init() throws {
    bench = try SQLiteBench(
      try ManagedObjectModel(entities: [
        .entity(
          "List",
          .attribute("title", .string, optional: true),
          .toMany("items", "Item", inverse: "list", deleteRule: .cascade)
        ),
        .entity(
          "Item",
          .attribute("name", .string, optional: true),
          .attribute("code", .uuid, optional: true),
          .toOne("list", "List", inverse: "items")
        ),
      ])
    )
    let context = try bench.context()
    let list = try context.insert(entityName: "List")
    for name in names {
      let item = try context.insert(entityName: "Item")
      try item.setValue(name, forKey: "name")
      try item.setValue(list, forKey: "list")
    }
    try context.save()
    context.persistentStoreCoordinator.close()
    try write("UPDATE ZITEM SET ZCODE = x'010203' WHERE ZNAME = 'item 2'")
  }

  private func write(_ sql: String) throws {
    let queue = try DatabaseQueue(path: bench.url().path)
    try queue.write { try $0.execute(sql: sql) }
    try queue.close()
  }

  private func rows() throws -> [String] {
    try bench.query {
      try String.fetchAll(
        $0,
        sql: "SELECT ZNAME || ' ' || ifnull(ZLIST, '-') FROM ZITEM UNION ALL SELECT 'list' FROM ZLIST"
      )
    }
  }

  private func list(_ context: ManagedObjectContext) throws -> ManagedObject {
    try #require(try context.fetch(entityName: "List").first)
  }

  private let items = ToManyKey<ManagedObject>("items")

  @Test func aRelationshipLeavesTheRowOutAndSaysSo() throws {
    let context = try bench.context()
    let list = try list(context)
    #expect(list[items].count == 2)
    let failure = try #require(context.readFailures.last)
    #expect(failure.context.objectIDs.map(\.reference) == [.integer(2)])
    #expect(failure.context.entity == "List" && failure.context.property == "items")
    #expect(bench.error { _ = try list.read(items) }?.context.objectIDs.map(\.reference) == [.integer(2)])
    #expect(bench.error { _ = try list.value(forKey: "items") } != nil)
  }

  @Test func aDeletionByACascadeSavesNothing() throws {
    let before = try rows()
    let context = try bench.context()
    context.delete(try list(context))
    let error = bench.error { try context.save() }
    #expect(error?.context.objectIDs.map(\.reference) == [.integer(2)])
    #expect(try rows() == before)
    context.rollback()
    try context.save()
    #expect(try rows() == before)
  }

  @Test func aDeletionByACascadeIsSavedOnceTheRowIsMended() throws {
    let context = try bench.context()
    context.delete(try list(context))
    #expect(bench.error { try context.save() } != nil)
    try write("UPDATE ZITEM SET ZCODE = NULL")
    try context.save()
    #expect(try rows().isEmpty)
  }

  @Test func aRelationshipThatIsSetAnewSavesNothing() throws {
    let before = try rows()
    let context = try bench.context()
    let list = try list(context)
    list[items] = []
    #expect(bench.error { try context.save() }?.context.objectIDs.map(\.reference) == [.integer(2)])
    #expect(try rows() == before)
    try write("UPDATE ZITEM SET ZCODE = NULL")
    try context.save()
    #expect(try rows().sorted() == (names.map { "\($0) -" } + ["list"]).sorted())
  }

  /// The changed list is looked at itself, and its items with it.
  @Test func aFetchThatLooksAtTheRowThrows() throws {
    let context = try bench.context()
    let list = try list(context)
    try list.setValue("Shopping", forKey: "title")
    let request = FetchRequest<ManagedObject>(
      entityName: "List",
      where: try FetchPredicate(format: "ANY items.name == 'item 2'")
    )
    #expect(bench.error { _ = try context.fetch(request) } != nil)
    #expect(bench.error { _ = try context.count(for: request) } != nil)
    try write("UPDATE ZITEM SET ZCODE = NULL")
    #expect(try context.fetch(request) == [list])
  }
}
