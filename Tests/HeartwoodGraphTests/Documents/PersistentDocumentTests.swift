import Foundation
import Heartwood
import HeartwoodDocuments
import HeartwoodGraph
import HeartwoodTesting
import Observation
import Synchronization
import Testing

@MainActor @Suite struct PersistentDocumentTests {
  private let files = DocumentFiles()

  private func document() throws -> PersistentDocument { try files.document() }

  // MARK: Opening and saving

  @Test func aDocumentIsOpenedEditedAndSaved() throws {
    let document = try document()
    #expect(try document.context.names() == ["Ann"])
    #expect(!document.hasUnsavedChanges)
    #expect(document.url == DocumentFiles.url)
    #expect(document.persistentStore.type == .binary)
    _ = try document.context.person("Ben")
    #expect(document.hasUnsavedChanges)
    #expect(try files.names() == ["Ann"])
    try document.save()
    #expect(!document.hasUnsavedChanges)
    #expect(try files.names() == ["Ann", "Ben"])
  }

  @Test func aNewDocumentGetsItsFileWhenItIsSavedAsOne() throws {
    let document = try PersistentDocument(try files.coordinator())
    _ = try document.context.person("Ann")
    #expect(document.url == nil)
    #expect(persistenceError { try document.save() }?.code == .documentWithoutFile)
    #expect(persistenceError { try document.revert() }?.code == .documentWithoutFile)
    #expect(persistenceError { try document.autosave() }?.code == .documentWithoutFile)
    #expect(files.paths.isEmpty)
    try document.save(as: DocumentFiles.url)
    #expect(document.url == DocumentFiles.url)
    #expect(!document.hasUnsavedChanges)
    #expect(try files.names() == ["Ann"])
    _ = try document.context.person("Ben")
    try document.save()
    #expect(try files.names() == ["Ann", "Ben"])
  }

  @Test func aNewDocumentWithoutObjectsIsAFileToo() throws {
    let document = try PersistentDocument(try files.coordinator())
    try document.save(as: DocumentFiles.url)
    #expect(try files.names().isEmpty)
    #expect(files.paths == [DocumentFiles.url.path])
  }

  @Test func whatCannotBeOpenedIsAnError() throws {
    let missing = persistenceError {
      _ = try PersistentDocument(try files.coordinator(), contentsOf: DocumentFiles.url)
    }
    #expect(missing?.code == .fileNotFound)
    #expect(missing?.context.path == DocumentFiles.url.path)
    let used = try TestStack().coordinator
    #expect(persistenceError { _ = try PersistentDocument(used) }?.code == .storeAlreadyOpen)
    try files.memory.setContents(Array("nothing".utf8), ofFileAtPath: DocumentFiles.url.path)
    #expect(
      persistenceError { _ = try PersistentDocument(try files.coordinator(), contentsOf: DocumentFiles.url) } != nil
    )
  }

  @Test func anEmptyFileIsANewDocument() throws {
    try files.memory.setContents([], ofFileAtPath: DocumentFiles.url.path)
    let document = try PersistentDocument(try files.coordinator(), contentsOf: DocumentFiles.url)
    #expect(try document.checkFile() == .absent)
    try document.save()
    #expect(try document.checkFile() == .unchanged)
    #expect(try files.names().isEmpty)
  }

  @Test func aDocumentIsSavedOnAnotherThread() async throws {
    let document = try document()
    let ben = try document.context.person("Ben")
    try document.setUserInfo(["page": 3])
    async let saved: Void = document.saveAsynchronously()
    await Task.yield()
    // Whether the save has begun or not, the change is not lost.
    ben.name = "Benny"
    try await saved
    try document.save()
    #expect(!document.hasUnsavedChanges)
    #expect(try files.names() == ["Ann", "Benny"])
    #expect(document.persistentStore.metadata.userInfo == ["page": 3])
  }

  @Test func aSaveOnAnotherThreadWritesOverNobody() async throws {
    let document = try document()
    try files.write(["Zoe"], to: DocumentFiles.url)
    _ = try document.context.person("Ben")
    let error = await #expect(throws: PersistenceError.self) { try await document.saveAsynchronously() }
    #expect(error?.code == .fileChangedOnDisk)
    #expect(document.hasUnsavedChanges)
    #expect(try files.names() == ["Ann", "Zoe"])
    let new = try PersistentDocument(try files.coordinator())
    let other = await #expect(throws: PersistenceError.self) { try await new.saveAsynchronously() }
    #expect(other?.code == .documentWithoutFile)
  }

  @Test func metadataAloneAreSavedOnAnotherThread() async throws {
    let document = try document()
    try document.setUserInfo(["page": 3])
    #expect(try await document.autosaveAsynchronously())
    #expect(!document.hasUnsavedChanges)
    #expect(try await !document.autosaveAsynchronously())
    let again = try self.document()
    #expect(again.persistentStore.metadata.userInfo == ["page": 3])
  }

  // MARK: Saving elsewhere

  @Test(
    arguments: [("other.heartwood", StoreType.binary), ("other.xml", .xml), ("other.plist", .propertyList)]
      as [(String, StoreType)]
  )
  func aDocumentIsSavedAsAnotherFileAndType(_ name: String, _ type: StoreType) throws {
    let url = URL(filePath: "/folder/\(name)")
    let document = try document()
    let ann = try #require(try document.context.fetch(Person.self).first)
    ann.name = "Anna"
    let ben = try document.context.person("Ben")
    ben.mentor = ann
    try document.save(as: url)
    #expect(document.url == url)
    #expect(document.state.storeType == type)
    #expect(!document.hasUnsavedChanges)
    #expect(try files.names() == ["Ann"])
    #expect(try files.names(in: url) == ["Anna", "Ben"])
    // Objects are those that they were, and go on in the new file.
    ann.name = "Annabel"
    #expect(ann.students == [ben])
    try document.save()
    #expect(try files.names(in: url) == ["Annabel", "Ben"])
    #expect(try files.names() == ["Ann"])
  }

  @Test func aDocumentIsSavedAsWhatItIs() throws {
    let document = try document()
    _ = try document.context.person("Ben")
    try document.save(as: DocumentFiles.url)
    #expect(try files.names() == ["Ann", "Ben"])
  }

  @Test func aDocumentIsSavedAsWhatItIsWithOtherOptions() throws {
    let document = try document()
    let before = document.persistentStoreCoordinator.persistentStores[0]
    var options = StoreOptions()
    options[.tracksPersistentHistory] = true
    _ = try document.context.person("Ben")
    try document.save(as: DocumentFiles.url, options: options)
    let store = document.persistentStoreCoordinator.persistentStores[0]
    #expect(!before.tracksPersistentHistory && store.tracksPersistentHistory)
    #expect(document.url == DocumentFiles.url && files.paths == [DocumentFiles.url.path])
    #expect(try files.names() == ["Ann", "Ben"])
    _ = try document.context.person("Cid")
    try document.save()
    #expect(try files.names() == ["Ann", "Ben", "Cid"])
  }

  @Test func aDocumentWithoutChangesIsWrittenWhereItIsSavedAsSomethingElse() throws {
    let document = try document()
    var options = StoreOptions()
    options[.tracksPersistentHistory] = true
    let before = try files.memory.status(atPath: DocumentFiles.url.path)?.identity
    try document.save(as: DocumentFiles.url, options: options)
    #expect(try files.memory.status(atPath: DocumentFiles.url.path)?.identity != before)
    // What stands at another place is replaced.
    let other = URL(filePath: "/folder/other.heartwood")
    try files.write(["Zoe"], to: other)
    try document.save(as: other, replacing: true)
    #expect(try files.names(in: other) == ["Ann"])
    // And what somebody else has put into its own.
    try files.memory.removeFile(atPath: other.path)
    try files.write(["Yan"], to: other)
    try document.save(as: other, replacing: true)
    #expect(try files.names(in: other) == ["Ann"])
    #expect(!document.hasUnsavedChanges)
  }

  @Test func aFileThatStandsThereIsReplacedOnlyIfThatIsSaid() throws {
    try files.write(["Zoe"], to: DocumentFiles.otherURL)
    let document = try document()
    _ = try document.context.person("Ben")
    let error = persistenceError { try document.save(as: DocumentFiles.otherURL) }
    #expect(error?.code == .fileExists)
    #expect(document.url == DocumentFiles.url)
    #expect(document.hasUnsavedChanges)
    #expect(try files.names(in: DocumentFiles.otherURL) == ["Zoe"])
    try document.save(as: DocumentFiles.otherURL, replacing: true)
    #expect(try files.names(in: DocumentFiles.otherURL) == ["Ann", "Ben"])
  }

  @Test func aDocumentThatCannotBeSavedElsewhereStaysWhatItWas() throws {
    let document = try document()
    let ann = try #require(try document.context.fetch(Person.self).first)
    ann.name = "Anna"
    files.files.limitWrites(toByteCount: 0)
    #expect(persistenceError { try document.save(as: DocumentFiles.otherURL) }?.code == .fileWriteFailed)
    files.files.limitWrites(toByteCount: .max)
    #expect(document.url == DocumentFiles.url)
    #expect(document.persistentStore.type == .binary)
    #expect(document.hasUnsavedChanges)
    #expect(files.paths == [DocumentFiles.url.path])
    try document.save()
    #expect(try files.names() == ["Anna"])
    ann.name = "Annabel"
    try document.save(as: DocumentFiles.otherURL)
    #expect(try files.names(in: DocumentFiles.otherURL) == ["Annabel"])
    #expect(try files.names() == ["Anna"])
  }

  @Test func whatTheOtherTypeCannotHoldIsRefused() throws {
    let document = try document()
    let error = persistenceError { try document.save(as: URL(filePath: "/folder/other.csv")) }
    #expect(error?.code == .capabilityMissing)
    #expect(document.url == DocumentFiles.url)
    #expect(files.paths == [DocumentFiles.url.path])
  }

  @Test func aCopyHasWhatIsUnsaved() throws {
    let document = try document()
    let ann = try #require(try document.context.fetch(Person.self).first)
    ann.name = "Anna"
    let ben = try document.context.person("Ben")
    ben.mentor = ann
    let cleo = try document.context.person("Cleo")
    document.context.delete(cleo)
    for url in [DocumentFiles.otherURL, URL(filePath: "/folder/copy.heartwood")] {
      try document.saveCopy(to: url)
      #expect(try files.names(in: url) == ["Anna", "Ben"])
    }
    #expect(document.url == DocumentFiles.url)
    #expect(document.hasUnsavedChanges)
    #expect(ben.isInserted)
    #expect(try files.names() == ["Ann"])
    #expect(persistenceError { try document.saveCopy(to: DocumentFiles.url) }?.code == .storeAlreadyOpen)
    #expect(persistenceError { try document.saveCopy(to: DocumentFiles.otherURL) }?.code == .fileExists)
    try document.saveCopy(to: DocumentFiles.otherURL, replacing: true)
    try document.save()
    #expect(try files.names() == ["Anna", "Ben"])
  }

  @Test func aCopyDoesNotLeadToWhatIsGone() throws {
    let document = try document()
    let ann = try #require(try document.context.fetch(Person.self).first)
    let other = ManagedObjectContext(document.persistentStoreCoordinator)
    other.delete(try #require(try other.fetch(Person.self).first))
    try other.save()
    try document.context.person("Ben").mentor = ann
    #expect(persistenceError { try document.saveCopy(to: DocumentFiles.otherURL) }?.code == .saveConflict)
    #expect(files.paths == [DocumentFiles.url.path])
  }

  @Test func whatOthersHaveSavedTooIsAConflictForACopy() throws {
    let document = try document()
    document.context.mergePolicy = .mergeByPropertyObjectTrump
    try #require(try document.context.fetch(Person.self).first).name = "Anna"
    let other = ManagedObjectContext(document.persistentStoreCoordinator)
    try #require(try other.fetch(Person.self).first).name = "Annabel"
    try other.save()
    #expect(persistenceError { try document.saveCopy(to: DocumentFiles.otherURL) }?.code == .saveConflict)
    try document.save()
    try document.saveCopy(to: DocumentFiles.otherURL)
    #expect(try files.names(in: DocumentFiles.otherURL) == ["Anna"])
  }

  // MARK: Reverting and undoing

  @Test func revertingForgetsChanges() throws {
    let document = try document()
    let ann = try #require(try document.context.fetch(Person.self).first)
    ann.name = "Anna"
    _ = try document.context.person("Ben")
    try document.revert()
    #expect(!document.hasUnsavedChanges)
    #expect(ann.name == "Ann")
    #expect(try document.context.names() == ["Ann"])
    #expect(document.undoManager?.canUndo == false)
  }

  @Test func revertingTakesWhatAnotherContextHasSaved() throws {
    let document = try document()
    let ann = try #require(try document.context.fetch(Person.self).first)
    #expect(ann.name == "Ann")
    let other = ManagedObjectContext(document.persistentStoreCoordinator)
    try other.fetch(Person.self).first?.name = "Anna"
    try other.save()
    #expect(ann.name == "Ann")
    try document.revert()
    #expect(ann.name == "Anna")
    ann.name = "Annabel"
    try document.save()
    #expect(try files.names() == ["Annabel"])
  }

  @Test func revertingTakesWhatSomebodyElseHasWritten() throws {
    let document = try document()
    _ = try document.context.person("Ben")
    try files.memory.removeFile(atPath: DocumentFiles.url.path)
    #expect(persistenceError { try document.revert() }?.code == .fileChangedOnDisk)
    #expect(document.hasUnsavedChanges)
    try files.write(["Zoe"])
    #expect(try document.checkFile() == .changed)
    try document.revert()
    #expect(try document.context.names() == ["Zoe"])
    #expect(document.state.fileState == .unchanged)
    _ = try document.context.person("Yan")
    try document.save()
    #expect(try files.names() == ["Yan", "Zoe"])
  }

  @Test func revertingToWhatCannotBeReadLosesNothing() throws {
    let document = try document()
    _ = try document.context.person("Ben")
    try files.memory.setContents(Array("nothing".utf8), ofFileAtPath: DocumentFiles.url.path)
    #expect(persistenceError { try document.revert() } != nil)
    #expect(document.hasUnsavedChanges)
    #expect(try document.context.names() == ["Ann", "Ben"])
    try document.save(as: DocumentFiles.otherURL)
    #expect(try files.names(in: DocumentFiles.otherURL) == ["Ann", "Ben"])
  }

  @Test func changesCanBeUndone() throws {
    let document = try document()
    let ann = try #require(try document.context.fetch(Person.self).first)
    ann.name = "Anna"
    document.undoManager?.undo()
    #expect(ann.name == "Ann")
    document.undoManager?.redo()
    #expect(ann.name == "Anna")
  }

  @Test func metadataAreAChange() throws {
    let document = try document()
    try document.setUserInfo(["key": "value"])
    #expect(document.hasUnsavedChanges)
    try document.revert()
    #expect(!document.hasUnsavedChanges)
    #expect(document.persistentStore.metadata.userInfo.isEmpty)
    try document.setUserInfo(["key": "value"])
    try document.save()
    #expect(!document.hasUnsavedChanges)
    let found = try files.coordinator().metadataForPersistentStore(at: DocumentFiles.url)
    #expect(found.userInfo == ["key": "value"])
  }

  // MARK: Observing

  @Test func statesTellWhetherThereIsSomethingToSave() async throws {
    let document = try document()
    var states = document.states.makeAsyncIterator()
    #expect(await states.next()?.hasUnsavedChanges == false)
    _ = try document.context.person("Ben")
    let edited = await states.next()
    #expect(edited?.hasUnsavedChanges == true)
    #expect(edited?.url == DocumentFiles.url)
    try document.save()
    #expect(await states.next()?.hasUnsavedChanges == false)
    try document.save(as: DocumentFiles.otherURL)
    #expect(await states.next()?.storeType == .xml)
  }

  @Test func itsPropertiesAreObserved() async throws {
    let document = try document()
    let ann = try #require(try document.context.fetch(Person.self).first)
    for change in [{ ann.name = "Anna" }, { try document.save() }] as [@MainActor () throws -> Void] {
      let told = Atomic<Bool>(false)
      withObservationTracking {
        _ = document.hasUnsavedChanges
      } onChange: {
        told.store(true, ordering: .relaxed)
      }
      try change()
      document.context.processPendingChanges()
      let isTold = told.load(ordering: .relaxed)
      #expect(isTold)
    }
  }

  @Test func statesEndWithTheDocument() async throws {
    var states: AsyncStream<DocumentState>?
    do {
      let document = try document()
      states = document.states
      #expect(!document.hasUnsavedChanges)
    }
    var count = 0
    for await _ in try #require(states) { count += 1 }
    #expect(count <= 1)
  }
}
