import Foundation
import Heartwood
import HeartwoodStore
import Testing

@testable import HeartwoodPostgreSQL

/// Which records a store reads again after saves of others.
@Suite(.needsServer) struct ChangeLogTests {
  private let bench: StoreBench
  private let log = StatementLog()
  /// A context that knows all records.
  private let reader: ManagedObjectContext

  init() throws {
    let bench = try StoreBench()
    let writer = try bench.context()
    let tags = try ["a", "b"].map { try bench.insert("Tag", ["name": $0], in: writer) }
    let lists = try ["L", "M"].map { try bench.insert("List", ["name": $0], in: writer) }
    for number in 0..<300 {
      try bench.insert(
        "Item",
        ["title": "\(number)", "count": number, "list": lists[0], "tags": Set([tags[0]])],
        in: writer
      )
    }
    try writer.save()
    self.bench = bench
    reader = try bench.context(log.options)
    _ = try engine.contents()
  }

  private var engine: any StoreEngine {
    get throws { try #require(reader.persistentStoreCoordinator.persistentStores.first).engine }
  }

  /// Brings the reader up to date, and returns what has changed for it, as text.
  ///
  /// - Parameter readsAll: whether all records are expected to be read for that.
  private func changes(readsAll: Bool = false) throws -> [String] {
    log.clear()
    try engine.followOthers()
    #expect(log.beginning(with: "COPY (").isEmpty == !readsAll, "\(log.beginning(with: "COPY ("))")
    guard let changes = try engine.takeRemoteChanges() else { return [] }
    #expect(!changes.mayHaveMore && !changes.mayBeAny)
    // A store that has just been opened reads everything anew, and has the same.
    let expected = try engine.contents()
    let fresh = try #require(try bench.context().persistentStoreCoordinator.persistentStores.first).engine.contents()
    #expect(try Self.text(expected) == Self.text(fresh))
    func lines(_ ids: Set<ManagedObjectID>, _ fate: String) -> [String] { ids.map { "\(fate) \($0.entity.name)" } }
    return
      (lines(changes.records.inserted, "inserted") + lines(changes.records.updated, "updated")
      + lines(changes.records.deleted, "deleted")).sorted()
  }

  private static func text(_ contents: StoreContents) throws -> [String] {
    contents.tables.flatMap { table in
      table.liveRows.map { row in
        let values = table.entity.traits.enumerated().map { ordinal, trait in
          let value = table.groups[row.group].value(
            row: row.row,
            ordinal: ordinal,
            type: trait.attributeType,
            scopes: contents.scopes
          )
          guard case .toMany(let ids) = value else { return "\(value)" }
          let names = ids.map { "\($0.reference)" }
          return "\(trait.isOrdered ? names : names.sorted())"
        }
        return "\(table.entity.name) \(table.reference(row)) \(table.version(row)) \(values)"
      }
    }.sorted()
  }

  // MARK: Other stores

  @Test func aChangedValueCostsOneRecord() throws {
    let writer = try bench.context()
    let item = try #require(try writer.fetch(entityName: "Item").first)
    try item.setValue("x", forKey: "title")
    try writer.save()
    #expect(try changes() == ["updated Item"])
    #expect(try changes() == [])
  }

  @Test func insertionsAndDeletionsAreListed() throws {
    let writer = try bench.context()
    let items = try writer.fetch(entityName: "Item")
    writer.delete(items[3])
    try bench.insert("Item", ["title": "new"], in: writer)
    try writer.save()
    #expect(try changes() == ["deleted Item", "inserted Item", "updated List", "updated Tag"])
  }

  @Test func bothSidesOfARelationshipAreListed() throws {
    let writer = try bench.context()
    let item = try #require(try writer.fetch(entityName: "Item").first)
    let tags = try writer.fetch(FetchRequest<ManagedObject>(entityName: "Tag", sortedBy: [FetchSortDescriptor("name")]))
    let lists = try writer.fetch(
      FetchRequest<ManagedObject>(entityName: "List", sortedBy: [FetchSortDescriptor("name")])
    )
    try item.setValue(Set([tags[1]]), forKey: "tags")
    try item.setValue(lists[1], forKey: "list")
    try writer.save()
    #expect(try changes() == ["updated Item", "updated List", "updated List", "updated Tag", "updated Tag"])
  }

  @Test func savesOfSeveralStoresAreAllListed() throws {
    for number in 0..<5 {
      let writer = try bench.context()
      for _ in 0..<3 {
        let items = try writer.fetch(entityName: "Item")
        try items[number].setValue("\(UUID())", forKey: "title")
        try writer.save()
      }
    }
    #expect(try changes() == Array(repeating: "updated Item", count: 5))
  }

  @Test func savesThatAreCommittedOutOfOrderAreNotMissed() throws {
    let (bench, engine) = (bench, try engine)
    let interruption = Interruption("COMMIT") {
      // The later save is committed first, and seen before the earlier one.
      let second = try bench.context()
      try #require(try second.fetch(entityName: "Item").last).setValue("later", forKey: "title")
      try second.save()
      try engine.followOthers()
      #expect(engine.takeRemoteChanges()?.records.updated.count == 1)
    }
    let first = try bench.context(interruption.options)
    let item = try #require(try first.fetch(entityName: "Item").first)
    interruption.arm()
    try item.setValue("earlier", forKey: "title")
    try first.save()
    #expect(interruption.isDone)
    #expect(try changes() == ["updated Item"])
  }

  @Test func aGapInTheLogIsNoticed() throws {
    let writer = try bench.context()
    let item = try #require(try writer.fetch(entityName: "Item").first)
    try item.setValue("x", forKey: "title")
    try writer.save()
    try bench.otherClient().execute("DELETE FROM heartwood_log")
    try item.setValue("y", forKey: "title")
    try writer.save()
    #expect(try changes(readsAll: true) == ["updated Item"])
  }

  @Test func aSlotThatWasFoldedIsNoticed() throws {
    let writer = try bench.context()
    let item = try #require(try writer.fetch(entityName: "Item").first)
    try item.setValue("x", forKey: "title")
    try writer.save()
    #expect(try changes() == ["updated Item"])
    let other = try bench.otherClient()
    try other.execute(
      """
      UPDATE heartwood_mark SET saved_at = now() - interval '2 days'; \
      INSERT INTO heartwood_mark SELECT n, 1, n * 977, now() - interval '2 days' FROM generate_series(1, 100) AS n
      """
    )
    _ = try bench.context()
    try item.setValue("y", forKey: "title")
    try writer.save()
    #expect(try changes(readsAll: true) == ["updated Item"])
    try item.setValue("z", forKey: "title")
    try writer.save()
    #expect(try changes() == ["updated Item"])
  }

  @Test func anotherConnectionTrustsNoOlderMark() throws {
    let writer = try bench.context()
    // Connections are found by their last statement, which names the schema: a look at the mark does.
    #expect(try changes() == [])
    let item = try #require(try writer.fetch(entityName: "Item").first)
    try item.setValue("x", forKey: "title")
    try writer.save()
    try bench.otherClient().runOnce(
      """
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
      WHERE query LIKE '%' || $1::text || '%' AND pid <> pg_backend_pid()
      """,
      [.text(bench.schema)]
    )
    #expect(try changes(readsAll: true) == ["updated Item"])
  }

  @Test func oldRowsOfTheLogAreDeleted() throws {
    let statements = LoggedChanges().statements(
      slot: 7,
      save: 20 * ChangeLog.pruningInterval,
      in: try PostgreSQLSchema(name: "s", model: bench.model, entities: bench.model.entities)
    )
    #expect(statements.count == 2)
    #expect(statements.last?.text == "DELETE FROM \"s\".\"heartwood_log\" WHERE slot = $1 AND save <= $2")
    #expect(statements.last?.parameters.map(\.bytes) == [Int64(7).bigEndianBytes, Int64(10_000).bigEndianBytes])
  }

  @Test func aBatchIsNoticed() throws {
    let writer = try bench.context()
    let request = BatchUpdateRequest(
      entityName: "Item",
      where: try FetchPredicate(format: "count < 3"),
      propertiesToUpdate: ["title": "x"]
    )
    _ = try writer.persistentStoreCoordinator.execute(request)
    #expect(try changes(readsAll: true) == Array(repeating: "updated Item", count: 3))
  }

  // MARK: Other programs

  @Test(arguments: [
    ("UPDATE item SET title = 'x' WHERE count = 5", ["updated Item"]),
    ("INSERT INTO item (title) VALUES ('new')", ["inserted Item"]),
    (
      "INSERT INTO item (title, list_id) SELECT 'new', id FROM list WHERE name = 'L'",
      ["inserted Item", "updated List"]
    ),
    ("DELETE FROM item WHERE count = 5", ["deleted Item", "updated List", "updated Tag"]),
    (
      "UPDATE item SET list_id = (SELECT id FROM list WHERE name = 'M') WHERE count = 5",
      ["updated Item", "updated List", "updated List"]
    ),
    (
      "INSERT INTO item_tags SELECT i.id, t.id FROM item AS i, tag AS t WHERE i.count = 5 AND t.name = 'b'",
      ["updated Item", "updated Tag"]
    ),
    ("DELETE FROM item_tags USING item AS i WHERE i.id = item_id AND i.count = 5", ["updated Item", "updated Tag"]),
    ("DELETE FROM tag WHERE name = 'b'", ["deleted Tag"]),
  ])
  func rowsThatOtherProgramsChangeAreListed(_ statement: String, _ expected: [String]) throws {
    try bench.otherClient().execute(statement)
    #expect(try changes() == expected)
  }

  @Test func tablesThatOtherProgramsEmptyAreReadAgain() throws {
    try bench.otherClient().execute("TRUNCATE item_tags")
    #expect(try changes(readsAll: true).count == 301)
  }
}
