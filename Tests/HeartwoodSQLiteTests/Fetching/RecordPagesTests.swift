import Foundation
import GRDB
import Heartwood
import HeartwoodModel
import HeartwoodStore
import Testing

import HeartwoodGraph
@testable import HeartwoodSQLite

/// Records that are read page by page, for an export, are those that a fetch finds, of one moment, and are not kept.
@Suite struct RecordPagesTests {
  private let bench: SQLiteBench
  /// The first is of `Record`, the others of `Special`.
  private let counts = (80_000, 10_000)

  init() throws {
    bench = try SQLiteBench(
      ManagedObjectModel(entities: [
        .entity("Record", .attribute("number", .integer32), .attribute("title", .string, optional: true)),
        EntityDefinition(name: "Special", superentityName: "Record", properties: []),
      ])
    )
    try bench.context().persistentStoreCoordinator.close()
    let queue = try DatabaseQueue(path: bench.url().path)
    try queue.write { db in
      let all = counts.0 + counts.1
      try db.execute(
        sql: """
          WITH RECURSIVE s(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM s WHERE k < \(all))
          INSERT INTO ZRECORD (Z_PK, Z_ENT, Z_OPT, ZNUMBER, ZTITLE)
          SELECT k, iif(k > \(counts.0), 2, 1), 1, k, 'title ' || (k % 7) FROM s;
          UPDATE Z_PRIMARYKEY SET Z_MAX = \(all);
          """
      )
    }
    try queue.close()
  }

  private func numbers(_ pages: RecordPages) throws -> [Int] {
    try (0..<pages.pageCount).flatMap { number in
      try pages.tables(ofPage: number).flatMap { table in
        let place = try #require(table.entity.properties.firstIndex { $0.name == "number" })
        return table.liveRows.map { row in
          let value = table.groups[row.group].value(row: row.row, ordinal: place, type: .integer32, scopes: [])
          return if case .integer(let number) = value { Int(number) } else { -1 }
        }
      }
    }
  }

  private func request(
    _ condition: String? = nil,
    sortedBy sorts: [FetchSortDescriptor] = [],
    offset: Int = 0,
    limit: Int? = nil
  ) throws -> HeartwoodGraph.FetchRequest<ManagedObject> {
    HeartwoodGraph.FetchRequest(
      entityName: "Record",
      where: try condition.map { try FetchPredicate(format: $0) },
      sortedBy: sorts,
      offset: offset,
      limit: limit
    )
  }

  @Test func pagesHaveWhatAFetchFinds() throws {
    let context = try bench.context()
    for request in [
      try request(), try request("number > 40000"), try request("title == 'title 3'"),
      try request(offset: 79_990, limit: 40), try request(offset: 200_000), try request("number < 0"),
      try request(limit: 0),
    ] {
      let pages = try context.recordPages(request)
      let found = try context.fetch(request).map { try #require(try $0.value(forKey: "number") as? Int) }
      #expect(try numbers(pages) == found)
      #expect(pages.count == found.count)
      #expect(pages.pageCount >= 1)
    }
    #expect(try context.recordPages(request()).entities.map(\.name) == ["Record", "Special"])
    #expect(try context.recordPages(request("number < 0")).entities.map(\.name) == ["Record"])
  }

  @Test func pagesAreInTheOrderOfTheRequest() throws {
    let context = try bench.context()
    let order = [FetchSortDescriptor("title"), FetchSortDescriptor("number", ascending: false)]
    var one = try request(sortedBy: order)
    one.includesSubentities = false
    let expected = (1...counts.0).sorted { ($0 % 7, $1) < ($1 % 7, $0) }
    let pages = try context.recordPages(one)
    #expect(pages.pageCount == 3)
    #expect(try numbers(pages) == expected)
    (one.fetchOffset, one.fetchLimit) = (70_000, 5_000)
    #expect(try numbers(context.recordPages(one)) == Array(expected[70_000..<75_000]))
    // Those of two entities are merged.
    let all = (1...(counts.0 + counts.1)).sorted { ($0 % 7, $1) < ($1 % 7, $0) }
    #expect(try numbers(try context.recordPages(request(sortedBy: order))) == all)
  }

  @Test func pagesAreOfOneMomentAndNotKept() throws {
    let context = try bench.context()
    let pages = try context.recordPages(request())
    let first = try #require(try pages.tables(ofPage: 0).first)
    #expect(first.count < counts.0)
    let queue = try DatabaseQueue(path: bench.url().path)
    try queue.write { db in
      try db.execute(sql: "UPDATE ZRECORD SET ZNUMBER = 0, Z_OPT = 2; DELETE FROM ZRECORD WHERE Z_PK % 2 = 0")
    }
    #expect(try numbers(pages) == Array(1...(counts.0 + counts.1)))
    #expect(context.persistentStoreCoordinator.persistentStores[0].recordByteCount == 0)
    #expect(try numbers(try context.recordPages(request())).allSatisfy { $0 == 0 })
  }

  @Test func pagesOfAClosedStoreAreRefused() throws {
    let context = try bench.context()
    let pages = try context.recordPages(request())
    context.persistentStoreCoordinator.close()
    #expect(bench.code { _ = try pages.tables(ofPage: 0) } == .storeNotOpen)
  }
}
