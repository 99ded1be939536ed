import Foundation
import HeartwoodModel
import HeartwoodStore
import Testing

@testable import HeartwoodFormats

@Suite struct RoundTripTests {
  private static let edgeValues: [AttributeType: [PropertyValue]] = [
    .integer16: [.integer(Int64(Int16.min)), .integer(-1), .integer(0), .integer(Int64(Int16.max))],
    .integer32: [.integer(Int64(Int32.min)), .integer(-1), .integer(0), .integer(Int64(Int32.max))],
    .integer64: [.integer(.min), .integer(-1), .integer(0), .integer(.max)],
    .decimal: [
      .decimal(0), .decimal(-1), .decimal(.greatestFiniteMagnitude), .decimal(-.greatestFiniteMagnitude),
      .decimal(.leastNonzeroMagnitude), .decimal(.nan),
      .decimal(Decimal(sign: .minus, exponent: -3, significand: 12345)),
    ],
    .double: [
      .double(0), .double(-0.0), .double(.greatestFiniteMagnitude), .double(.leastNonzeroMagnitude), .double(.infinity),
      .double(-.infinity), .double(.nan),
    ],
    .float: [
      .float(0), .float(.greatestFiniteMagnitude), .float(.leastNonzeroMagnitude), .float(-.infinity), .float(.nan),
    ],
    .string: [
      .string(""), .string("a"), .string("a\0b\r\n"), .string("Grüße, 世界 👩‍👩‍👧‍👦"),
      .string(String(repeating: "é", count: 5000)),
    ],
    .boolean: [.boolean(true), .boolean(false)],
    .date: [
      .date(Date(timeIntervalSinceReferenceDate: 0)), .date(.distantPast), .date(.distantFuture),
      .date(Date(timeIntervalSinceReferenceDate: .infinity)), .date(Date(timeIntervalSinceReferenceDate: 0.1)),
    ],
    .binary: [.binary(Data()), .binary(Data([0])), .binary(Data(repeating: 0xFF, count: 3000))],
    .uuid: [.uuid(UUID(sample: 0)), .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))],
    .uri: ["https://example.org/a%20b?q=1#f", "mailto:a@b.c", "x", "http://[::1]:80/", "/"].compactMap {
      URL(string: $0).map(PropertyValue.uri)
    },
    .transformable: [.binary(Data([1, 2, 3])), .binary(Data())],
  ]

  @Test(arguments: AttributeType.allCases)
  func valuesOfEveryType(type: AttributeType) throws {
    let model = try ManagedObjectModel(entities: [.entity("Thing", .attribute("value", type, optional: true))])
    let store = try SampleStore(model)
    let edges = try #require(Self.edgeValues[type])
    for values in [edges, [.null] + edges + [.null, .null], [.null]] {
      let contents = try store.contents { loader in
        for (number, value) in values.enumerated() {
          try loader.addNode(.integer(Int64(number)), to: model.entities[0]) { try $0.setValue(value, at: 0) }
        }
      }
      let read = try store.read(try store.write(contents))
      #expect(read.records.map { $0.values[0] } == values)
      #expect(read.metadata == contents.metadata)
    }
  }

  private static let references: [[ReferenceID]] = [
    [.uuid(UUID(sample: 1)), .uuid(UUID(sample: 2))],
    [.integer(.min), .integer(0), .integer(.max)],
    [.string(""), .string("a"), .string("Ünïcode/'"), .string("a ")],
    [.integer(1), .string("1"), .uuid(UUID(sample: 1)), .string(""), .integer(-1)],
  ]

  @Test(arguments: references)
  func referencesOfEveryKind(references: [ReferenceID]) throws {
    let model = try ManagedObjectModel(entities: [
      .entity("Thing", .toOne("next", "Thing", inverse: nil), .toMany("others", "Thing", inverse: nil, ordered: true))
    ])
    let store = try SampleStore(model)
    let entity = model.entities[0]
    let contents = try store.contents { loader in
      for (number, reference) in references.enumerated() {
        try loader.addNode(reference, to: entity) { node in
          if number > 0 { try node.setValue(.toOne(loader.objectID(references[number - 1], of: entity)), at: 0) }
          let others = references.prefix(number).reversed().map { loader.objectID($0, of: entity) }
          try node.setValue(.toMany(others), at: 1)
        }
      }
    }
    let read = try store.read(try store.write(contents))
    #expect(read.records.map(\.reference) == references)
    for (record, expected) in zip(read.records, contents.records) {
      #expect(record.values.map(\.names) == expected.values.map(\.names))
    }
    #expect(try read.node(references[1], of: entity)?.reference == references[1])
  }

  @Test func anEmptyStore() throws {
    let store = try SampleStore(SampleModel.make())
    let contents = try store.contents { _ in }
    let bytes = try store.write(contents)
    let read = try store.read(bytes)
    #expect(read.count == 0)
    #expect(read.metadata == contents.metadata)
    #expect(try BinaryStore.readModel(from: SampleStore.input(bytes), options: StoreOptions()) == store.model)
  }

  @Test func metadataOfEveryKind() throws {
    let store = try SampleStore(SampleModel.make())
    let contents = try store.contents(userInfo: [
      "string": "ä/b", "integer": 9_007_199_254_740_993, "double": 0.1, "boolean": true, "infinite": .double(.infinity),
      "date": .date(Date(timeIntervalSinceReferenceDate: 0.1)), "binary": .binary(Data([0, 255])),
      "list": .array([1, "a", .dictionary(["": .array([])])]),
    ]) { _ in }
    let file = try SampleStore.input(try store.write(contents))
    #expect(try BinaryStore.readMetadata(from: file, options: StoreOptions()) == contents.metadata)
    #expect(try BinaryStore.readFormatVersion(from: file, options: StoreOptions()) == "3")
  }
}

extension PropertyValue {
  /// What a relationship leads to, without the store: contents that were not loaded from a file have ids of another one.
  var names: [String] {
    switch self {
    case .toOne(let id): ["\(id.entity.name) \(id.reference.kind) \(id.reference)"]
    case .toMany(let ids): ids.map { "\($0.entity.name) \($0.reference.kind) \($0.reference)" }
    default: [description]
    }
  }
}
