import Foundation
import HeartwoodModel
import Testing

@testable import HeartwoodStore

@Suite struct ContentsValidationTests {
  @Test("Records that break rules are found, in order and up to a limit", arguments: [1, 3, 100])
  func rules(_ limit: Int) throws {
    let rules = AttributeRules(minValue: .integer(1), maxValue: .integer(8))
    let model = try ManagedObjectModel(entities: [
      .entity("E", .attribute("n", .integer32, optional: true, rules: rules))
    ])
    var contents = StoreContents(
      model: model,
      entities: model.entities,
      metadata: StoreMetadata(identifier: UUID(), storeType: .inMemory)
    )
    let values = (0..<10).map { PropertyValue.integer(Int64($0)) } + [.null]
    contents.tables[0].insert(
      values.enumerated().map { NodeTable.NewRow(reference: .integer(Int64($0)), values: [$1]) }
    )
    let findings = try ContentsValidation.findings(in: contents, limit: limit)
    let expected = ["E 0: E.n is below the least value, 1.", "E 9: E.n is above the greatest value, 8."]
    #expect(findings.map(\.description) == Array(expected.prefix(limit)))
  }
}
