import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@Suite struct NodeTableTests {
  /// A table, what it ought to hold, and older versions of both.
  private struct Pair {
    var everything: Everything
    var table: NodeTable
    var plain = PlainTable()
    var deleted: [ReferenceID] = []
    var older: [(table: NodeTable, plain: PlainTable)] = []

    init(_ everything: Everything) {
      self.everything = everything
      table = NodeTable(entity: everything.entity)
    }

    mutating func change() throws {
      switch Int.random(in: 0..<8, using: &everything.generator) {
      case 0, 1, 2: insert()
      case 3, 4: try update()
      case 5: try delete()
      case 6: older.append((table, plain))
      default: try lookUp()
      }
    }

    private mutating func insert() {
      var rows = (0..<Int.random(in: 0...20, using: &everything.generator)).map { _ in everything.newRow() }
      // What was deleted may come back under its old name.
      if let returning = deleted.popLast() { rows.append(.init(reference: returning, values: everything.values())) }
      table.insert(rows)
      plain.insert(rows)
    }

    private mutating func update() throws {
      var updates: [NodeTable.RowUpdate] = []
      var touched: Set<Int> = []
      for _ in 0..<Int.random(in: 0...15, using: &everything.generator) where !plain.records.isEmpty {
        let index = Int.random(in: plain.records.indices, using: &everything.generator)
        let count = Int.random(in: 0...3, using: &everything.generator)
        let values = (0..<count).map { _ in
          let ordinal = Int.random(in: everything.entity.properties.indices, using: &everything.generator)
          return (ordinal: ordinal, value: everything.value(ordinal))
        }
        updates.append(.init(row: try #require(try table.row(of: plain.records[index].reference)), values: values))
        plain.update(index, values)
        touched.insert(index)
      }
      for index in touched { plain.raiseVersion(index) }
      table.update(updates)
    }

    private mutating func delete() throws {
      let count = Int.random(in: 0...6, using: &everything.generator)
      let references = (0..<count).compactMap { _ in
        plain.records.randomElement(using: &everything.generator)?.reference
      }
      table.delete(try references.map { try #require(try table.row(of: $0)) })
      plain.delete(Set(references))
      deleted += Set(references)
    }

    private mutating func lookUp() throws {
      #expect(try table.row(of: everything.reference()) == nil)
      for reference in deleted { #expect(try table.row(of: reference) == nil) }
    }
  }

  @Test(arguments: Everything.References.allCases, [1, 2, 3, UInt64.random(in: 4 ... .max)])
  func doesWhatAPlainListDoes(_ references: Everything.References, _ seed: UInt64) throws {
    var pair = Pair(try Everything(seed: seed, references: references))
    for step in 0..<150 {
      try pair.change()
      if step.isMultiple(of: 10) { try pair.plain.expectSame(pair.table, pair.everything) }
    }
    try pair.plain.expectSame(pair.table, pair.everything)
    for (table, plain) in pair.older { try plain.expectSame(table, pair.everything) }
  }

  @Test func olderVersionFindsWhatIsDeletedInTheNewer() throws {
    var everything = try Everything(seed: 1, references: .uuids)
    let rows = (0..<10).map { _ in everything.newRow() }
    var table = NodeTable(entity: everything.entity)
    table.insert(rows)
    let older = table
    let row = try #require(Array(table.liveRows).first)
    table.delete([row])
    #expect(try table.row(of: rows[0].reference) == nil)
    #expect(try older.row(of: rows[0].reference) == row)
  }

  @Test func columnsThatAnUpdateDoesNotTouchAreShared() throws {
    var everything = try Everything(seed: 1, references: .uuids)
    var table = NodeTable(entity: everything.entity)
    table.insert((0..<100).map { _ in everything.newRow() })
    let older = table
    table.update([.init(row: RowID(group: 0, row: 7), values: [(0, everything.value(0))])])
    for (ordinal, (old, new)) in zip(older.groups[0].columns, table.groups[0].columns).enumerated() {
      #expect((old.values.region === new.values.region) == (ordinal != 0))
    }
    #expect(table.groups[0].references.values.region === older.groups[0].references.values.region)
  }

  @Test func highestVersionOfAFileIsNoTrap() throws {
    var everything = try Everything(seed: 1, references: .integers)
    let builder = RowGroupBuilder(entity: everything.entity)
    builder.append(.integer(1), version: .max, values: everything.values())
    var table = NodeTable(entity: everything.entity, groups: [builder.sealed()])
    let row = RowID(group: 0, row: 0)
    #expect(table.version(row) == .max)
    table.update([.init(row: row, values: [])])
    #expect(table.version(row) != .max)
  }
}

@Suite struct LargeNodeTableTests {
  private let model: ManagedObjectModel
  private let entity: EntityDescription

  init() throws {
    model = try ManagedObjectModel(entities: [.entity("Item", .attribute("number", .integer64))])
    entity = try #require(model.entity(named: "Item"))
  }

  private func rows(_ numbers: Range<Int64>) -> [NodeTable.NewRow] {
    numbers.map { .init(reference: .integer($0), values: [.integer($0)]) }
  }

  private func numbers(_ table: NodeTable) -> [Int64] {
    table.liveRows.map { table.groups[$0.group].unsafeViews[0].unsafeInteger($0.row) }
  }

  @Test func groupsThatAreFullAreTakenAsTheyAre() throws {
    var table = NodeTable(entity: entity)
    table.insert(rows(0..<10))
    let full = RowGroupBuilder.groups(of: rows(10..<70_000), entity: entity)
    #expect(
      Array(table.insert(full)).map(\.group) == Array(repeating: 1, count: 65_536) + Array(repeating: 2, count: 4454)
    )
    #expect(table.groups.map(\.rowCount) == [10, 65_536, 4454])
    #expect(table.groups[1] === full[0])
    #expect(numbers(table) == Array(0..<70_000))
    #expect(try table.row(of: .integer(69_999)) == RowID(group: 2, row: 4453))
  }

  @Test func rowsGoOnInTheNextGroup() throws {
    var table = NodeTable(entity: entity)
    table.insert(rows(0..<65_536))
    #expect(table.groups.map(\.rowCount) == [65_536])
    table.insert(rows(65_536..<65_537))
    #expect(Array(table.insert(rows(65_537..<100_000))).last == RowID(group: 1, row: 34_463))
    let placed = table.insert(rows(100_000..<140_000))
    #expect(placed.count == 40_000)
    #expect(Array(placed) == Array(table.liveRows.dropFirst(100_000)))
    #expect(table.groups.map(\.rowCount) == [65_536, 65_536, 8928])
    #expect(numbers(table) == Array(0..<140_000))
    for number in [0, 65_535, 65_536, 131_071, 131_072, 139_999] as [Int64] {
      let row = try #require(try table.row(of: .integer(number)))
      #expect(table.reference(row) == .integer(number))
    }

    let older = table
    let deleted = Set((0..<140_000).filter { $0 % 3 == 0 || (65_000..<66_000).contains($0) }.map(Int64.init))
    table.delete(try deleted.map { try #require(try table.row(of: .integer($0))) })
    table.update([.init(row: RowID(group: 1, row: 65_535), values: [(0, .integer(-1))])])
    #expect(numbers(table) == (0..<140_000).filter { !deleted.contains($0) }.map { $0 == 131_071 ? -1 : $0 })
    #expect(table.count == 140_000 - deleted.count)
    #expect(numbers(older) == Array(0..<140_000))
  }

  @Test func liveRowsArePutTogetherInNewGroups() throws {
    var table = NodeTable(entity: entity)
    table.insert(rows(0..<200_000))
    table.update((0..<10).map { .init(row: RowID(group: 2, row: $0 * 7), values: []) })
    table.delete(table.liveRows.filter { $0.row.isMultiple(of: 5) })
    let builder = TableBuilder(entity: entity)
    for group in table.groups { try builder.append(liveRowsOf: group) }
    let compact = builder.finish()
    #expect(compact.groups.allSatisfy { $0.liveness == nil })
    #expect(compact.groups.map(\.rowCount) == [65_536, 65_536, 160_000 - 131_072 - 3])
    #expect(numbers(compact) == numbers(table))
    #expect(compact.liveRows.map(compact.version) == table.liveRows.map(table.version))
    try compact.checkReferences()
  }

  enum Place: CaseIterable {
    case sameGroup, otherGroup, twoGroupsApart
  }

  @Test(arguments: Place.allCases, [10, 60_000])
  func referenceThatOccursTwiceIsFound(_ place: Place, _ rowCount: Int64) throws {
    func group(_ numbers: [Int64]) -> RowGroup {
      let builder = RowGroupBuilder(entity: entity)
      for number in numbers { builder.append(.integer(number), version: 1, values: [.integer(number)]) }
      return builder.sealed()
    }
    let first = Array(0..<rowCount)
    let groups =
      switch place {
      case .sameGroup: [group(first + [3])]
      case .otherGroup: [group(first), group([-1, 3])]
      case .twoGroupsApart: [group(first), group([-1]), group([3])]
      }
    let table = NodeTable(entity: entity, groups: groups)
    let error = #expect(throws: PersistenceError.self) { try table.checkReferences() }
    #expect(error?.code == .duplicateReference)
    #expect(error?.context.entity == "Item")
    #expect(error?.message.contains("Records 4 and \(rowCount + (place == .sameGroup ? 1 : 2)) ") == true)
    #expect(errorCode { _ = try table.row(of: .integer(5)) } == .duplicateReference)
  }

  @Test func deletedRecordIsNoDuplicate() throws {
    var table = NodeTable(entity: entity)
    table.insert(rows(0..<100))
    table.delete([RowID(group: 0, row: 50)])
    table.insert(rows(50..<51))
    try table.checkReferences()
    #expect(try table.row(of: .integer(50)) == RowID(group: 0, row: 100))
    let reopened = NodeTable(entity: entity, groups: table.groups)
    try reopened.checkReferences()
    #expect(try reopened.row(of: .integer(50)) == RowID(group: 0, row: 100))
  }
}
