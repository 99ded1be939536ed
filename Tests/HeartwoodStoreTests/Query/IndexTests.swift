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
        partialIndexPredicate: .comparison(FetchComparison(.key("number"), .greaterThan, .constant(.integer(5))))
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

  /// Versions of a table share the indexes of the columns that they share.
  @Test(arguments: ["name == 'name 7' AND number == 7", "note == 'note' AND number > 5"])
  func whatOneVersionHasDeletedIsFoundInAnother(_ condition: String) throws {
    let table = table(1000)
    var other = table
    other.delete([RowID(group: 0, row: 7)])
    let count = try query(table, condition, .never).count()
    #expect(try query(other, condition, .always).count() == count - 1)
    #expect(try query(table, condition, .always).count() == count)
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
    let sort = try CompiledSort(FetchSortDescriptor("number"), for: table.entity, in: model)
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
      let sort = try CompiledSort(FetchSortDescriptor("number", ascending: false), for: table.entity, in: model)
      let page = try query(table, "name != 'name 49'", use).rows(sortedBy: [sort], offset: 1, limit: 3)
      #expect(page == [198, 298, 398].map { RowID(group: 0, row: $0) })
    }
  }

  // MARK: Several properties, some records, further types

  private struct Wide {
    let model: ManagedObjectModel
    var tables: QueryTables

    init() throws {
      var item = EntityDefinition.entity(
        "Item",
        .attribute("done", .boolean),
        .attribute("due", .integer64, optional: true),
        .attribute("price", .decimal),
        .attribute("note", .string, optional: true),
        .toOne("owner", "Owner", inverse: nil),
        .attribute("at", .date, optional: true)
      )
      item.fetchIndexes = [
        FetchIndexDescription(name: "byDoneAndDue", properties: ["done", "due"]),
        FetchIndexDescription(name: "byPrice", properties: ["price"]),
        FetchIndexDescription(name: "byOwner", properties: ["owner"]),
        FetchIndexDescription(
          name: "openNotes",
          elements: [FetchIndexElementDescription(.property("note"))],
          partialIndexPredicate: try FetchPredicate(format: "done == NO AND due != nil")
        ),
        FetchIndexDescription(
          name: "timed",
          elements: [FetchIndexElementDescription(.property("note"))],
          partialIndexPredicate: try FetchPredicate(format: "at < now()")
        ),
      ]
      model = try ManagedObjectModel(entities: [item, .entity("Owner", .attribute("name", .string, optional: true))])
      let store = UUID()
      let scopes = model.entities.map { ObjectIDScope(storeIdentifier: store, entity: $0) }
      var items = NodeTable(entity: model.entities[0])
      var owners = NodeTable(entity: model.entities[1])
      owners.insert((0..<20).map { NodeTable.NewRow(reference: .integer(Int64($0)), values: [.null]) })
      items.insert(
        (0..<1000).map { number in
          let owner = ManagedObjectID(scope: scopes[1], reference: .integer(Int64(number % 20)))
          return NodeTable.NewRow(
            reference: .integer(Int64(number)),
            values: [
              .boolean(number.isMultiple(of: 2)), number % 5 == 0 ? .null : .integer(Int64(number)),
              .decimal(Decimal(number % 50) / 4), .string("note \(number % 10)"), .toOne(owner), .null,
            ]
          )
        }
      )
      tables = QueryTables(tables: [items, owners], scopes: scopes)
    }

    func query(_ predicate: FetchPredicate, use: IndexUse = .always) throws -> TableQuery {
      let plan = try PredicateCompiler.compile(predicate, for: model.entities[0], in: model)
      return TableQuery(tables, try #require(tables.table(0)), where: plan, indexUse: use)
    }

    func query(_ format: String) throws -> TableQuery { try query(try FetchPredicate(format: format)) }

    func plan(_ format: String) throws -> QueryPlan.Step {
      try query(try FetchPredicate(format: format), use: .automatic).plan(sortedBy: [])
    }
  }

  @Test func moreThanTheFirstPropertyIsUsed() throws {
    let wide = try Wide()
    let found = try wide.plan("done == NO AND due >= 100 AND due < 120 AND note != nil")
    #expect(found.indexName == "byDoneAndDue")
    // 101, 103, 107, 109, 111, 113, 117, 119: those that end in 5 have none.
    #expect(found.candidateCount == 8)
    #expect(try wide.query("done == NO AND due >= 100 AND due < 120").count() == 8)
    #expect(try wide.plan("done == NO AND due == nil").candidateCount == 100)
    #expect(try wide.plan("done IN {NO, YES} AND due == 7").candidateCount == 1)
    #expect(try wide.plan("due == 7").indexName == nil)
  }

  @Test func aSortFollowsWhatIsEqual() throws {
    let wide = try Wide()
    let sort = try CompiledSort(
      FetchSortDescriptor("due", ascending: false),
      for: wide.model.entities[0],
      in: wide.model
    )
    let query = try wide.query("done == NO AND note CONTAINS '9'")
    #expect(query.plan(sortedBy: [sort], limit: 3).order == "due, selecting the first 3 by the index byDoneAndDue")
    #expect(query.rows(sortedBy: [sort], limit: 3) == [999, 989, 979].map { RowID(group: 0, row: $0) })
    let whole = try wide.query("note CONTAINS '9'")
    #expect(whole.plan(sortedBy: [sort], limit: 3).order == "due, selecting the first 3")
    let byDone = try CompiledSort(
      FetchSortDescriptor("done", ascending: false),
      for: wide.model.entities[0],
      in: wide.model
    )
    #expect(
      whole.plan(sortedBy: [byDone, sort], limit: 3).order
        == "done, due, selecting the first 3 by the index byDoneAndDue"
    )
    #expect(whole.rows(sortedBy: [byDone, sort], limit: 1).isEmpty == false)
  }

  @Test func furtherTypesAreFound() throws {
    let wide = try Wide()
    let price = try wide.plan("price BETWEEN {12, 12.25}")
    #expect(price.indexName == "byPrice" && price.candidateCount == 40)
    #expect(try wide.query(FetchPredicate(format: "price == %@", Decimal(string: "12.25") ?? 0)).count() == 20)
    let owner = ManagedObjectID(scope: wide.tables.scopes[1], reference: .integer(3))
    let owned = try wide.query(FetchPredicate(format: "owner == %@", owner)).plan(sortedBy: [])
    #expect(owned.indexName == "byOwner" && owned.candidateCount == 50)
    #expect(try wide.query(FetchPredicate(format: "owner IN %@", [owner])).count() == 50)
    #expect(try wide.plan("done == YES").indexName == "byDoneAndDue")
  }

  @Test func aPartialIndexIsUsedWhereItsConditionsAreAskedFor() throws {
    let wide = try Wide()
    let found = try wide.plan("note == 'note 7' AND due != nil AND done == NO")
    #expect(found.indexName == "openNotes" && found.candidateCount == 100)
    #expect(try wide.query("note == 'note 7' AND due != nil AND done == NO").count() == 100)
    #expect(try wide.plan("due != nil AND done == NO").indexName == "openNotes")
    #expect(try wide.plan("note == 'note 7' AND done == YES AND due != nil").indexName == "byDoneAndDue")
    #expect(try wide.plan("note == 'note 7'").indexName == nil)
    // What is in such an index would be another thing at each moment.
    #expect(try wide.plan("note == 'note 7' AND at < now()").indexName == nil)
  }

  @Test func compoundIndexesFollowTheirColumns() throws {
    var wide = try Wide()
    let row = RowID(group: 0, row: 101)
    func count() throws -> Int { try wide.query("done == NO AND due >= 100 AND due < 120").count() }
    func notes() throws -> Int { try wide.query("note == 'note 7' AND due != nil AND done == NO").count() }
    #expect(try count() == 8 && notes() == 100)
    func change(_ values: (ordinal: Int, value: PropertyValue)...) throws {
      var table = try #require(wide.tables.table(0))
      table.update([.init(row: row, values: values)])
      wide.tables = QueryTables(tables: [table, wide.tables.table(1)], scopes: wide.tables.scopes)
    }
    try change((1, .integer(500)))
    #expect(try count() == 7 && notes() == 100)
    try change((0, .boolean(true)), (1, .integer(101)), (3, .string("note 7")))
    #expect(try count() == 7 && notes() == 100)
    // A change of a column that is only a condition of the index.
    try change((0, .boolean(false)))
    #expect(try count() == 8 && notes() == 101)
  }
}
