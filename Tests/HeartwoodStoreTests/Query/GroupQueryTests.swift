import HeartwoodModel
import Testing

@testable import HeartwoodStore

/// Groups and aggregates on columns, held against records that are put into groups one by one.
@Suite struct GroupQueryTests {
  private static let keys = [
    "i16", "i32", "i64", "dec", "dbl", "flt", "str", "flag", "date", "uuid", "url", "data", "list", "list.name",
    "next.i16",
    "full % 3", "lowercase(str)", "tags.@count", "i16 + full", "next",
  ].map { $0.replacing("full % 3", with: "modulus:by:(full, 3)") }

  private static let aggregates = [
    "@count", "count(str)", "count(list)", "sum(full)", "sum(i64)", "sum(dbl)", "sum(flag)", "sum(dec)", "average(i32)",
    "average(flt)", "average(dec)", "min(i64)", "max(i16)", "min(dbl)", "max(flt)", "min(date)", "max(date)",
    "min(str)", "max(uuid)",
    "min(dec)", "max(flag)", "count(distinct(str))", "sum(distinct(i16))", "median(full)", "mode(i16)", "stddev(full)",
    "sum(full * 2 + i16)", "max(list.order)", "@sum.full", "@avg.i16", "@distinctUnionOfObjects.flag.@count",
  ]

  @Test(arguments: 0..<5)
  func groupsAsThePlainWayDoes(_ run: Int) throws {
    var fixture = try QueryFixture(seed: .random(in: 0...UInt64.max), rowsPerGroup: [60, 64, 65, 300, 7][run])
    let table = try #require(fixture.table)
    for _ in 0..<80 {
      let names = (0..<fixture.number(0...2)).map { _ in Self.keys[fixture.number(0...(Self.keys.count - 1))] }
      let functions = (0..<fixture.number(1...3)).map { _ in
        Self.aggregates[fixture.number(0...(Self.aggregates.count - 1))]
      }
      let grouping = try grouping(names, functions, fixture)
      let predicate = fixture.predicate(depth: 1)
      let plan = try PredicateCompiler.compile(predicate, for: fixture.item, in: fixture.model)
      let hidden = Set(Array(table.liveRows).enumerated().filter { $0.offset.isMultiple(of: 11) }.map(\.element))
      let query = TableQuery(fixture.tables, table, where: plan, without: run == 0 ? hidden : [])
      let rows = TableQuery(fixture.tables, table, where: plan).rows().filter { run != 0 || !hidden.contains($0) }
      let expected = plainGroups(rows, grouping, fixture)
      let groups = query.groups(by: grouping)
      let found = groups.recordGroups()
      let columns = (0..<(names.count + functions.count)).map { CompiledExpression.variable($0) }
      let places = 0..<(groups.count / 2)
      #expect(
        groups.values(of: columns, in: places).elementsEqual(
          found[places].flatMap { $0.values(of: columns) },
          by: isSame
        )
      )
      #expect(found.map(\.keys) == expected.map(\.keys), "\(names) \(predicate)")
      for (group, plain) in zip(found, expected) {
        for (index, accumulator) in group.accumulators.enumerated() {
          let (value, other) = (accumulator.result, plain.values[index])
          #expect(isSame(value, other), "\(functions[index]) by \(names): \(value), \(other)")
        }
      }
    }
  }

  @Test func manyGroupsOfManyRows() throws {
    let model = try ManagedObjectModel(entities: [
      .entity("Item", .attribute("number", .integer32), .attribute("name", .string))
    ])
    let entity = try #require(model.entity(named: "Item"))
    let groups = (0..<3).map { number in
      let builder = RowGroupBuilder(entity: entity)
      for row in 0..<9000 {
        let value = (number * 9000 + row) % 10_007
        builder.append(
          .integer(Int64(number * 9000 + row)),
          version: 1,
          values: [.integer(Int64(value)), .string("n\(value)")]
        )
      }
      return builder.sealed()
    }
    let table = NodeTable(entity: entity, groups: groups)
    let tables = QueryTables(tables: [table], scopes: [ObjectIDScope(storeIdentifier: nil, entity: entity)])
    for keys in [["number"], ["name"], ["name", "number"]] {
      let selection = Selection(
        columns: try ["@count", "sum(number)"].map { try ExpressionDescription(format: $0) },
        groupKeys: keys.map { ExpressionDescription($0) }
      )
      let grouping = try #require(SelectionPlan(selection, for: entity, in: model).grouping)
      let groups = TableQuery(tables, table, where: nil).groups(by: grouping)
      let found = groups.recordGroups()
      #expect(found.count == 10_007)
      let columns = [CompiledExpression.variable(0), .variable(keys.count)]
      #expect(groups.values(of: columns, in: 0..<groups.count) == found.flatMap { $0.values(of: columns) })
      for (value, group) in found.enumerated() {
        let count = Int64((27_000 - value + 10_006) / 10_007)
        #expect(group.accumulators.map(\.result) == [.integer(count), .integer(count * Int64(value))])
      }
    }
  }

  /// Files keep the texts of URIs as they are, and more than one may be read as the same URI.
  @Test func textsOfTheSameURIAreOneGroup() throws {
    let model = try ManagedObjectModel(entities: [.entity("Item", .attribute("home", .uri))])
    let entity = try #require(model.entity(named: "Item"))
    let builder = RowGroupBuilder(entity: entity)
    for (row, text) in ["http://x/ä", "http://x/b", "http://x/%C3%A4"].enumerated() {
      builder.beginRow(.integer(Int64(row)), version: 1)
      Array(text.utf8).withUnsafeBytes { builder.columns[0].append(bytes: $0) }
    }
    let table = NodeTable(entity: entity, groups: [builder.sealed()])
    let tables = QueryTables(tables: [table], scopes: [ObjectIDScope(storeIdentifier: nil, entity: entity)])
    let selection = Selection(columns: [.count()], groupKeys: ["home"])
    let grouping = try #require(SelectionPlan(selection, for: entity, in: model).grouping)
    let found = TableQuery(tables, table, where: nil).groups(by: grouping).recordGroups()
    #expect(found.map { $0.accumulators.map(\.result) } == [[.integer(2)], [.integer(1)]])
  }

  @Test func groupsOfTheSameKeysTakeMore() throws {
    let model = try ManagedObjectModel(entities: [.entity("Item", .attribute("number", .integer32))])
    let entity = try #require(model.entity(named: "Item"))
    let selection = Selection(columns: [.count()], groupKeys: ["number"])
    let grouping = try #require(SelectionPlan(selection, for: entity, in: model).grouping)
    let group = RecordGroup(keys: [.integer(1)], accumulators: [.count(1)])
    var groups = RecordGroups([group, group], by: grouping)
    groups.merge([group])
    #expect(groups.groups.map { $0.accumulators.map(\.result) } == [[.integer(2)], [.integer(1)]])
  }

  private func grouping(
    _ keys: [String],
    _ functions: [String],
    _ fixture: QueryFixture
  ) throws -> CompiledGrouping {
    let selection = Selection(
      columns: try functions.enumerated().map { try ExpressionDescription(format: "\($1) AS c\($0)") },
      groupKeys: try keys.map { try ExpressionDescription(format: $0) }
    )
    let grouping = try #require(SelectionPlan(selection, for: fixture.item, in: fixture.model).grouping)
    // An aggregate that is asked for twice is made once.
    guard grouping.aggregates.count < functions.count else { return grouping }
    let places = functions.map { function in functions.firstIndex(of: function) ?? 0 }
    var distinct: [Int] = []
    for place in places where !distinct.contains(place) { distinct.append(place) }
    return CompiledGrouping(
      keys: grouping.keys,
      aggregates: places.map { grouping.aggregates[distinct.firstIndex(of: $0) ?? 0] },
      having: nil
    )
  }

  private func plainGroups(
    _ rows: [RowID],
    _ grouping: CompiledGrouping,
    _ fixture: QueryFixture
  ) -> [(keys: [PropertyValue], values: [PropertyValue])] {
    let evaluator = PredicateEvaluator(fixture.tables)
    func value(_ plan: CompiledExpression, _ row: RowID) -> PropertyValue {
      evaluator.value(plan, .init(entityOrdinal: fixture.item.ordinal, row: row)).scalar
    }
    var order: [[PropertyValue]] = []
    var members: [[PropertyValue]: [RowID]] = [:]
    for row in rows {
      let keys = grouping.keys.map { value($0, row) }
      if members[keys] == nil { order.append(keys) }
      members[keys, default: []].append(row)
    }
    return order.map { keys in
      let values = grouping.aggregates.map { aggregate in
        var values = (members[keys] ?? []).map { value(aggregate.operand, $0) }.filter { !$0.isNull }
        if aggregate.isDistinct { values = Array(Set(values)) }
        return Statistics.apply(aggregate.function, values)
      }
      return (keys, values)
    }
  }

  /// Whether both are the same, but for the order in which doubles were added.
  private func isSame(_ left: PropertyValue, _ right: PropertyValue) -> Bool {
    guard case .double(let a) = left, case .double(let b) = right, a.isFinite, b.isFinite else { return left == right }
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b), 1)
  }
}
