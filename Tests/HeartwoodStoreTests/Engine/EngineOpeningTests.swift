import Foundation
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@Suite struct EngineOpeningTests {
  private let fixture: EngineFixture

  init() throws {
    fixture = try EngineFixture()
  }

  @Test(arguments: [nil, [UInt8]()])
  func storeWithoutRecordsBegins(_ bytes: [UInt8]?) throws {
    if let bytes { try fixture.memory.setContents(bytes, ofFileAtPath: EngineFixture.path) }
    let engine = try fixture.open()
    #expect(try engine.contents().count == 0)
    #expect(engine.metadata.storeType == "Plain")
    #expect(engine.metadata.modelVersionHashes.keys.sorted() == ["Chore", "Item", "Note", "Project", "Task"])
    #expect(fixture.fileBytes == bytes)
    _ = try engine.save(ChangeSet())
    #expect(try fixture.open().metadata.identifier == engine.metadata.identifier)
  }

  @Test func everythingComesBack() throws {
    let engine = try fixture.open()
    let project = fixture.temporaryID(fixture.project)
    let tasks = ["first", "second"].map {
      fixture.inserted(fixture.task, ["name": .string($0), "project": .toOne(project)])
    }
    let inserted = [fixture.inserted(project, ["tasks": .toMany(tasks.map(\.objectID))])] + tasks
    try engine.setUserInfo(["opened": 3, "by": ["me"]])
    _ = try engine.save(ChangeSet(inserted: inserted))

    let again = try fixture.open()
    #expect(again.metadata == engine.metadata)
    #expect(again.metadata.userInfo == ["opened": 3, "by": ["me"]])
    for entity in fixture.model.entities {
      let (before, after) = (try engine.nodes(of: entity), try again.nodes(of: entity))
      #expect(before.map(\.objectID) == after.map(\.objectID))
      #expect(before.map(\.values) == after.map(\.values))
      #expect(after.allSatisfy { $0.version == 1 })
    }
    let reopenedTasks = try again.nodes(of: fixture.task)
    #expect(try again.nodes(of: fixture.project).map { $0["tasks"] } == [.toMany(reopenedTasks.map(\.objectID))])
  }

  @Test func missingFileCannotBeReadOnly() throws {
    var options = StoreOptions()
    options[.isReadOnly] = true
    #expect(errorCode { _ = try fixture.open(options: options) } == .fileNotFound)
  }

  @Test func readOnlyStoreReadsAndRefusesToSave() throws {
    _ = try fixture.open().save(ChangeSet(inserted: [fixture.inserted(fixture.task, ["name": "a"])]))
    let bytes = fixture.fileBytes
    var options = StoreOptions()
    options[.isReadOnly] = true
    let engine = try fixture.open(options: options)
    #expect(try engine.names(of: fixture.task) == ["a"])
    #expect(errorCode { _ = try engine.save(ChangeSet()) } == .storeReadOnly)
    #expect(errorCode { try engine.setUserInfo([:]) } == .storeReadOnly)
    #expect(fixture.fileBytes == bytes)
  }

  @Test func folderIsNoStore() throws {
    try fixture.memory.setContents([1], ofFileAtPath: EngineFixture.path + "/file")
    #expect(errorCode { _ = try fixture.open() } == .fileReadFailed)
  }

  @Test func otherModelIsNamed() throws {
    _ = try fixture.open().save(ChangeSet())
    let other = try EngineFixture.model(memoType: .binary, extra: .entity("Person", .attribute("age", .integer16)))
    let error = #expect(throws: PersistenceError.self) { try fixture.open(model: other) }
    #expect(error?.code == .modelIncompatible)
    #expect(error?.context.path == EngineFixture.path)
    #expect(
      error?.message.contains("Task, Chore differ; Person are not in the store.") == true,
      "\(String(describing: error))"
    )

    _ = try fixture.open(model: other, options: ignoringModel()).save(ChangeSet())
    _ = try fixture.open(model: other)
    let narrower = #expect(throws: PersistenceError.self) { try fixture.open() }
    #expect(narrower?.message.contains("Person are not in the model") == true)
  }

  private func ignoringModel() -> StoreOptions {
    var options = StoreOptions()
    options[.ignoresModelVersion] = true
    return options
  }

  @Test func fileThatOccursTwiceInAReferenceIsRefused() throws {
    _ = try fixture.open().save(ChangeSet(inserted: [fixture.inserted(fixture.task)]))
    var form = try fixture.form()
    form.records.append(form.records[0])
    try fixture.memory.setContents([UInt8](try JSONEncoder().encode(form)), ofFileAtPath: EngineFixture.path)
    #expect(errorCode { _ = try fixture.open() } == .duplicateReference)
  }

  @Test(arguments: ["Item", "Note", "Nobody"])
  func recordsOfEntitiesThatAreNotKeptAreRefused(_ name: String) throws {
    _ = try fixture.open(configuration: "Projects").save(ChangeSet(inserted: [fixture.inserted(fixture.task)]))
    var form = try fixture.form()
    form.records[0].entity = name
    form.records[0].values = [:]
    try fixture.memory.setContents([UInt8](try JSONEncoder().encode(form)), ofFileAtPath: EngineFixture.path)
    #expect(errorCode { _ = try fixture.open(configuration: "Projects") } == .entityUnknown)
  }

  @Test func malformedFileIsRefusedAndStands() throws {
    try fixture.memory.setContents(Array("{}".utf8), ofFileAtPath: EngineFixture.path)
    #expect(errorCode { _ = try fixture.open() } == .fileMalformed)
    #expect(fixture.fileBytes == Array("{}".utf8))
  }

  /// A group is left behind as soon as it has the size that it must have.
  @Test func aTableThatIsReadPieceByPieceHasGroupsEnough() {
    var (rowCount, groupCount) = (0, 0)
    while rowCount < 1 << 31 {
      rowCount += NodeTable.groupSize(forCount: rowCount)
      groupCount += 1
    }
    #expect(groupCount < RowID.maximumGroupCount)
  }
}
