import Foundation
import HeartwoodModel
import HeartwoodTesting
import Testing

@testable import HeartwoodStore

@Suite struct ContentsComparisonTests {
  private static let identifier = UUID()

  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      .entity(
        "Note",
        .attribute("text", .string, optional: true),
        .attribute("number", .double, optional: true),
        .attribute("count", .integer32, optional: true),
        .attribute("flag", .boolean),
        .attribute("name", .uuid),
        .toOne("next", "Note", inverse: nil),
        .toMany("others", "Note", inverse: nil),
        .toMany("listed", "Note", inverse: nil, ordered: true)
      )
    ])
  }

  /// Contents of `count` random records, with rows that were deleted before every `gap`th one.
  private static func contents(_ model: ManagedObjectModel, count: Int, seed: UInt64, gap: Int) -> StoreContents {
    var contents = StoreContents(
      model: model,
      entities: model.entities,
      metadata: StoreMetadata(identifier: identifier, storeType: .inMemory)
    )
    var random = SeededGenerator(seed: seed)
    var rows: [NodeTable.NewRow] = []
    var gaps: [Int] = []
    for number in 0..<count {
      let row = row(number, of: count, contents, &random)
      if number.isMultiple(of: gap) {
        gaps.append(rows.count)
        rows.append(.init(reference: .string("gone \(number)"), values: row.values))
      }
      rows.append(row)
    }
    contents.tables[0].insert(rows)
    contents.tables[0].delete(gaps.map { RowID(group: $0 >> 16, row: $0 & 0xFFFF) })
    return contents
  }

  private static func row(
    _ number: Int,
    of count: Int,
    _ contents: StoreContents,
    _ random: inout SeededGenerator
  ) -> NodeTable.NewRow {
    let entity = contents.entities[0]
    func id() -> ManagedObjectID {
      contents.objectID(.integer(Int64.random(in: 0..<Int64(count), using: &random)), of: entity)
    }
    return NodeTable.NewRow(
      reference: .integer(Int64(number)),
      values: [
        random.chance(oneIn: 5) ? .null : .string("text \(number)"),
        random.chance(oneIn: 5) ? .double(.nan) : .double(Double(number)),
        .integer(Int64(number)),
        .boolean(random.chance(oneIn: 2)),
        .uuid(
          UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, UInt8(number >> 8 & 255), UInt8(number & 255)))
        ),
        random.chance(oneIn: 5) ? .null : .toOne(id()),
        .toMany([id(), id()]),
        .toMany([id(), id()]),
      ]
    )
  }

  @Test(arguments: [(0, 1, 1), (1, 2, 1), (100, 3, 7), (70_000, 1_000_000, 3)])
  func theSameRecordsInOtherGroupsAreTheSame(_ count: Int, _ gap: Int, _ otherGap: Int) throws {
    let model = try Self.model()
    let left = Self.contents(model, count: count, seed: 1, gap: gap)
    let right = Self.contents(model, count: count, seed: 1, gap: otherGap)
    #expect(ContentsComparison.firstDifference(left, right) == nil)
  }

  @Test(arguments: 0..<8, [0, 41, 99])
  func oneChangedValueIsFound(_ ordinal: Int, _ position: Int) throws {
    let model = try Self.model()
    let left = Self.contents(model, count: 100, seed: 2, gap: 1000)
    var right = Self.contents(model, count: 100, seed: 2, gap: 9)
    let entity = model.entities[0]
    let node = try #require(try right.node(.integer(Int64(position)), of: entity))
    let row = try #require(try right.tables[0].row(of: .integer(Int64(position))))
    right.tables[0].update([.init(row: row, values: [(ordinal, Self.other(than: node[ordinal], right, entity))])])
    let difference = try #require(ContentsComparison.firstDifference(left, right))
    #expect(difference.entity == "Note")
    #expect(difference.property == entity.properties[ordinal].name)
    #expect(difference.position == position + 1)
    #expect(
      difference.description == "Note.\(entity.properties[ordinal].name), record \(position + 1): the values differ"
    )
  }

  private static func other(
    than value: PropertyValue,
    _ contents: StoreContents,
    _ entity: EntityDescription
  ) -> PropertyValue {
    let id = contents.objectID(.integer(1000), of: entity)
    return switch value {
    case .null: .toOne(id)
    case .string(let text): .string(text + " ")
    case .double: .double(-1)
    case .integer(let number): .integer(-number - 1)
    case .boolean(let flag): .boolean(!flag)
    case .uuid: .uuid(UUID())
    case .toMany(let ids): .toMany(ids + [id])
    default: .null
    }
  }

  @Test func orderMattersWhereTheRelationshipIsOrdered() throws {
    let model = try Self.model()
    let entity = model.entities[0]
    let left = Self.contents(model, count: 10, seed: 3, gap: 100)
    for name in ["others", "listed"] {
      var right = left
      let ordinal = try #require(entity.ordinal(ofProperty: name))
      let row = try #require(try right.tables[0].row(of: .integer(3)))
      let ids = [ReferenceID.integer(1), .integer(2)].map { right.objectID($0, of: entity) }
      right.tables[0].update([.init(row: row, values: [(ordinal, .toMany(ids))])])
      var reversed = right
      reversed.tables[0].update([.init(row: row, values: [(ordinal, .toMany(ids.reversed()))])])
      #expect((ContentsComparison.firstDifference(right, reversed) == nil) == (name == "others"))
    }
  }

  @Test func otherReferencesCountsAndMetadataAreFound() throws {
    let model = try Self.model()
    let left = Self.contents(model, count: 10, seed: 4, gap: 100)
    var fewer = left
    fewer.tables[0].delete([RowID(group: 0, row: 5)])
    #expect(ContentsComparison.firstDifference(left, fewer)?.description == "Note: there are 10 records and 9")

    var renamed = fewer
    let values = try #require(try left.node(.integer(5), of: model.entities[0])).values
    renamed.tables[0].insert([.init(reference: .integer(5), values: values)])
    #expect(ContentsComparison.firstDifference(left, renamed)?.message == "the references differ")

    var noted = left
    noted.metadata.userInfo["a"] = "b"
    #expect(ContentsComparison.firstDifference(left, noted)?.message == "the metadata of the user differ")
    var other = left
    other.metadata.identifier = UUID()
    #expect(ContentsComparison.firstDifference(left, other)?.message == "the identifiers of the stores differ")
  }
}
