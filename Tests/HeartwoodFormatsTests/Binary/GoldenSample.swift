import Foundation
import HeartwoodModel
import HeartwoodStore
import Testing

@testable import HeartwoodFormats

/// What `Formats/Binary/samples/version-1.heartwood` holds. It must not change: the file does not.
enum GoldenSample {
  static let identifier = UUID(sample: 0xFF)

  static func store() throws -> SampleStore { try SampleStore(SampleModel.make()) }

  /// The contents, in several groups of rows.
  static func contents() throws -> StoreContents {
    let store = try store()
    let empty = try store.contents(identifier, userInfo: ["author": "Ärzte", "revision": 7]) { _ in }
    return
      try empty
      .replacing("Note", with: [notes(empty, 0..<3), notes(empty, 3..<4)])
      .replacing("Task", with: [tasks(empty)])
      .replacing("Project", with: [projects(empty)])
      .replacing("Tag", with: [tags(empty)])
  }

  private typealias Row = (reference: ReferenceID, version: UInt64, values: [String: PropertyValue])

  /// A group of rows that are given as values by property name.
  private static func group(
    _ contents: StoreContents,
    _ name: String,
    _ rows: [Row]
  ) throws -> RowGroup {
    let builder = RowGroupBuilder(entity: try #require(contents.model.entity(named: name)))
    for (reference, version, values) in rows {
      let ordered = builder.entity.properties.map { values[$0.name] ?? ($0.isToMany ? .toMany([]) : .null) }
      builder.append(reference, version: version, values: ordered)
    }
    return builder.sealed()
  }

  private static func id(_ contents: StoreContents, _ name: String, _ reference: ReferenceID) throws -> ManagedObjectID
  {
    contents.objectID(reference, of: try #require(contents.model.entity(named: name)))
  }

  private static func notes(_ contents: StoreContents, _ rows: Range<Int>) throws -> RowGroup {
    let project = try id(contents, "Project", .string("home"))
    let tag = try id(contents, "Tag", .integer(-1))
    let first = try id(contents, "Note", .uuid(UUID(sample: 1)))
    let all: [Row] = [
      (
        .uuid(UUID(sample: 1)), 1,
        [
          "identifier": .uuid(UUID(sample: 0)), "title": .string("Everything"), "tags": .toMany([tag]),
          "project": .toOne(project), "small": .integer(-32_768), "medium": .integer(2_147_483_647),
          "large": .integer(-9_223_372_036_854_775_808),
          "price": .decimal(Decimal(sign: .minus, exponent: -3, significand: 12_345)),
          "ratio": .double(0.1), "weight": .float(0.5), "body": .string("Grüße, \"世界\"\n👋"), "pinned": .boolean(true),
          "created": .date(Date(timeIntervalSinceReferenceDate: 495_828_900)), "picture": .binary(Data([0, 255, 16])),
          "link": try uri("https://example.org/a%20b?q=1"), "color": .binary(Data([1])), "answers": .toOne(first),
        ]
      ),
      (.uuid(UUID(sample: 2)), 3, [:]),
      (
        .uuid(UUID(sample: 3)), 1,
        [
          "title": .string(""), "small": .integer(0), "medium": .integer(0),
          "large": .integer(9_223_372_036_854_775_807),
          "price": .decimal(.nan), "ratio": .double(.infinity), "weight": .float(-1.5), "body": .string("é"),
          "pinned": .boolean(false), "created": .date(Date(timeIntervalSinceReferenceDate: -0.25)),
          "picture": .binary(Data()), "link": try uri("mailto:a@example.org"), "color": .binary(Data()),
        ]
      ),
      (.integer(42), 1, ["title": .string("In a group of its own"), "ratio": .double(1e300)]),
    ]
    return try group(contents, "Note", Array(all[rows]))
  }

  private static func uri(_ text: String) throws -> PropertyValue { .uri(try #require(URL(string: text))) }

  private static func tasks(_ contents: StoreContents) throws -> RowGroup {
    let project = try id(contents, "Project", .string("home"))
    let rows = (0..<9).map { number -> Row in
      let values: [String: PropertyValue] = [
        "done": .boolean(number % 3 == 0), "order": .integer(Int64(number * 10)), "title": .string("Task \(number)"),
        "project": number < 2 ? .toOne(project) : .null,
      ]
      return (.integer(Int64(number)), 1, values)
    }
    return try group(contents, "Task", rows)
  }

  private static func projects(_ contents: StoreContents) throws -> RowGroup {
    let items = try [
      id(contents, "Task", .integer(1)), id(contents, "Note", .uuid(UUID(sample: 1))),
      id(contents, "Task", .integer(0)),
    ]
    return try group(
      contents,
      "Project",
      [
        (.string("home"), 2, ["name": .string("At home"), "items": .toMany(items)]),
        (.string("42"), 1, ["name": .string("Empty")]), (.string("Büro"), 1, ["name": .string("Office")]),
      ]
    )
  }

  private static func tags(_ contents: StoreContents) throws -> RowGroup {
    let note = try id(contents, "Note", .uuid(UUID(sample: 1)))
    return try group(
      contents,
      "Tag",
      [
        (.integer(-1), 1, ["items": .toMany([note])]), (.string("'quoted'"), 1, [:]), (.uuid(UUID(sample: 9)), 1, [:]),
        (.string("-1"), 1, [:]),
      ]
    )
  }
}

extension PropertyDescription {
  fileprivate var isToMany: Bool { relationship?.isToMany ?? false }
}
