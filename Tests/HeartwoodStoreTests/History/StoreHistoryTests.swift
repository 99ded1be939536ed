import Foundation
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

/// Histories by themselves: pages, numbers, and what is no history.
@Suite struct StoreHistoryTests {
  private let store = UUID()
  private let entity: EntityDescription

  init() throws {
    entity = try #require(ManagedObjectModel(entities: [.entity("Thing")]).entities.first)
  }

  private func transaction(_ author: String, references: Int) throws -> ByteSlice {
    let origin = SaveOrigin(author: author)
    let encoder = HistoryTransactionEncoder(date: Date(timeIntervalSinceReferenceDate: 0), origin: origin)
    encoder.append(.insert, entity: "Thing", references: (0..<references).map { .integer(Int64($0)) })
    return try #require(encoder.sealed())
  }

  private func bytes(_ transaction: ByteSlice) -> [UInt8] { Array(transaction.unsafeBytes) }

  private func reader(_ history: StoreHistory) -> HistoryReader {
    let scope = ObjectIDScope(storeIdentifier: store, entity: entity)
    return HistoryReader(history, storeID: store, scopes: [scope], path: nil)
  }

  /// Transactions of all lengths, kept and given back by a store in the meantime: they come back in order, whatever page they are on.
  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func transactionsKeepTheirNumbers(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var history = StoreHistory()
    var authors: [String] = []
    for number in 1...200 {
      let isLong = Int.random(in: 0..<10, using: &generator) == 0
      let count = Int.random(in: 1...(isLong ? 20_000 : 200), using: &generator)
      try history.append(try transaction("\(number) \(count)", references: count))
      authors.append("\(number) \(count)")
      if number % 50 == 0 {
        let pages = try history.pages.map { try HistoryPage(bytes: $0.bytes, transactionCount: $0.transactionCount) }
        history = try StoreHistory(purgedNumber: history.purgedNumber, pages: pages)
      }
    }
    #expect(history.lastNumber == 200 && history.transactionCount == 200, "seed \(seed)")
    #expect(history.pages.count > 1, "seed \(seed)")
    for after in [0, 1, 57, 199, 200] {
      let token = PersistentHistoryToken([store: Int64(after)])
      let found = try reader(history).transactions(.fetchHistory(after: token))
      let laterAuthors: [String?] = Array(authors.dropFirst(after))
      let laterNumbers: [Int64] = (after..<200).map { Int64($0) + 1 }
      #expect(found.map(\.author) == laterAuthors, "seed \(seed), after \(after)")
      #expect(found.map(\.transactionNumber) == laterNumbers, "seed \(seed)")
      for transaction in found {
        let count = transaction.author.flatMap { Int($0.split(separator: " ")[1]) }
        #expect(transaction.changeCount == count && transaction.changeCount(of: .insert) == count, "seed \(seed)")
      }
    }
  }

  @Test func aPageOfOtherBytesIsRefused() throws {
    let bytes = bytes(try transaction("a", references: 2))
    #expect(try HistoryPage(bytes: bytes, transactionCount: 1).bytes == bytes)
    for (bytes, count) in [
      (bytes, 2), (bytes, 0), (bytes, -1), (Array(bytes.dropLast()), 1), (bytes + [0], 1), ([], 1),
    ] {
      let error = #expect(throws: PersistenceError.self) { try HistoryPage(bytes: bytes, transactionCount: count) }
      #expect(error?.code == .fileCorrupt)
    }
  }

  /// Whatever becomes of bytes, reading them ends with an error or with a history, and never with a trap.
  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func changedBytesAreNeverATrap(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let encoder = HistoryTransactionEncoder(date: Date(), origin: SaveOrigin(author: "ä", contextName: "b"))
    let references: [ReferenceID] = [.string("x"), .uuid(UUID()), .integer(5)]
    let values: [PropertyValue] = [.string("é"), .decimal(1), .boolean(true), .uri(URL(filePath: "/")), .null]
    encoder.append(.update, entity: "Thing", properties: ["p", "q"], references: references)
    encoder.append(.delete, entity: "Thing", properties: ["a", "b", "c", "d", "e"], references: references) { _ in
      values
    }
    let bytes = bytes(try #require(encoder.sealed()))
    for _ in 0..<500 {
      var changed = bytes
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        changed[Int.random(in: changed.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      }
      guard let page = try? HistoryPage(bytes: changed, transactionCount: 1) else { continue }
      let history = try StoreHistory(purgedNumber: 0, pages: [page])
      let found = try? reader(history).transactions(.fetchHistory(after: nil))
      for transaction in found ?? [] { #expect(transaction.changes.count == transaction.changeCount, "seed \(seed)") }
    }
  }

  @Test(arguments: [-1, Int64.max])
  func impossibleNumbersAreRefused(purged: Int64) throws {
    let page = try HistoryPage(bytes: bytes(try transaction("a", references: 1)), transactionCount: 1)
    let error = #expect(throws: PersistenceError.self) { try StoreHistory(purgedNumber: purged, pages: [page]) }
    #expect(error?.code == .fileCorrupt)
    if purged > 0 {
      var history = try StoreHistory(purgedNumber: purged, pages: [])
      let transaction = try transaction("b", references: 1)
      #expect(throws: PersistenceError.self) { try history.append(transaction) }
      #expect(history.transactionCount == 0)
    }
  }

  @Test func anEntityThatTheModelLacksIsSaid() throws {
    let encoder = HistoryTransactionEncoder(date: Date(), origin: SaveOrigin())
    encoder.append(.insert, entity: "Gone", references: [.integer(1)])
    var history = StoreHistory()
    try history.append(try #require(encoder.sealed()))
    let error = #expect(throws: PersistenceError.self) {
      try reader(history).transactions(.fetchHistory(after: nil))
    }
    #expect(error?.code == .modelIncompatible && error?.context.entity == "Gone")
    #expect(try reader(history).count(.fetchHistory(after: nil)) == 1)
  }
}
