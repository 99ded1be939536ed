import HeartwoodModel
import HeartwoodStore
import Testing

@testable import HeartwoodFormats

/// Files written with a model that has an entity more than the one that they are opened with.
@Suite struct LostEntityTests {
  private static func store(_ entities: EntityDefinition...) throws -> SampleStore {
    try SampleStore(
      ManagedObjectModel(
        entities: entities + [
          .entity("Thing", abstract: true),
          .entity("Pen", parent: "Thing"),
          .entity("Cup", parent: "Thing"),
          .entity(
            "Box",
            .toOne("first", "Thing", inverse: nil),
            .toMany("others", "Thing", inverse: nil)
          ),
        ]
      )
    )
  }

  /// The file of three boxes, of which those with `things` lead to them.
  private static func file(_ store: SampleStore, _ things: [(box: Int64, entity: String)] = []) throws -> [UInt8] {
    try store.write(
      store.contents { loader in
        for box in 0..<Int64(3) {
          try loader.addNode(.integer(box), to: loader.entity(named: "Box")) { node in
            for thing in things where thing.box == box {
              let id = try loader.objectID(.integer(7), of: loader.entity(named: thing.entity))
              try node.setValue(.toOne(id), forKey: "first")
            }
          }
        }
      }
    )
  }

  @Test func relationshipsThatLeadNowhereAreWrittenSoThatTheyAreRead() throws {
    let bytes = try Self.file(Self.store(.entity("Lost")))
    let store = try Self.store()
    let saved = try store.write(store.read(bytes))
    let values = try store.read(saved).records.map(\.values)
    #expect(values == [[PropertyValue]](repeating: [.null, .toMany([])], count: 3))
    #expect(try BinaryFileEditor(saved).tables[3].groups[0].columns.map(\.entityIndex) == [0, 0])
  }

  @Test func amongOthersTheyHaveAnEntityOfTheModel() throws {
    let bytes = try Self.file(Self.store(.entity("Lost")), [(1, "Pen"), (2, "Cup")])
    var editor = try BinaryFileEditor(bytes)
    // Behind the references of the records and the validity bits.
    let place = editor.tables[4].groups[0].firstSection + 2
    #expect(editor.sections[place].count == 3 * 4)
    editor.sections[place].set(UInt32(0), at: 0)
    let store = try Self.store()
    let saved = try store.write(store.read(editor.assembled()))
    let written = try BinaryFileEditor(saved)
    #expect(written.sections[written.tables[3].groups[0].firstSection + 2] == [0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0])
    #expect(
      try store.read(saved).records.map { $0.values[0].objectIDs.map(\.entity.name) } == [[], ["Pen"], ["Cup"]]
    )
  }
}
