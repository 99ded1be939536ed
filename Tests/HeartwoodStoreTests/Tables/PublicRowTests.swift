import Foundation
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

/// What authors of stores do row by row: they build groups of rows, and read them.
@Suite struct PublicRowTests {
  private let model: ManagedObjectModel
  private let entity: EntityDescription
  private let ordinals: [String: Int]

  init() throws {
    model = try ManagedObjectModel(entities: [
      .entity(
        "Item",
        .attribute("boolean", .boolean, optional: true),
        .attribute("small", .integer16, optional: true),
        .attribute("middle", .integer32, optional: true),
        .attribute("large", .integer64, optional: true),
        .attribute("float", .float, optional: true),
        .attribute("double", .double, optional: true),
        .attribute("date", .date, optional: true),
        .attribute("decimal", .decimal, optional: true),
        .attribute("uuid", .uuid, optional: true),
        .attribute("text", .string, optional: true),
        .attribute("data", .binary, optional: true),
        .toOne("owner", "Other", inverse: nil),
        .toMany("items", "Item", inverse: nil)
      ),
      .entity("Other", .attribute("text", .string, optional: true)),
    ])
    entity = try #require(model.entity(named: "Item"))
    ordinals = Dictionary(uniqueKeysWithValues: entity.properties.enumerated().map { ($0.element.name, $0.offset) })
  }

  private func ordinal(_ name: String) throws -> Int { try #require(ordinals[name]) }

  private static let uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

  /// Appends a record with a value for every property, and one with none.
  private func append(to builder: RowGroupBuilder) throws {
    let other = try #require(model.entity(named: "Other"))
    builder.beginRow(.integer(7), version: 3)
    func column(_ name: String) throws -> ColumnBuilder { builder.columns[try ordinal(name)] }
    try column("boolean").append(boolean: true)
    try column("small").append(integer: -16)
    try column("middle").append(integer: -32)
    try column("large").append(integer: .min)
    try column("float").append(float: 0.5)
    try column("double").append(double: 0.25)
    try column("date").append(double: 86_400)
    try column("decimal").append(decimal: Decimal(string: "1.05") ?? .nan)
    try column("uuid").append(uuid: Self.uuid)
    try column("text").append(text: "aü")
    let data: [UInt8] = [1, 0, 2]
    try column("data").append(bytes: data.span.bytes)
    try column("owner").append(toOne: .integer(1), entityOrdinal: other.ordinal)
    try column("items").append(toMany: [(.integer(8), entity.ordinal), (.integer(7), entity.ordinal)])
    builder.beginRow(.integer(8), version: 1)
    for column in builder.columns { column.appendNull() }
  }

  @Test func valuesAreReadAsTheyWereAppended() throws {
    let builder = RowGroupBuilder(entity: entity)
    try append(to: builder)
    let group = builder.sealed()
    #expect(builder.rowCount == 0)
    #expect(group.rowCount == 2)
    #expect((0..<2).map { group.references[$0] } == [.integer(7), .integer(8)])
    #expect((0..<2).map { group.versions[$0] } == [3, 1])
    #expect(group.boolean(try ordinal("boolean"), in: 0))
    #expect(group.integer(try ordinal("small"), in: 0) == -16)
    #expect(group.integer(try ordinal("middle"), in: 0) == -32)
    #expect(group.integer(try ordinal("large"), in: 0) == .min)
    #expect(group.float(try ordinal("float"), in: 0) == 0.5)
    #expect(group.double(try ordinal("double"), in: 0) == 0.25)
    #expect(group.double(try ordinal("date"), in: 0) == 86_400)
    #expect(group.decimal(try ordinal("decimal"), in: 0) == Decimal(string: "1.05"))
    #expect(group.uuid(try ordinal("uuid"), in: 0) == Self.uuid)
    let text = group.withBytes(try ordinal("text"), in: 0) { bytes in bytes.withUnsafeBytes { Array($0) } }
    #expect(text == Array("aü".utf8))
    let data = group.withBytes(try ordinal("data"), in: 0) { bytes in bytes.withUnsafeBytes { Array($0) } }
    #expect(data == [1, 0, 2])
    let owners = group.destinations(try ordinal("owner"), in: 0)
    #expect(owners.map(\.reference) == [.integer(1)])
    #expect(owners.map(\.entityOrdinal) == [model.entity(named: "Other")?.ordinal])
    #expect(group.destinations(try ordinal("items"), in: 0).map(\.reference) == [.integer(8), .integer(7)])
  }

  @Test func rowsWithoutValuesHaveNone() throws {
    let builder = RowGroupBuilder(entity: entity)
    try append(to: builder)
    let group = builder.sealed()
    for (name, ordinal) in ordinals {
      #expect(group.hasValue(ordinal, in: 0))
      #expect(group.hasValue(ordinal, in: 1) == (name == "items"), "\(name)")
    }
    #expect(group.destinations(try ordinal("owner"), in: 1).isEmpty)
    #expect(group.destinations(try ordinal("items"), in: 1).isEmpty)
  }

  @Test func columnsGiveValuesOfTheirTypes() throws {
    let builder = RowGroupBuilder(entity: entity)
    try append(to: builder)
    let columns = builder.sealed().columns
    #expect(columns[try ordinal("middle")].value(in: 0, of: .integer32) == .integer(-32))
    #expect(columns[try ordinal("date")].value(in: 0, of: .date) == .date(Date(timeIntervalSinceReferenceDate: 86_400)))
    #expect(columns[try ordinal("text")].value(in: 0, of: .string) == .string("aü"))
    #expect(columns[try ordinal("text")].value(in: 1, of: .string) == .null)
  }

  // MARK: Lists

  @Test func smallGroupsBecomeFullOnes() throws {
    var rows = RowGroupListBuilder(entity: entity)
    let builder = RowGroupBuilder(entity: entity)
    let count = RowGroup.maximumRowCount - 1
    for number in 0..<count {
      builder.beginRow(.integer(Int64(number)), version: 1)
      for column in builder.columns { column.appendNull() }
    }
    rows.append(builder.sealed())
    try append(to: builder)
    rows.append(builder.sealed())
    let groups = rows.finish()
    #expect(groups.map(\.rowCount) == [RowGroup.maximumRowCount, 1])
    #expect(groups[0].references[count] == .integer(7))
    #expect(groups[0].integer(try ordinal("small"), in: count) == -16)
    #expect(groups[1].references[0] == .integer(8))
  }

  @Test func aGroupIsFullBeforeItHasTooManyRows() {
    let builder = RowGroupBuilder(entity: entity)
    for number in 0..<RowGroup.maximumRowCount {
      #expect(!builder.isFull)
      builder.beginRow(.integer(Int64(number)), version: 1)
      for column in builder.columns { column.appendNull() }
    }
    #expect(builder.isFull)
  }

  // MARK: Loading and saving

  private func loader() -> StoreLoader {
    let setup = StoreSetup(
      model: model,
      configurationName: nil,
      entities: model.entities.filter { $0.name == "Item" },
      place: .file(path: "/rows"),
      options: StoreOptions()
    )
    return StoreLoader(setup: setup, storeType: "Rows")
  }

  @Test func rowsThatAStoreHasCheckedAreItsRecords() throws {
    var rows = RowGroupListBuilder(entity: entity)
    try append(to: rows.next())
    let loader = loader()
    try loader.setCheckedRowGroups(rows.finish(), of: entity)
    let contents = try loader.finish()
    #expect(contents.nodes(of: entity).map { $0["text"] } == [.string("aü"), .null])
  }

  @Test func rowsOfAnotherEntityAreRefused() throws {
    var rows = RowGroupListBuilder(entity: entity)
    try append(to: rows.next())
    let groups = rows.finish()
    let other = try #require(model.entity(named: "Other"))
    let loader = loader()
    let error = #expect(throws: PersistenceError.self) { try loader.setCheckedRowGroups(groups, of: other) }
    #expect(error?.code == .entityUnknown)
    let all = StoreLoader(
      setup: StoreSetup(
        model: model,
        configurationName: nil,
        entities: model.entities,
        place: .file(path: "/rows"),
        options: StoreOptions()
      ),
      storeType: "Rows"
    )
    let columnError = #expect(throws: PersistenceError.self) { try all.setCheckedRowGroups(groups, of: other) }
    #expect(columnError?.code == .entityUnknown)
  }

  @Test func aValueThatCannotBeReadFailsWhenItIsUsed() throws {
    let column = ColumnBuilder(kind: .bytes)
    column.append(text: "a")
    column.append(unreadable: PersistenceError(.fileReadFailed, "Its file is missing."))
    let sealed = column.sealed()
    #expect(sealed.unreadable?[0] == nil)
    #expect(sealed.unreadable?[1]?.problem == "Its file is missing.")
    #expect(sealed.hasValue(in: 1))
  }

  /// However the records of a save were given, a store gets their columns.
  @Test func insertedRecordsAreRowsOfTheirEntity() throws {
    let other = try #require(model.entity(named: "Other"))
    let loader = loader()
    func snapshot(_ number: Int64, of entity: EntityDescription, _ text: String) -> ObjectSnapshot {
      ObjectSnapshot(
        objectID: loader.objectID(.integer(number), of: entity),
        version: 1,
        values: entity.properties.map { $0.name == "text" ? .string(text) : .null }
      )
    }
    let changes = ChangeSet(inserted: [
      snapshot(1, of: entity, "one"), snapshot(2, of: other, "two"), snapshot(3, of: entity, "three"),
    ])
    let inserted = changes.insertedRows
    #expect(inserted.map(\.entity.name) == ["Item", "Other"])
    #expect(inserted.map(\.count) == [2, 1])
    let items = try #require(inserted[0].groups.first)
    #expect((0..<2).map { items.references[$0] } == [.integer(1), .integer(3)])
    #expect(items.columns[try ordinal("text")].value(in: 1, of: .string) == .string("three"))
    #expect(ChangeSet().insertedRows.isEmpty)
  }
}
