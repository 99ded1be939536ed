import HeartwoodModel
import HeartwoodTesting
import Testing

@testable import HeartwoodStore

/// Changes of one group that become one, held against dictionaries.
@Suite struct UpdatedGroupTests {
  private typealias Changes = [UInt16: [Int: PropertyValue]]

  private let entity: EntityDescription
  private let base: RowGroup
  private static let rowCount = 40

  init() throws {
    let model = try ManagedObjectModel(entities: [
      .entity(
        "Thing",
        .attribute("number", .integer64, optional: true),
        .attribute("text", .string, optional: true),
        .attribute("flag", .boolean, optional: true)
      )
    ])
    entity = model.entities[0]
    let builder = RowGroupBuilder(entity: entity)
    for row in 0..<Self.rowCount {
      builder.beginRow(.integer(Int64(row)), version: 1)
      for column in builder.columns { column.append(.null) }
    }
    base = builder.sealed()
  }

  private func changes(_ random: inout SeededGenerator) -> Changes {
    var changes: Changes = [:]
    for row in 0..<UInt16(Self.rowCount) where random.chance(oneIn: 3) {
      var values: [Int: PropertyValue] = [:]
      for ordinal in 0..<3 where random.chance(oneIn: 2) {
        let number = Int64.random(in: 0...9, using: &random)
        values[ordinal] = [.integer(number), .string("text \(number)"), .boolean(number > 4)][ordinal]
        if number == 7 { values[ordinal] = .null }
      }
      changes[row] = values
    }
    return changes
  }

  private func group(_ changes: Changes) -> UpdatedGroup {
    var builder = UpdatedGroupBuilder(entity: entity)
    for (row, values) in changes.sorted(by: { $0.key < $1.key }) {
      builder.beginRow(Int(row), baseVersion: UInt64(row) + 5)
      for (ordinal, value) in values { builder.column(ordinal).append(value) }
    }
    return builder.sealed(group: 0, base: base)
  }

  private func changes(_ group: UpdatedGroup) -> Changes {
    var changes = Dictionary(uniqueKeysWithValues: group.rows.map { ($0, [Int: PropertyValue]()) })
    for (ordinal, column) in group.columns.enumerated() {
      guard let column else { continue }
      for index in 0..<column.values.rowCount {
        let type = entity.traits[ordinal].attributeType
        let value = column.values.value(row: index, type: type, scopes: [])
        changes[group.rows[column.place(index)]]?[ordinal] = value
      }
    }
    return changes
  }

  @Test(arguments: 0..<200)
  func laterChangesWin(_ run: Int) {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let (first, second) = (changes(&random), changes(&random))
    let merged = group(first).merging(group(second))
    #expect(changes(merged) == first.merging(second) { $0.merging($1) { $1 } })
    #expect(merged.rows == merged.rows.sorted())
    #expect(merged.baseVersions == merged.rows.map { UInt64($0) + 5 })
  }
}
