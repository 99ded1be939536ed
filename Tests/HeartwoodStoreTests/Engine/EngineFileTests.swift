import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

/// What an engine does about its file.
@Suite struct EngineFileTests {
  private let fixture: EngineFixture

  init() throws {
    fixture = try EngineFixture()
  }

  private func insertion(_ name: String) -> ChangeSet {
    ChangeSet(inserted: [fixture.inserted(fixture.task, ["name": .string(name)])])
  }

  @Test func saveOfAnotherIsNotWrittenOver() throws {
    let (mine, theirs) = (try fixture.open(), try fixture.open())
    _ = try theirs.save(insertion("theirs"))
    #expect(errorCode { _ = try mine.save(insertion("mine")) } == .fileExists)
    let third = try fixture.open()
    _ = try third.save(insertion("third"))
    #expect(errorCode { _ = try theirs.save(insertion("again")) } == .fileChangedOnDisk)
    #expect(try theirs.names(of: fixture.task) == ["theirs"])
    #expect(try fixture.open().names(of: fixture.task) == ["theirs", "third"])
    _ = try third.save(insertion("fourth"))
  }

  @Test func fileThatWasRemovedIsNotMadeAnew() throws {
    let engine = try fixture.open()
    _ = try engine.save(insertion("a"))
    try fixture.memory.removeFile(atPath: EngineFixture.path)
    let error = #expect(throws: PersistenceError.self) { try engine.save(insertion("b")) }
    #expect(error?.code == .fileChangedOnDisk)
    #expect(error?.message.contains("removed") == true)
    #expect(fixture.memory.paths == [])
  }

  @Test func storeIsToldOfTheFileThatItReplaces() throws {
    let engine = try fixture.open()
    _ = try engine.save(insertion("a"))
    #expect(try fixture.form().previousByteCount == nil)
    let byteCount = fixture.fileBytes?.count
    _ = try engine.save(insertion("b"))
    #expect(try fixture.form().previousByteCount == byteCount)
    #expect(try fixture.form().previousRecordCount == 1)
    #expect(try engine.contents().attachment as? Int == 2)
  }

  @Test func failureAtAnyStepIsMadeUpForByTheNextSave() throws {
    let steps = try operations()
    for step in 1...steps.count {
      let fixture = try EngineFixture()
      let engine = try fixture.open()
      _ = try engine.save(ChangeSet(inserted: [fixture.inserted(fixture.task, ["name": "a"])]))
      let (bytes, version) = (fixture.fileBytes, try engine.nodes(of: fixture.task)[0].version)
      let changes = ChangeSet(
        inserted: [fixture.inserted(fixture.task, ["name": "b"])],
        updated: [try fixture.updated(try engine.nodes(of: fixture.task)[0], ["memo": "changed"])]
      )
      fixture.files.failOperation(fixture.files.operations.count + step)
      if errorCode({ _ = try engine.save(changes) }) != nil {
        #expect(try engine.names(of: fixture.task) == ["a"], "\(steps[step - 1])")
        #expect(try engine.nodes(of: fixture.task)[0].version == version)
        if case .synchronizeDirectory = steps[step - 1] {} else { #expect(fixture.fileBytes == bytes) }
        _ = try engine.save(changes)
      }
      for engine in [engine, try fixture.open()] {
        #expect(try engine.names(of: fixture.task) == ["a", "b"], "\(steps[step - 1])")
        #expect(try engine.nodes(of: fixture.task)[0]["memo"] == "changed")
      }
      #expect(fixture.memory.paths == [EngineFixture.path])
    }
  }

  @Test func crashAtAnyStepLeavesTheStoreBeforeOrAfterTheSave() throws {
    for step in 1...(try operations().count) {
      let fixture = try EngineFixture()
      let engine = try fixture.open()
      _ = try engine.save(ChangeSet(inserted: [fixture.inserted(fixture.task, ["name": "a"])]))
      fixture.files.crash(atOperation: fixture.files.operations.count + step)
      let failed =
        errorCode { _ = try engine.save(ChangeSet(inserted: [fixture.inserted(fixture.task, ["name": "b"])])) } != nil
      fixture.files.restart()
      let again = try fixture.open()
      let names = try again.names(of: fixture.task)
      #expect(names == ["a"] || names == ["a", "b"])
      if !failed { #expect(names == ["a", "b"]) }
      _ = try again.save(ChangeSet(inserted: [fixture.inserted(fixture.task, ["name": "c"])]))
      #expect(try fixture.open().names(of: fixture.task) == names + ["c"])
      #expect(fixture.memory.paths == [EngineFixture.path])
    }
  }

  /// The steps of a save over an old file, whose content the store reads.
  private func operations() throws -> [FileOperation] {
    let fixture = try EngineFixture()
    let engine = try fixture.open()
    _ = try engine.save(ChangeSet())
    let before = fixture.files.operations.count
    _ = try engine.save(ChangeSet())
    return Array(fixture.files.operations.dropFirst(before))
  }

  @Test func userInfoIsWrittenWithTheNextSaveOnly() throws {
    let engine = try fixture.open()
    _ = try engine.save(insertion("a"))
    try engine.setUserInfo(["key": "value"])
    #expect(engine.metadata.userInfo == ["key": "value"])
    #expect(try fixture.open().metadata.userInfo == [:])
    _ = try engine.save(ChangeSet())
    #expect(try fixture.open().metadata.userInfo == ["key": "value"])
  }

  // MARK: What a store lacks

  @Test(arguments: [nil, "Projects"])
  func tooManyEntitiesAreRefused(_ configuration: String?) throws {
    let error = #expect(throws: PersistenceError.self) {
      try fixture.open(NarrowStore.self, configuration: configuration)
    }
    #expect(error?.code == .capabilityMissing)
    #expect(error?.message.contains("one entity at most") == true)
    #expect(error?.context.storeType == "Narrow")
  }

  @Test func propertiesThatAStoreHasNoPlaceForAreRefused() throws {
    for (property, name) in [
      (PropertyDescription.attribute("date", .date), "date"), (.toOne("self", "Only", inverse: nil), "self"),
    ] {
      let model = try ManagedObjectModel(entities: [.entity("Only", .attribute("name", .string), property)])
      let error = #expect(throws: PersistenceError.self) { try fixture.open(NarrowStore.self, model: model) }
      #expect(error?.code == .capabilityMissing)
      #expect(error?.context.entity == "Only" && error?.context.property == name)
    }
    let transient = try ManagedObjectModel(entities: [.entity("Only", .attribute("date", .date, transient: true))])
    _ = try fixture.open(NarrowStore.self, model: transient)
  }

  @Test func metadataReferencesAndValuesThatAStoreLacksAreRefusedBeforeAnythingIsWritten() throws {
    let engine = try fixture.open(NarrowStore.self, configuration: "Notes")
    let note = try #require(fixture.model.entity(named: "Note"))
    #expect(errorCode { try engine.setUserInfo(["key": 1]) } == .capabilityMissing)
    try engine.setUserInfo([:])
    let named = try engine.contents().objectID(.string("name"), of: note)
    #expect(errorCode { _ = try engine.save(ChangeSet(inserted: [fixture.inserted(named)])) } == .capabilityMissing)
    let unspeakable = ChangeSet(inserted: [fixture.inserted(note, ["name": "unspeakable"])])
    #expect(errorCode { _ = try engine.save(unspeakable) } == .valueUnsupported)
    #expect(!fixture.files.operations.contains { !$0.isReading })
    let ids = try engine.save(ChangeSet(inserted: [fixture.inserted(note), fixture.inserted(note)])).permanentIDs
    // The save that failed has used up a number.
    #expect(Set(ids.values.map(\.reference)) == [.integer(2), .integer(3)])
  }

  @Test func inMemoryStoreHasNoFile() throws {
    let setup = try fixture.setup()
    let code = errorCode {
      _ = try AtomicStoreEngine.open(AtomicClassFormat(InMemoryStore.self), setup: setup, fileSystem: fixture.files)
    }
    #expect(code == .capabilityMissing)
  }

  // MARK: Creating from what another store keeps

  @Test func contentsBecomeANewStore() throws {
    let source = try fixture.openInMemory()
    _ = try source.save(insertion("a"))
    func create(_ storeClass: any (AtomicStore & StoreClass).Type, _ configuration: String?, replacing: Bool) throws
      -> AtomicStoreEngine
    {
      try AtomicStoreEngine.create(
        AtomicClassFormat(storeClass),
        contents: try source.contents(),
        setup: try fixture.setup(configuration: configuration),
        fileSystem: fixture.files,
        replacing: replacing
      )
    }
    let engine = try create(PlainStore.self, "Projects", replacing: false)
    #expect(engine.metadata.identifier == source.metadata.identifier)
    #expect(engine.metadata.storeType == "Plain")
    #expect(try fixture.open(configuration: "Projects").names(of: fixture.task) == ["a"])
    _ = try engine.save(insertion("b"))

    let bytes = fixture.fileBytes
    #expect(errorCode { _ = try create(PlainStore.self, nil, replacing: false) } == .fileExists)
    #expect(errorCode { _ = try create(PlainStore.self, "Notes", replacing: true) } == .entityUnknown)
    #expect(fixture.fileBytes == bytes)
    _ = try create(PlainStore.self, nil, replacing: true)
    #expect(try fixture.open().names(of: fixture.task) == ["a"])
  }
}
