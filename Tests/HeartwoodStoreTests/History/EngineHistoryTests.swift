import Foundation
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

/// The history that an engine keeps while it saves.
@Suite struct EngineHistoryTests {
  private let fixture: EngineFixture

  init() throws {
    fixture = try EngineFixture()
  }

  private var tracking: StoreOptions {
    var options = StoreOptions()
    options[.tracksPersistentHistory] = true
    return options
  }

  private func open(tracksHistory: Bool = true) throws -> AtomicStoreEngine {
    let options = tracksHistory ? tracking : StoreOptions()
    let setup = try fixture.setup(path: nil, options: options)
    return try AtomicStoreEngine.open(AtomicClassFormat(InMemoryStore.self), setup: setup, fileSystem: fixture.files)
  }

  private func reader(_ engine: AtomicStoreEngine) throws -> HistoryReader {
    let history = try #require(try engine.history())
    return HistoryReader(history, storeID: engine.metadata.identifier, scopes: engine.scopes, path: nil)
  }

  @Test func withoutTheOptionThereIsNone() throws {
    let engine = try open(tracksHistory: false)
    _ = try engine.save(ChangeSet(inserted: [fixture.inserted(fixture.task)]))
    #expect(try engine.history() == nil)
    try engine.deleteHistory { _ in 5 }
    #expect(try engine.history() == nil)
  }

  @Test func aStoreThatKeepsNoneRefusesTheOption() throws {
    let error = #expect(throws: PersistenceError.self) { try fixture.open(options: tracking) }
    #expect(error?.code == .capabilityMissing && error?.message.contains("history") == true)
    #expect(fixture.fileBytes == nil)
  }

  @Test func aSaveOfNothingIsNoTransaction() throws {
    let engine = try open()
    _ = try engine.save(ChangeSet())
    try engine.replaceMetadata(engine.metadata)
    #expect(try engine.history()?.lastNumber == 0)
  }

  @Test func aSaveThatFailsIsNoTransaction() throws {
    let engine = try open()
    _ = try engine.save(ChangeSet(inserted: [fixture.inserted(fixture.task)]))
    let node = try engine.nodes(of: fixture.task)[0]
    _ = try engine.save(ChangeSet(updated: [fixture.updated(node, ["name": "a"])]))
    #expect(errorCode { _ = try engine.save(ChangeSet(deleted: [fixture.deletion(node)])) } == .saveConflict)
    #expect(try engine.history()?.lastNumber == 2)
  }

  @Test func aLongHistoryIsReadInPages() throws {
    let engine = try open()
    for _ in 1...300 { _ = try engine.save(ChangeSet(inserted: [fixture.inserted(fixture.task)])) }
    let reader = try reader(engine)
    for limit in [1, 256, 257, 300, 400] {
      var numbers: [Int64] = []
      try reader.forEachTransaction(.fetchHistory(after: nil), limit: limit) { numbers.append($0.transactionNumber) }
      #expect(numbers == Array(1...Int64(min(limit, 300))))
    }
  }

  @Test func datesAndOriginsAreKept() throws {
    let engine = try open()
    let before = Date()
    let origin = SaveOrigin(author: "sync", contextName: "background")
    _ = try engine.save(ChangeSet(inserted: [fixture.inserted(fixture.task)]), origin: origin)
    let transaction = try #require(try reader(engine).transactions(.fetchHistory(after: nil)).first)
    #expect(transaction.author == "sync" && transaction.contextName == "background")
    #expect((before...Date()).contains(transaction.timestamp))
    #expect(transaction.storeID == engine.metadata.identifier)
    #expect(transaction.token == PersistentHistoryToken([engine.metadata.identifier: 1]))
  }

  /// Random saves and purges, held against a list of what was done.
  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func itIsWhatWasDone(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let engine = try open()
    var expected: [Int64: Set<PlainChange>] = [:]
    var last: Int64 = 0
    for _ in 0..<60 {
      let (changes, done) = try randomChanges(engine, &generator)
      let commit = try engine.save(changes)
      if !changes.isEmpty {
        last += 1
        expected[last] = Set(done.map { $0.permanent(commit.permanentIDs) })
      }
      if Int.random(in: 0..<8, using: &generator) == 0 {
        let number = Int64.random(in: 0...last, using: &generator)
        try engine.deleteHistory { _ in number }
        expected = expected.filter { $0.key > number }
      }
      let transactions = try reader(engine).transactions(.fetchHistory(after: nil))
      let found = Dictionary(
        uniqueKeysWithValues: transactions.map { transaction in
          (transaction.transactionNumber, Set(transaction.changes.map(PlainChange.init)))
        }
      )
      #expect(found == expected, "seed \(seed)")
      #expect(try engine.history()?.lastNumber == last, "seed \(seed)")
    }
  }

  /// What was done to a record.
  private struct PlainChange: Hashable {
    let id: ManagedObjectID
    let type: PersistentHistoryChange.ChangeType
    var properties: Set<String> = []

    init(_ id: ManagedObjectID, _ type: PersistentHistoryChange.ChangeType, _ properties: Set<String> = []) {
      self.id = id
      self.type = type
      self.properties = properties
    }

    init(_ change: PersistentHistoryChange) {
      self.init(change.changedObjectID, change.changeType, Set(change.updatedProperties))
    }

    func permanent(_ ids: [ManagedObjectID: ManagedObjectID]) -> PlainChange {
      PlainChange(ids[id] ?? id, type, properties)
    }
  }

  private func randomChanges(
    _ engine: AtomicStoreEngine,
    _ generator: inout SeededGenerator
  ) throws -> (ChangeSet, [PlainChange]) {
    var inserted: [ObjectSnapshot] = []
    var updated: [RecordUpdate] = []
    var deleted: [RecordDeletion] = []
    var done: [PlainChange] = []
    for entity in [fixture.task, fixture.chore, fixture.project] {
      for node in try engine.nodes(of: entity) {
        switch Int.random(in: 0..<6, using: &generator) {
        case 0:
          deleted.append(fixture.deletion(node))
          done.append(PlainChange(node.objectID, .delete))
        case 1, 2:
          let isTask = entity.ordinal(ofProperty: "memo") != nil && Bool.random(using: &generator)
          let values: [String: PropertyValue] = isTask ? ["name": "a", "memo": "b"] : ["name": "c"]
          updated.append(try fixture.updated(node, values))
          done.append(PlainChange(node.objectID, .update, Set(values.keys)))
        default: break
        }
      }
      for _ in 0..<Int.random(in: 0...3, using: &generator) {
        let snapshot = fixture.inserted(entity)
        inserted.append(snapshot)
        done.append(PlainChange(snapshot.objectID, .insert))
      }
    }
    return (ChangeSet(inserted: inserted, updated: updated, deleted: deleted), done)
  }

  @Test func purgingByDateStopsAtTheFirstThatIsNotEarlier() throws {
    let engine = try open()
    for _ in 0..<3 { _ = try engine.save(ChangeSet(inserted: [fixture.inserted(fixture.task)])) }
    let dates = try reader(engine).transactions(.fetchHistory(after: nil)).map(\.timestamp)
    try engine.deleteHistory(before: dates[0])
    #expect(try engine.history()?.transactionCount == 3)
    try engine.deleteHistory(before: Date(timeIntervalSinceNow: 1000))
    #expect(try engine.history()?.transactionCount == 0)
    #expect(try engine.history()?.purgedNumber == 3)
  }

  @Test func readOnlyStoresAreNotPurged() throws {
    var options = tracking
    options[.isReadOnly] = true
    let setup = try fixture.setup(path: nil, options: options)
    let engine = try AtomicStoreEngine.open(
      AtomicClassFormat(InMemoryStore.self),
      setup: setup,
      fileSystem: fixture.files
    )
    #expect(errorCode { try engine.deleteHistory { _ in 1 } } == .storeReadOnly)
  }
}
