import Foundation
import HeartwoodModelFiles
import HeartwoodModel
import HeartwoodTesting
import Testing

@Suite("Model files")
struct DataModelFileTests {
  @Test("Everything that a model has is read")
  func everything() throws {
    let folder = try ScratchFolder()
    let file = try DataModelFile(contentsOf: folder.write(ModelFixture.everything, to: "contents"))
    #expect(file.model == (try ModelFixture.everythingModel()))
    #expect(file.model.entity(named: "Thing")?.properties.count == 16)
  }

  @Test("What the model cannot hold is noted, with its line and in the order of the file")
  func notes() throws {
    let folder = try ScratchFolder()
    let file = try DataModelFile(contentsOf: folder.write(ModelFixture.notes, to: "contents"))
    #expect(file.notes.map(\.line) == [3, 4, 5, 6, 6, 7, 20, 25])
    #expect(
      file.notes.first?.message
        == "“coreSpotlightDisplayNameExpression” of “A” is ignored: the records do not appear in Spotlight. Stores keep them like others."
    )
    #expect(
      file.notes.last?.message == "The element “novelty” “N” is not known: it is ignored and has no effect."
    )
    #expect(file.model.entity(named: "B")?.relationships.map(\.hasOneSidedInverse) == [true, false])
    #expect(file.model.entities.first?.properties.count == 4)
  }

  @Test("What is not known is noted at every level, with its line")
  func unknownAtEveryLevel() throws {
    let folder = try ScratchFolder()
    let file = try DataModelFile(contentsOf: folder.write(ModelFixture.unknown, to: "contents"))
    #expect(file.notes.map(\.line) == Array(1...24).flatMap { $0 == 9 ? [9, 9] : [$0] }, "\(file.notes)")
    #expect(file.notes.allSatisfy { $0.message.contains("new") && $0.message.contains("has no effect") })
    let model = try ManagedObjectModel(contentsOf: folder.write(ModelFixture.unknownLeftOut, to: "plain"))
    #expect(file.model == model)
  }

  @Test(
    "What follows from settings of Core Data that are ignored is said",
    arguments: [
      ("allowsCloudEncryption", "unencrypted"), ("spotlightIndexingEnabled", "Spotlight"),
      ("storedInTruthFile", "external record"),
    ]
  )
  func consequences(_ name: String, _ word: String) throws {
    let folder = try ScratchFolder()
    for (value, count) in [("YES", 1), ("NO", 0)] {
      let text = "<model><entity name=\"A\"><attribute name=\"a\" attributeType=\"String\" \(name)=\"\(value)\"/>"
      let file = try DataModelFile(contentsOf: folder.write(text + "</entity></model>", to: "contents"))
      #expect(file.notes.count == count)
      #expect(file.notes.allSatisfy { $0.message.contains("“\(name)” of “a” is ignored") && $0.message.contains(word) })
    }
  }

  @Test("What tells how objects are fetched is read, and what is made of other attributes")
  func fetching() throws {
    let folder = try ScratchFolder()
    let file = try DataModelFile(contentsOf: folder.write(ModelFixture.fetching, to: "contents"))
    #expect(file.model == (try ModelFixture.fetchingModel()))
    #expect(file.notes.isEmpty)
    #expect(try ManagedObjectModel(encoded: file.model.encoded()) == file.model)
  }

  @Test("A relationship to many objects and to one at most is a to-one, as in compiled models")
  func manyOfOneAtMost() throws {
    let folder = try ScratchFolder()
    let text = """
      <model><entity name="A">
        <relationship name="one" toMany="YES" minCount="1" maxCount="1" ordered="YES" destinationEntity="A"/>
        <relationship name="two" toMany="YES" maxCount="2" destinationEntity="A"/>
        <relationship name="many" toMany="YES" destinationEntity="A"/>
      </entity></model>
      """
    let file = try DataModelFile(contentsOf: folder.write(text, to: "contents"))
    let relationships = try #require(file.model.entity(named: "A")?.relationships)
    #expect(relationships.map(\.isToMany) == [false, true, true])
    #expect(relationships.map(\.maxCount) == [1, 2, 0])
  }

  @Test("The indexes of older versions of Xcode are read")
  func olderIndexes() throws {
    let folder = try ScratchFolder()
    let file = try DataModelFile(contentsOf: folder.write(ModelFixture.notes, to: "contents"))
    #expect(file.model.entity(named: "A")?.fetchIndexes.map(\.name) == ["byBIndex", "byA"])
  }

  @Test("The example's model")
  func example() throws {
    let examples = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Examples/ToDo")
    let file = try DataModelFile(contentsOf: examples.appending(path: "ToDo.xcdatamodeld"), version: "ToDo")
    let expected = EntityDefinition(
      name: "ToDo",
      managedObjectClassName: "ToDo",
      properties: [
        .attribute("done", .boolean, default: .boolean(false)),
        .attribute("memo", .string, optional: true),
        .attribute("sortOrder", .integer32, default: .integer(0)),
        .attribute("creationDate", .date, optional: true),
      ]
    )
    #expect(file.notes.isEmpty)
    #expect(file.model == (try ManagedObjectModel(entities: [expected])))
  }

  @Test("A model is an ordinary one, which can be embedded")
  func embedded() throws {
    let folder = try ScratchFolder()
    let model = try ManagedObjectModel(contentsOf: folder.write(ModelFixture.everything, to: "contents"))
    #expect(try ManagedObjectModel(encoded: model.encoded()) == model)
  }
}
