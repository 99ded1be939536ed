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

  @Test("What must be unique and is not is found, among subentities too, and a value that is missing is none")
  func uniqueness() throws {
    let model = try ManagedObjectModel(entities: [
      EntityDefinition(
        name: "Person",
        properties: [.attribute("first", .string, optional: true), .attribute("last", .string, optional: true)],
        uniquenessConstraints: [["first", "last"]]
      ),
      .entity("Child", parent: "Person"),
    ])
    var contents = StoreContents(
      model: model,
      entities: model.entities,
      metadata: StoreMetadata(identifier: UUID(), storeType: .inMemory)
    )
    let values: [(entity: String, first: PropertyValue, last: PropertyValue)] = [
      ("Person", .string("a"), .string("b")), ("Person", .string("a"), .string("c")), ("Person", .string("a"), .null),
      ("Person", .string("a"), .null), ("Child", .string("a"), .string("c")), ("Child", .string("c"), .string("a")),
    ]
    for (number, value) in values.enumerated() {
      let entity = try #require(model.entity(named: value.entity))
      let row = NodeTable.NewRow(reference: .integer(Int64(number)), values: [value.first, value.last])
      contents.tables[entity.ordinal].insert([row])
    }
    let findings = try ContentsValidation.findings(in: contents, limit: 10)
    #expect(findings.map(\.description) == ["Child 4: first, last must be unique, and Person 1 has the same."])
    #expect(contents.constraintConflicts(limit: 0).isEmpty)
  }
}
