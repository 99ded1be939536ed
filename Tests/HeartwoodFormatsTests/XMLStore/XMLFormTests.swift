import Foundation
import HeartwoodModel
import HeartwoodStore
import TestSupport
import Testing

@testable import HeartwoodFormats

/// The form of files, held against samples in Core Data's own.
@Suite struct XMLFormTests {
  /// An application like those whose files are known: an abstract entity to which relationships lead.
  static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      .entity(
        "Thing",
        abstract: true,
        .attribute("title", .string, optional: true),
        .toOne("parent", "Thing", inverse: "children"),
        .toMany("children", "Thing", inverse: "parent")
      ),
      .entity(
        "ToDo",
        parent: "Thing",
        .attribute("dateCreated", .date, optional: true),
        .attribute("todayOffset", .float, optional: true),
        .attribute("isDone", .boolean, optional: true),
        .attribute("image", .binary, optional: true),
        .toMany("tags", "Tag", inverse: "toDos")
      ),
      .entity("Focus", parent: "Thing", .attribute("level", .integer16, optional: true)),
      .entity("Tag", .attribute("title", .string, optional: true), .toMany("toDos", "ToDo", inverse: "tags")),
    ])
  }

  private func file() throws -> StoreFile {
    let file = StoreFile(XMLStore.self, try Self.model())
    try file.write(try FormatFolder("XML").bytes("core-data.xml"))
    return file
  }

  /// The text without what is an addition to Core Data's form.
  private func withoutModel(_ text: String) -> String {
    text.replacing(#/\ +<key>HeartwoodModel</key>\n.*\n/#, with: "")
  }

  @Test func whatCoreDataWritesIsRead() throws {
    let contents = try file().open().contents()
    let toDos = contents.records.filter { $0.entity == "ToDo" }
    #expect(toDos.map(\.reference) == [.integer(107), .integer(110)])
    #expect(contents.records.map(\.entity) == ["ToDo", "ToDo", "Focus", "Tag"])
    let entity = try #require(contents.model.entity(named: "ToDo"))
    let first = try #require(try contents.node(.integer(107), of: entity))
    #expect(first["title"] == .string("<note xml:space=\"preserve\">a & b \\ c\n</note>"))
    #expect(first["dateCreated"] == .date(Date(timeIntervalSinceReferenceDate: 259_257_180.215415)))
    #expect(first["todayOffset"] == .float(3))
    #expect(first["isDone"] == .boolean(true))
    #expect(first["parent"].objectIDs.map(\.entity.name) == ["Focus"])
    #expect(first["tags"].objectIDs.map(\.reference) == [.integer(108)])
    #expect(first["image"] == .binary(Data((0..<100).map { UInt8($0) })))
  }

  @Test func itIsWrittenInTheSameForm() throws {
    let file = try file()
    let before = try file.text
    _ = try file.open().save(ChangeSet())
    #expect(withoutModel(try file.text) == before)
    #expect(try file.text.contains("<key>HeartwoodModel</key>"))
  }

  @Test func keysOfOthersAreKept() throws {
    let metadata = try file().open().metadata
    #expect(metadata.userInfo == ["BuildNumber": 591])
    #expect(metadata.identifier.uuidString == "B4FC79D0-E654-43EF-9020-A5273B3F104A")
    #expect(metadata.modelVersionHashes == (try Self.model()).entityVersionHashesByName)
  }

  @Test func keysOfCoreDataStayInTheFile() throws {
    let file = try file()
    let engine = try file.open()
    var metadata = engine.metadata
    metadata.userInfo["BuildNumber"] = 592
    try engine.replaceMetadata(metadata)
    #expect(try file.text.contains("<key>NSPersistenceFrameworkVersion</key>"))
    #expect(try file.open().metadata.userInfo == ["BuildNumber": 592])
    metadata.userInfo["NSPersistenceFrameworkVersion"] = 187
    let error = #expect(throws: PersistenceError.self) { try engine.replaceMetadata(metadata) }
    #expect(error?.code == .valueUnsupported)
  }

  @Test func numbersAreNotGivenTwice() throws {
    let file = try file()
    let engine = try file.open()
    let tag = try #require(engine.contents().records.last)
    let entity = try #require(file.model.entity(named: "Tag"))
    let id = try engine.contents().objectID(tag.reference, of: entity)
    _ = try engine.save(ChangeSet(deleted: [RecordDeletion(objectID: id, baseVersion: 1)]))
    let reopened = try file.open()
    let references = try reopened.newReferences(count: 2, for: entity)
    #expect([references[0], references[1]] == [.integer(189), .integer(190)])
    let focus = try #require(file.model.entity(named: "Focus"))
    #expect(try reopened.newReferences(count: 1, for: focus)[0] == .integer(191))
  }

  @Test func aModelThatIsNotTheLastOneIsNotTaken() throws {
    let file = try file()
    _ = try file.open().save(ChangeSet())
    #expect(try XMLStore.readModel(from: file.input, options: file.options) == file.model)
    let hash = try #require(file.model.entity(named: "Tag")).versionHash.base64EncodedString()
    try file.write(try file.text.replacing(hash, with: "xg3+cjRZK5nzTQnzZc7QQs9Glge/AHW0kv95fcBSkgA="))
    #expect(try XMLStore.readModel(from: file.input, options: file.options) == nil)
  }

  @Test func aModelIsMadeOfTheRecords() throws {
    let file = try file()
    let model = try #require(try XMLStore.inferModel(from: file.input, options: file.options))
    #expect(Set(model.entities.map(\.name)) == ["Thing", "ToDo", "Focus", "Tag"])
    let toDo = try #require(model.entity(named: "ToDo"))
    #expect(toDo.superentity?.name == "Thing")
    #expect(toDo.property(named: "datecreated")?.attribute?.type == .date)
    #expect(toDo.property(named: "tags")?.relationship?.isToMany == true)
    #expect(toDo.property(named: "parent")?.relationship?.destinationEntityName == "Thing")
    var inferred = StoreFile(XMLStore.self, model)
    inferred.options[.ignoresModelVersion] = true
    #expect(try inferred.read(file.bytes).count == 4)
  }

  @Test func countsOfAModelThatIsMadeAreThoseOfTheRecords() throws {
    let file = try file()
    let header = try #require(try file.text.split(separator: "</databaseInfo>").first)
    let relationships = ["0/0", "1/0", "3/2", "1/1"].enumerated().map { number, counts in
      "<relationship name=\"r\(number)\" type=\"\(counts)\" destination=\"TAG\" idrefs=\"z1\"></relationship>\n"
    }
    let object = "<object type=\"TAG\" id=\"z1\">\n\(relationships.joined())</object>\n"
    try file.write(header + "</databaseInfo>\n" + object + "</database>\n")
    let model = try #require(try XMLStore.inferModel(from: file.input, options: file.options))
    let tag = try #require(model.entity(named: "Tag"))
    #expect(tag.relationships.map(\.minCount) == [0, 1, 3, 0])
    #expect(tag.relationships.map(\.maxCount) == [0, 0, 3, 1])
    #expect(tag.relationships.map(\.isToMany) == [true, true, true, false])
  }

  @Test("Where records of two entities stand for each other, one inherits from the other, and not in a circle")
  func entitiesInACircle() throws {
    let file = try file()
    let header = try #require(try file.text.split(separator: "</databaseInfo>").first)
    let objects = [("FOCUS", 1, "tag", "TAG"), ("TAG", 2, "focus", "FOCUS")].map { type, number, name, destination in
      """
      <object type="\(type)" id="z\(number)">
      <relationship name="\(name)" type="0/1" destination="\(destination)" idrefs="z\(number)"></relationship>
      </object>
      """
    }
    try file.write(header + "</databaseInfo>\n" + objects.joined(separator: "\n") + "\n</database>\n")
    let model = try #require(try XMLStore.inferModel(from: file.input, options: file.options))
    #expect(model.entity(named: "Tag")?.superentity?.name == "Focus")
    #expect(model.entity(named: "Focus")?.superentity == nil)
  }

  /// Each of many entities inherits from the one before, which no model can have: that is said at once.
  @Test func entitiesInALongChain() throws {
    let file = try file()
    let header = try #require(try file.text.split(separator: "</databaseInfo>").first)
    let objects = (1...5_000).map { number in
      """
      <object type="E\(number)" id="z\(number)">
      <relationship name="r" type="0/1" destination="E\(number - 1)" idrefs="z\(number)"></relationship>
      </object>
      """
    }
    try file.write(header + "</databaseInfo>\n" + objects.joined(separator: "\n") + "\n</database>\n")
    #expect { try XMLStore.inferModel(from: file.input, options: file.options) } throws: {
      "\($0)".contains("The entity has more than 64 ancestors.")
    }
  }

  @Test func recordsOfOneNumberAreToldApart() throws {
    let store = StoreFile(XMLStore.self, try Self.model())
    let loader = StoreLoader(setup: store.setup, storeType: .xml)
    let (toDo, focus) = (try loader.entity(named: "ToDo"), try loader.entity(named: "Focus"))
    for (entity, other) in [(toDo, focus), (focus, toDo)] {
      try loader.addNode(.integer(7), to: entity) { node in
        try node.setValue(.toOne(loader.objectID(.integer(7), of: other)), forKey: "parent")
        try node.setValue(.toMany([loader.objectID(.integer(7), of: other)]), forKey: "children")
      }
    }
    let contents = try loader.finish()
    try store.create(contents)
    #expect(try store.text.contains("idrefs=\"FOCUS:z7\""))
    #expect(ContentsComparison.firstDifference(contents, try store.open().contents()) == nil)
    let tag = try store.text.replacing("FOCUS:z7", with: "TAG:z7")
    let error = try store.refusal(of: Array(tag.utf8))
    #expect(error?.code == .fileMalformed && error?.context.property == "parent" && error?.context.line != nil)
  }

  @Test func namesBeforeIdsTellWhatInherits() throws {
    let file = try file()
    let header = try #require(try file.text.split(separator: "</databaseInfo>").first)
    let objects = ["FOCUS", "TAG"].map { "<object type=\"\($0)\" id=\"z1\"></object>" }
    let note = """
      <object type="NOTE" id="z2">
      <relationship name="all" type="0/0" destination="FOCUS" idrefs="FOCUS:z1 TAG:z1"></relationship>
      </object>
      """
    try file.write(header + "</databaseInfo>\n" + objects.joined(separator: "\n") + note + "\n</database>\n")
    let model = try #require(try XMLStore.inferModel(from: file.input, options: file.options))
    #expect(model.entity(named: "Tag")?.superentity?.name == "Focus")
    var inferred = StoreFile(XMLStore.self, model)
    inferred.options[.ignoresModelVersion] = true
    #expect(try inferred.read(file.bytes).records.last?.values[0].objectIDs.map(\.entity.name) == ["Focus", "Tag"])
  }

  /// A file cannot tell of which entity an object was that is gone.
  @Test func aLinkThatLeadsNowhereIsKept() throws {
    let model = try ManagedObjectModel(entities: [
      .entity("Item", .attribute("name", .string, optional: true)),
      .entity("Special", parent: "Item", .attribute("size", .integer16, optional: true)),
      .entity("Note", .toOne("about", "Item", inverse: nil), .toMany("others", "Item", inverse: nil)),
    ])
    let store = StoreFile(XMLStore.self, model)
    let loader = StoreLoader(setup: store.setup, storeType: .xml)
    let (item, note) = (try loader.entity(named: "Item"), try loader.entity(named: "Note"))
    let records: [(reference: ReferenceID, entity: EntityDescription)] = [
      (.integer(1), item), (.integer(2), try loader.entity(named: "Special")), (.integer(3), item),
    ]
    for (reference, entity) in records { try loader.addNode(reference, to: entity) { _ in } }
    let ids = records.map { loader.objectID($0, of: $1) }
    try loader.addNode(.integer(4), to: note) { node in
      try node.setValue(.toOne(ids[0]), forKey: "about")
      try node.setValue(.toMany(ids), forKey: "others")
    }
    try store.create(try loader.finish())
    let engine = try store.open()
    let deletions = try records[..<2].map {
      RecordDeletion(objectID: try engine.contents().objectID($0, of: $1), baseVersion: 1)
    }
    _ = try engine.save(ChangeSet(deleted: deletions))
    let values = try #require(try store.open().contents().node(.integer(4), of: note))
    #expect(values["about"].objectIDs.map(\.reference) == [.integer(1)])
    #expect(values["others"].objectIDs.map(\.reference) == [.integer(1), .integer(2), .integer(3)])
    #expect(values["others"].objectIDs.map(\.entity.name) == ["Item", "Item", "Item"])
  }

  @Test func namesThatDifferInCaseOnlyAreRefused() throws {
    let clashes: [[EntityDefinition]] = [
      [.entity("A", .attribute("name", .string, optional: true), .attribute("NAME", .string, optional: true))],
      [
        .entity("Aa", .attribute("b", .string, optional: true)),
        .entity("AA", .attribute("b", .string, optional: true)),
      ],
    ]
    for entities in clashes {
      let file = StoreFile(XMLStore.self, try ManagedObjectModel(entities: entities))
      let error = #expect(throws: PersistenceError.self) { try file.open() }
      #expect(error?.code == .capabilityMissing)
    }
  }

  @Test func keysWithAMeaningOfTheirOwnAreRefused() throws {
    let engine = try file().open()
    try engine.setUserInfo(["NSStoreModelVersionHashes": 1])
    let error = #expect(throws: PersistenceError.self) { try engine.save(ChangeSet()) }
    #expect(error?.code == .valueUnsupported)
  }

  @Test func metadataIsReadWithoutTheRecords() throws {
    let file = try file()
    let text = try file.text
    let end = try #require(text.firstRange(of: "</databaseInfo>")).upperBound
    try file.write(String(text[..<end]) + "<object><<<")
    let metadata = try XMLStore.readMetadata(from: file.input, options: file.options)
    #expect(metadata.identifier.uuidString == "B4FC79D0-E654-43EF-9020-A5273B3F104A")
    #expect(try file.refusal(of: file.bytes)?.code == .fileMalformed)
  }
}
