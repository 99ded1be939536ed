import Foundation
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

/// What authors of stores do with columns.
@Suite struct PublicColumnTests {
  private let model: ManagedObjectModel
  private let entity: EntityDescription

  init() throws {
    model = try ManagedObjectModel(entities: [
      .entity(
        "Item",
        .attribute("flag", .boolean, optional: true),
        .attribute("number", .integer32, optional: true),
        .attribute("text", .string, optional: true),
        .toMany("items", "Item", inverse: nil)
      ),
      .entity("Other", .attribute("flag", .boolean, optional: true)),
    ])
    entity = try #require(model.entity(named: "Item"))
  }

  private func loader() -> StoreLoader {
    let setup = StoreSetup(
      model: model,
      configurationName: nil,
      entities: model.entities,
      place: .file(path: "/columns"),
      options: StoreOptions()
    )
    return StoreLoader(setup: setup, storeType: "Columns")
  }

  /// Three records, of which the second has no values.
  private func parts() -> (references: ReferenceColumn, columns: [RecordColumn]) {
    let names = ReferenceColumn(
      layout: .integer,
      count: 3,
      values: RecordColumn([Int64(10), 20, 30]).values,
      offsets: nil,
      entities: .same(UInt32(entity.ordinal))
    )
    let validity = BitSlice(ByteSlice([0b101]))
    func offsets(_ values: [Int32]) -> ByteSlice { RecordColumn(values).values }
    let columns = [
      RecordColumn(kind: .bits, rowCount: 3, validity: validity, values: ByteSlice([0b001])),
      RecordColumn([Int32(7), 0, -7], validity: validity),
      RecordColumn(
        kind: .bytes,
        rowCount: 3,
        validity: validity,
        offsets: offsets([0, 1, 1, 3]),
        values: ByteSlice([UInt8]("aü".utf8))
      ),
      RecordColumn(
        kind: .toMany,
        rowCount: 3,
        offsets: offsets([0, 0, 0, 2]),
        references: ReferenceColumn(
          layout: .integer,
          count: 2,
          values: RecordColumn([Int64(10), 20]).values,
          offsets: nil,
          entities: .same(UInt32(entity.ordinal))
        )
      ),
    ]
    return (names, columns)
  }

  @Test func recordsAreMadeOfTheirColumns() throws {
    let (references, columns) = parts()
    let loader = loader()
    try loader.setRowGroups([try RowGroup(of: entity, references: references, columns: columns)], of: entity)
    let contents = try loader.finish().verified()
    let nodes = Array(contents.nodes(of: entity))
    #expect(nodes.map(\.reference) == [.integer(10), .integer(20), .integer(30)])
    #expect(nodes.map { $0["flag"] } == [.boolean(true), .null, .boolean(false)])
    #expect(nodes.map { $0["number"] } == [.integer(7), .null, .integer(-7)])
    #expect(nodes.map { $0["text"] } == [.string("a"), .null, .string("ü")])
    #expect(nodes[2]["items"] == .toMany([nodes[0].objectID, nodes[1].objectID]))
    // What is written is what was read, without a copy.
    let written = try contents.rowGroups(of: entity)
    #expect(written.count == 1)
    for column in columns.indices { #expect(written[0].columns[column].values.array == columns[column].values.array) }
  }

  // MARK: Refused

  /// What is wrong, what is changed for it, and what the error says.
  enum Fault: String, CaseIterable {
    case otherCount = "the column has 2 rows, and not 3"
    case otherKind = "int64 is not the layout of the property's values"
    case missingColumn = "there are 3 columns for 4 properties"
    case shortValues = "there are 8 bytes instead of 12"
    case bitsBehindTheEnd = "bits after the last row are set"
    case noOffsets = "there are no offsets"
    case offsetsEndElsewhere = "the last offset is not the end"
    case tooManyReferences = "no column has 9223372036854775807 references"
    case tooManyRows = "a group has at most 65536 rows, and not 65537"
    case negativeCount = "a group has at most 65536 rows, and not -1"
  }

  private func introduce(_ fault: Fault, _ references: inout ReferenceColumn, _ columns: inout [RecordColumn]) {
    func names(_ count: Int) -> ReferenceColumn {
      ReferenceColumn(layout: .integer, count: count, values: .empty, offsets: nil, entities: .same(0))
    }
    switch fault {
    case .otherCount: columns[1] = RecordColumn([Int32(7), 0])
    case .otherKind: columns[1] = RecordColumn([Int64(7), 0, 1])
    case .missingColumn: columns.removeLast()
    case .shortValues:
      columns[1] = RecordColumn(kind: .int32, rowCount: 3, values: ByteSlice([UInt8](repeating: 0, count: 8)))
    case .bitsBehindTheEnd: columns[0] = RecordColumn(kind: .bits, rowCount: 3, values: ByteSlice([0b1001]))
    case .noOffsets: columns[2] = RecordColumn(kind: .bytes, rowCount: 3, values: ByteSlice([1]))
    case .offsetsEndElsewhere:
      columns[2] = RecordColumn(
        kind: .bytes,
        rowCount: 3,
        offsets: RecordColumn([Int32(0), 1, 1, 4]).values,
        values: ByteSlice([1])
      )
    case .tooManyReferences:
      columns[3] = RecordColumn(
        kind: .toMany,
        rowCount: 3,
        offsets: RecordColumn([Int32(0), 0, 0, -1]).values,
        references: names(.max)
      )
    case .tooManyRows: references = names(65_537)
    case .negativeCount: references = names(-1)
    }
  }

  @Test(arguments: Fault.allCases) func partsThatDoNotFitAreRefused(_ fault: Fault) {
    var (references, columns) = parts()
    introduce(fault, &references, &columns)
    let error = #expect(throws: PersistenceError.self) {
      try RowGroup(of: entity, references: references, columns: columns)
    }
    #expect(error?.code == .fileCorrupt)
    #expect(error?.context.entity == "Item")
    if fault == .tooManyReferences {
      #expect(error?.context.property == "items")
    } else {
      #expect(error?.problem.contains(fault.rawValue) == true, "\(error?.problem ?? "no error")")
    }
  }

  @Test func valuesThatMeanNothingAreRefusedBeforeTheyAreRead() throws {
    var (references, columns) = parts()
    columns[2] = RecordColumn(
      kind: .bytes,
      rowCount: 3,
      offsets: RecordColumn([Int32(0), 1, 1, 2]).values,
      values: ByteSlice([0x41, 0xFF])
    )
    let loader = loader()
    try loader.setRowGroups([try RowGroup(of: entity, references: references, columns: columns)], of: entity)
    let table = try loader.finish().table(of: entity)
    let error = #expect(throws: PersistenceError.self) { _ = try table.verified() }
    #expect(error?.problem.contains("a text is not UTF-8") == true)
    #expect(error?.context.path == "/columns")
    #expect(error?.context.property == "text")
    #expect(error?.context.byteOffset == 1)
    references = parts().references
  }

  @Test func propertiesThatNoStoreKeepsAreNotLookedAt() throws {
    let types = AttributeType.allCases.filter { $0 != .transformable }
    let model = try ManagedObjectModel(entities: [
      EntityDefinition(
        name: "Item",
        properties: types.map { .attribute($0.rawValue, $0, optional: true, transient: true) }
      )
    ])
    let item = try #require(model.entity(named: "Item"))
    var rows = RowGroupListBuilder(entity: item)
    let row = rows.next()
    row.beginRow(.integer(1), version: 1)
    for column in row.columns { column.appendNull() }
    var contents = StoreContents(model: model, entities: model.entities, metadata: StoreMetadata(storeType: "Columns"))
    contents.tables[item.ordinal] = NodeTable(entity: item, groups: rows.finish())
    #expect(try contents.rowGroups(of: item).map(\.rowCount) == [1])
  }

  @Test func theCheckOfTheStoreIsCalledOnceForEachGroup() throws {
    let (references, columns) = parts()
    let group = try RowGroup(of: entity, references: references, columns: columns)
    let loader = loader()
    try loader.setRowGroups([group, group], of: entity) { index throws(PersistenceError) in
      if index == 1 { throw PersistenceError(.fileCorrupt, "A checksum does not hold.") }
    }
    let table = try loader.finish().table(of: entity)
    let error = #expect(throws: PersistenceError.self) { _ = try table.verified() }
    #expect(error?.problem == "A checksum does not hold.")
    #expect(error?.context.path == "/columns")
    #expect(error?.context.entity == "Item")
  }

  @Test func columnsOfAnotherEntityAreRefused() throws {
    let other = try #require(model.entity(named: "Other"))
    let (references, columns) = parts()
    let group = try RowGroup(of: entity, references: references, columns: columns)
    let error = #expect(throws: PersistenceError.self) { try loader().setRowGroups([group], of: other) }
    #expect(error?.code == .entityUnknown)
  }

  // MARK: Values

  @Test func numbersAreGivenAsSpans() {
    let column = RecordColumn([Int32(1), 2, 3])
    let sum = column.withValues(of: Int32.self) { numbers in numbers.indices.reduce(0) { $0 + Int(numbers[$1]) } }
    #expect(sum == 6)
    #expect(column.withValues(of: Int64.self) { $0.count } == nil)
  }

  /// Columns of files lie at any address, and may be shorter than they say.
  @Test(arguments: 0..<8) func numbersAreGivenFromAnyAddress(_ shift: Int) throws {
    let bytes = [UInt8](repeating: 0xEE, count: shift) + RecordColumn([1.5, -2.5]).values.array
    let values = try #require(ByteSlice(bytes).slice(from: shift, count: 16))
    let column = RecordColumn(kind: .double, rowCount: 2, values: values)
    #expect(column.withValues(of: Double.self) { numbers in [numbers[0], numbers[1]] } == [1.5, -2.5])
    let claims = RecordColumn(kind: .double, rowCount: 1000, values: values)
    #expect(claims.withValues(of: Double.self) { $0.count } == 2)
  }

  @Test func rowsWithoutAValueAreTold() {
    let column = RecordColumn([Int16(1), 2, 3], validity: BitSlice(ByteSlice([0b011])))
    #expect((-1..<4).map { column.hasValue(in: $0) } == [false, true, true, false, false])
    #expect(RecordColumn([Int16(1)], validity: BitSlice(.empty)).hasValue(in: 0) == false)
  }

  @Test func slicesStayInsideTheirBytes() throws {
    let bytes = ByteSlice([1, 2, 3, 4])
    let middle = try #require(bytes.slice(from: 1, count: 2))
    #expect(middle.array == [2, 3])
    #expect(middle.withBytes { $0.byteCount } == 2)
    for (offset, count) in [(-1, 1), (0, 3), (3, 0), (1, .max), (.max, 1), (0, -1), (.min, 2)] {
      #expect(middle.slice(from: offset, count: count) == nil, "\(offset), \(count)")
    }
    #expect(bytes.checksum == XXH64.hash(bytes))
  }

  // MARK: Builders

  @Test(arguments: [1, 2, UInt64.random(in: 3 ... .max)]) func rowsMakeTheSameRecordsAsNodes(_ seed: UInt64) throws {
    var everything = try Everything(seed: seed, references: .mixed)
    var rows = RowGroupListBuilder(entity: everything.entity)
    var expected: [[PropertyValue]] = []
    for _ in 0..<200 {
      let values = everything.values()
      let row = rows.next()
      row.beginRow(everything.reference(), version: 1)
      for (column, value) in zip(row.columns, values) { column.append(value) }
      expected.append(values)
    }
    let groups = rows.finish()
    #expect(rows.finish().isEmpty)
    let read = groups.flatMap { group in
      (0..<group.rowCount).map { row in
        AtomicStoreCacheNode(group: group, row: row, entity: everything.entity, scopes: everything.scopes).values
      }
    }
    #expect(read == expected)
  }

  @Test func aRowOfEveryKindIsAppended() throws {
    var rows = RowGroupListBuilder(entity: entity)
    let row = rows.next()
    row.beginRow(.integer(1), version: 3)
    row.columns[0].append(boolean: true)
    row.columns[1].append([Int32(5)].span)
    row.columns[2].append(text: "tea")
    row.columns[3].append(toMany: [(.integer(1), entity)])
    let loader = loader()
    try loader.setRowGroups(rows.finish(), of: entity)
    let node = try #require(try loader.finish().nodes(of: entity).first { _ in true })
    #expect(node.version == 3)
    #expect(node.values == [.boolean(true), .integer(5), .string("tea"), .toMany([node.objectID])])
  }
}
