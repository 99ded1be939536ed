import Foundation
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@Suite struct RowGroupBuilderTests {
  private struct Row: Equatable {
    let reference: ReferenceID
    let version: UInt64
    let isLive: Bool
    let values: [PropertyValue]
  }

  private func rows(of group: RowGroup, _ everything: Everything) -> [Row] {
    (0..<group.rowCount).map { row in
      let node = AtomicStoreCacheNode(group: group, row: row, entity: everything.entity, scopes: everything.scopes)
      return Row(reference: node.reference, version: node.version, isLive: group.isLive(row), values: node.values)
    }
  }

  /// A group of random rows, some deleted, some of higher versions.
  private func randomGroup(_ everything: inout Everything) -> RowGroup {
    let builder = RowGroupBuilder(entity: everything.entity)
    let versions = everything.generator.chance(oneIn: 2) ? 1...1 : UInt64(1)...9
    for _ in 0..<Int.random(in: 1...90, using: &everything.generator) {
      let version = UInt64.random(in: versions, using: &everything.generator)
      builder.append(everything.reference(), version: version, values: everything.values())
    }
    var table = NodeTable(entity: everything.entity, groups: [builder.sealed()])
    if everything.generator.chance(oneIn: 2) {
      table.delete(table.liveRows.filter { _ in everything.generator.chance(oneIn: 3) })
    }
    return table.groups[0]
  }

  @Test(arguments: Everything.References.allCases, [1, 2, UInt64.random(in: 3 ... .max)])
  func runsOfOtherGroupsAndSingleRowsMix(_ references: Everything.References, _ seed: UInt64) throws {
    var everything = try Everything(seed: seed, references: references)
    let builder = RowGroupBuilder(entity: everything.entity)
    for _ in 0..<10 {
      var expected: [Row] = []
      for _ in 0..<12 {
        if everything.generator.chance(oneIn: 3) {
          let row = everything.newRow()
          builder.append(row.reference, version: 1, values: row.values)
          expected.append(Row(reference: row.reference, version: 1, isLive: true, values: row.values))
        } else {
          let group = randomGroup(&everything)
          let bounds = (0..<2).map { _ in Int.random(in: 0...group.rowCount, using: &everything.generator) }.sorted()
          builder.append(bounds[0]..<bounds[1], of: group)
          expected += rows(of: group, everything)[bounds[0]..<bounds[1]]
        }
      }
      #expect(builder.rowCount == expected.count)
      let group = builder.sealed()
      #expect(rows(of: group, everything) == expected)
      #expect(group.liveCount == expected.count(where: \.isLive))
      #expect(builder.rowCount == 0)
    }
  }

  @Test func rowsAppendedToTheColumnsHaveVersionOne() throws {
    let model = try ManagedObjectModel(entities: [.entity("Item", .attribute("number", .integer64))])
    let entity = try #require(model.entity(named: "Item"))
    let builder = RowGroupBuilder(entity: entity)
    func appendDirectly(_ number: Int64) {
      builder.references.append(.integer(number), entityOrdinal: 0)
      builder.columns[0].append(integer: number)
    }
    appendDirectly(0)
    builder.append(.integer(1), version: 5, values: [.integer(1)])
    appendDirectly(2)
    let first = builder.sealed()
    #expect((0..<3).map { first.versions[$0] } == [1, 5, 1])
    builder.append(0..<3, of: first.withoutRow(1, entity))
    appendDirectly(3)
    let second = builder.sealed()
    #expect((0..<4).map { second.isLive($0) } == [true, false, true, true])
    #expect((0..<4).map { second.versions[$0] } == [1, 5, 1, 1])
  }

  @Test(arguments: Everything.References.allCases)
  func leadingNullsDoNotDecideHowReferencesLie(_ references: Everything.References) throws {
    var everything = try Everything(seed: 7, references: references)
    let builder = ReferenceColumnBuilder()
    let names = (0..<5).map { _ in everything.reference() }
    for _ in 0..<3 { builder.appendPlaceholder() }
    for name in names { builder.append(name, entityOrdinal: 4) }
    builder.appendPlaceholder()
    let column = builder.sealed()
    #expect(column.count == 9)
    #expect(ColumnCheck.fault(in: column) == nil)
    #expect((3..<8).map { column[$0] } == names)
    guard case .same(4) = column.entities else {
      Issue.record("The entity is the same for all: \(column.entities)")
      return
    }
    let layouts: [Everything.References: ReferenceColumn.Layout] = [
      .integers: .integer, .uuids: .uuid, .strings: .string,
    ]
    if let layout = layouts[references] { #expect(column.layout == layout) }
  }

  @Test func nullsOfAnotherColumnDoNotDecideEither() throws {
    let nulls = ColumnBuilder(kind: .toOne)
    for _ in 0..<10 { nulls.appendNull() }
    let source = nulls.sealed()
    let builder = ColumnBuilder(kind: .toOne)
    builder.append(0..<10, of: source)
    builder.append(toOne: .uuid(.init()), entityOrdinal: 2)
    #expect(builder.sealed().references?.layout == .uuid)
  }
}

extension RowGroup {
  fileprivate func withoutRow(_ row: Int, _ entity: EntityDescription) -> RowGroup {
    var table = NodeTable(entity: entity, groups: [self])
    table.delete([RowID(group: 0, row: row)])
    return table.groups[0]
  }
}
