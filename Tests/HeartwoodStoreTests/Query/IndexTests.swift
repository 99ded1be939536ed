import Foundation
import HeartwoodModel
import HeartwoodTesting
import Testing

@testable import HeartwoodStore

@Suite struct IndexTests {
  private let model: ManagedObjectModel

  init() throws {
    var item = EntityDefinition.entity(
      "Item",
      .attribute("number", .integer64, optional: true),
      .attribute("name", .string, optional: true),
      .attribute("note", .string, optional: true)
    )
    item.fetchIndexes = [
      FetchIndexDescription(name: "byNumber", properties: ["number"]),
      FetchIndexDescription(name: "byName", properties: ["name", "number"]),
      FetchIndexDescription(
        name: "partial",
        elements: [FetchIndexElementDescription(.property("note"))],
        partialIndexPredicate: .literal(true)
      ),
    ]
    model = try ManagedObjectModel(entities: [item])
  }

  private func table(_ count: Int) -> NodeTable {
    var table = NodeTable(entity: model.entities[0])
    table.insert(
      (0..<count).map { number in
        NodeTable.NewRow(
          reference: .integer(Int64(number)),
          values: [.integer(Int64(number % 100)), .string("name \(number % 50)"), .string("note")]
        )
      }
    )
    return table
  }

  private func query(_ table: NodeTable, _ format: String, _ use: IndexUse = .automatic) throws -> TableQuery {
    let plan = try PredicateCompiler.compile(try FetchPredicate(format: format), for: table.entity, in: model)
    let scope = ObjectIDScope(storeIdentifier: UUID(), entity: table.entity)
    return TableQuery(QueryTables(tables: [table], scopes: [scope]), table, where: plan, indexUse: use)
  }

  @Test func anIndexIsMadeForTheSecondWhoAsks() throws {
    let table = table(1000)
    let column = table.groups[0].columns[0]
    #expect(column.order.rows(of: column, isNeeded: false) == nil)
    #expect(try query(table, "number == 7").count() == 10)
    let made = try #require(column.order.rows(of: column, isNeeded: false))
    #expect(made.rows.count == 1000)
    #expect(made.rows.prefix(10).allSatisfy { $0 % 100 == 0 })
  }

  @Test func whatASaveDoesNotTouchKeepsItsIndex() throws {
    var table = table(1000)
    _ = try query(table, "number == 7", .always).count()
    let before = table.groups[0].columns[0].order
    table.update([.init(row: RowID(group: 0, row: 3), values: [(1, .string("other"))])])
    #expect(table.groups[0].columns[0].order === before)
    table.delete([RowID(group: 0, row: 7)])
    #expect(table.groups[0].columns[0].order === before)
    #expect(try query(table, "number == 7", .always).count() == 9)
    table.update([.init(row: RowID(group: 0, row: 8), values: [(0, .integer(7))])])
    #expect(table.groups[0].columns[0].order !== before)
    #expect(try query(table, "number == 7", .always).count() == 10)
  }

  @Test func aPlanTellsWhichIndexIsUsed() throws {
    let table = table(1000)
    let plan = try query(table, "note == 'note' AND number IN {3, 4} AND name CONTAINS 'x'").plan(sortedBy: [])
    #expect(plan.indexName == "byNumber")
    #expect(plan.candidateCount == 20)
    #expect(plan.recordCount == 1000)
    #expect(try query(table, "note == 'note'").plan(sortedBy: []).indexName == nil)
    #expect(try query(table, "name BEGINSWITH 'name 1'").plan(sortedBy: []).indexName == "byName")
    #expect(try query(table, "name BEGINSWITH[c] 'name 1'").plan(sortedBy: []).indexName == nil)
    #expect(try query(table, "number == 1 OR note == nil").plan(sortedBy: []).indexName == nil)
    let sort = try SortPlan(FetchSortDescriptor("number"), for: table.entity, in: model)
    let sorted = try query(table, "note != nil").plan(sortedBy: [sort], limit: 5)
    #expect(sorted.order == "number, selecting the first 5 by the index byNumber")
  }

  @Test(arguments: [IndexUse.never, .always, .automatic])
  func findsAndSortsInLargeTables(_ use: IndexUse) throws {
    var table = table(70_000)
    table.delete((0..<50).map { RowID(group: 0, row: $0 * 100 + 7) })
    for _ in 0..<3 {
      #expect(try query(table, "number == 7", use).count() == 650)
      #expect(try query(table, "name == 'name 7' AND number == 57", use).count() == 700)
      #expect(try query(table, "number > 98 OR number < 1", use).count() == 1400)
      #expect(try query(table, "NOT number >= 1", use).count() == 700)
      let sort = try SortPlan(FetchSortDescriptor("number", ascending: false), for: table.entity, in: model)
      let page = try query(table, "name != 'name 49'", use).rows(sortedBy: [sort], offset: 1, limit: 3)
      #expect(page == [198, 298, 398].map { RowID(group: 0, row: $0) })
    }
  }
}
