import Foundation
import Heartwood
import HeartwoodModel
import HeartwoodStore
import TestSupport
import Testing

@testable import HeartwoodPostgreSQL

/// What is found in SQL, held against what all records in memory give.
@Suite(.needsServer) struct TranslatedFetchTests {
  @Test(arguments: 0..<2)
  func fetchesAsInMemory(_ run: Int) throws {
    var fixture = try TranslationFixture(seed: .random(in: 0...UInt64.max))
    var translated = 0
    for _ in 0..<400 {
      let predicate = fixture.queries.predicate(depth: 2)
      let sorts = fixture.names(["i16", "dbl", "str", "date", "flag", "list.name"], 0...2).map {
        FetchSortDescriptor($0, ascending: fixture.queries.number(0...1) == 0)
      }
      let limit = fixture.queries.number(0...2) == 0 ? fixture.queries.number(0...20) : nil
      let fetch = try fixture.fetch(predicate, sorts, fixture.queries.number(0...3), limit)
      guard let found = try fixture.store.fetch(fetch) else { continue }
      translated += 1
      #expect(found == fixture.expected(fetch), "\(predicate)")
    }
    #expect(translated > 20, "much is found in SQL")
  }

  @Test func narrowedFetchesAsInMemory() throws {
    var fixture = try TranslationFixture(seed: .random(in: 0...UInt64.max))
    var narrowed = 0
    for _ in 0..<60 {
      let predicate = FetchPredicate.and((0..<3).map { _ in fixture.queries.predicate(depth: 1) })
      let sorts = fixture.names(["i16", "str", "tags.@count", "next.i16"], 0...1).map { FetchSortDescriptor($0) }
      let fetch = try fixture.fetch(predicate, sorts, 0, fixture.queries.number(0...2) == 0 ? 5 : nil)
      let context = try fixture.bench.context()
      let engine = context.persistentStoreCoordinator.persistentStores[0].engine
      guard try fixture.store.fetch(fetch) == nil, try engine.queryPlan(fetch) != nil else { continue }
      narrowed += 1
      guard let found = try engine.find(fetch) else { continue }
      #expect(found.rows.map(found.table.reference) == fixture.expected(fetch), "\(predicate)")
      context.persistentStoreCoordinator.close()
    }
    #expect(narrowed > 3, "much is narrowed")
  }

  @Test func onlyCandidatesAreRead() throws {
    let bench = try StoreBench()
    let writer = try bench.context()
    for number in 0..<20 { try bench.insert("Item", ["title": "Tea \(number)", "count": number], in: writer) }
    try writer.save()
    let log = StatementLog()
    let context = try bench.context(log.options)
    #expect(try bench.titles(context, where: "count < 5 AND title ==[c] 'TEA 3'") == ["Tea 3"])
    #expect(log.beginning(with: "COPY").isEmpty, "not all records are read")
    #expect(log.beginning(with: "SELECT r.id FROM").count == 1)
  }
}
