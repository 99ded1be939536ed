import Foundation
import Heartwood
import HeartwoodStore
import Testing

@testable import HeartwoodPostgreSQL

/// The history in a store's tables.
@Suite(.needsServer) struct HistoryTests {
  private let bench: StoreBench

  init() throws {
    bench = try StoreBench()
  }

  private func tracking() throws -> ManagedObjectContext {
    var options = StoreOptions()
    options[.tracksPersistentHistory] = true
    return try bench.context(options)
  }

  private func history(
    _ context: ManagedObjectContext,
    after token: PersistentHistoryToken? = nil
  ) throws -> [PersistentHistoryTransaction] {
    try context.persistentStoreCoordinator.execute(.fetchHistory(after: token))
  }

  @Test func otherClientsReadTheHistoryInTables() throws {
    let context = try tracking()
    context.transactionAuthor = "ann"
    let items = try ["a", "b"].map { try bench.insert("Item", ["title": $0], in: context) }
    try context.save()
    try items[0].setValue("c", forKey: "title")
    try context.save()
    context.delete(items[1])
    try context.save()
    var rows: [[String?]] = []
    try bench.otherClient().execute(
      """
      SELECT t.number, t.author, c.kind, c.entity, c.properties, cardinality(c.ids) FROM heartwood_transaction t \
      JOIN heartwood_change c ON c.transaction_number = t.number ORDER BY t.number
      """
    ).forEachRow { row in
      rows.append((0..<row.count).map { index in row[index].map { String(decoding: $0, as: UTF8.self) } })
    }
    #expect(
      rows == [
        ["1", "ann", "insert", "Item", "{}", "2"], ["2", "ann", "update", "Item", "{title}", "1"],
        ["3", "ann", "delete", "Item", "{}", "1"],
      ]
    )
  }

  @Test func aStoreThatTracksNothingKeepsNoHistory() throws {
    let context = try bench.context()
    try bench.insert("Item", ["title": "a"], in: context)
    try context.save()
    #expect(try bench.otherClient().execute("SELECT 1 FROM heartwood_transaction").rowCount == 0)
  }

  @Test func aTokenStandsForAllThatWasSavedBeforeIt() throws {
    // The second save waits for its number until the first one, which has got one, is committed.
    let first = try tracking()
    try bench.insert("Item", ["title": "0"], in: first)
    try first.save()
    let failures = FailureLog()
    DispatchQueue.concurrentPerform(iterations: 5) { index in
      failures.catching {
        if index == 4 { return try follow() }
        let context = try tracking()
        for number in 0..<15 {
          try bench.insert("Item", ["title": "\(index) \(number)"], in: context)
          try context.save()
        }
      }
    }
    #expect(failures.all.isEmpty)
    #expect(try history(first).count == 61)
  }

  /// Reads what is new again and again, and expects that nothing was missed.
  private func follow() throws {
    let context = try tracking()
    var (numbers, token): ([Int64], PersistentHistoryToken?) = ([], nil)
    while numbers.count < 61 {
      let new = try history(context, after: token)
      numbers += new.map(\.transactionNumber)
      token = new.last?.token ?? token
    }
    #expect(numbers == numbers.sorted())
    #expect(Set(numbers).count == 61)
  }

  @Test func aSaveThatFailsLeavesNoTransaction() throws {
    let context = try tracking()
    try bench.insert("Item", ["title": "a"], in: context)
    try context.save()
    let other = try bench.otherClient()
    try other.execute("ALTER TABLE item ADD CONSTRAINT few CHECK (title <> 'b')")
    try bench.insert("Item", ["title": "b"], in: context)
    #expect(bench.error { try context.save() } != nil)
    #expect(try history(context).map(\.transactionNumber) == [1])
  }

  @Test func aCopyOfAStoreGoesOnWithItsNumbers() throws {
    let context = try tracking()
    for title in ["a", "b"] {
      try bench.insert("Item", ["title": title], in: context)
      try context.save()
    }
    let location = try bench.server.location(schema: bench.schema)
    let copy = TestServer.newSchema()
    try PostgreSQLStore.copy(from: location, toSchema: copy, options: StoreOptions())
    let moved = TestServer.newSchema()
    try PostgreSQLStore.move(
      from: try bench.server.location(schema: copy),
      to: try bench.server.location(schema: moved),
      replacing: false,
      options: StoreOptions()
    )
    let other = try bench.otherClient()
    try other.execute("SET search_path = \(moved)")
    #expect(try other.execute("SELECT 1 FROM heartwood_transaction").rowCount == 2)
    let number = try other.execute(
      "INSERT INTO heartwood_transaction (saved_at, saved_at_exact) VALUES (now(), 0) RETURNING number"
    ).first { row in try row.text(0) }
    #expect(number == "3")
  }

  @Test func whatCannotBeReadIsSaid() throws {
    let context = try tracking()
    try bench.insert("Item", ["title": "a"], in: context)
    try context.save()
    try bench.otherClient().execute("UPDATE heartwood_change SET kind = 'renamed'")
    let error = bench.error { _ = try history(context) }
    #expect(error?.code == .fileMalformed)
    #expect(error?.message.contains("transaction 1") == true)
  }
}
