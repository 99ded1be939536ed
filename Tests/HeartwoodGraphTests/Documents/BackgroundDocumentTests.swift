import Foundation
import Heartwood
import HeartwoodDocuments
import HeartwoodGraph
import HeartwoodTesting
import Testing

@Suite struct BackgroundDocumentTests {
  private let files = DocumentFiles()

  private func document() async throws -> BackgroundDocument {
    try files.write(["Ann"])
    return try await BackgroundDocument(try files.coordinator(), contentsOf: DocumentFiles.url)
  }

  private func add(_ name: String, to document: BackgroundDocument) async throws {
    try await document.context.perform { context in _ = try context.person(name) }
  }

  @Test func aDocumentIsOpenedEditedAndSaved() async throws {
    let document = try await document()
    #expect(!document.state.hasUnsavedChanges)
    try await add("Ben", to: document)
    #expect(document.state.hasUnsavedChanges)
    try await document.save()
    #expect(!document.state.hasUnsavedChanges)
    #expect(try files.names() == ["Ann", "Ben"])
    #expect(try document.checkFile() == .unchanged)
  }

  @Test func aNewDocumentIsSavedAsAFileAndAsAnother() async throws {
    let document = try await BackgroundDocument(try files.coordinator())
    try await add("Ann", to: document)
    await #expect(throws: PersistenceError.self) { try await document.save() }
    try await document.save(as: DocumentFiles.url)
    try await add("Ben", to: document)
    try await document.saveCopy(to: URL(filePath: "/folder/copy.plist"))
    #expect(document.state.hasUnsavedChanges)
    try await document.save(as: DocumentFiles.otherURL)
    #expect(document.persistentStore.type == .xml)
    #expect(document.state.url == DocumentFiles.otherURL)
    #expect(try files.names() == ["Ann"])
    #expect(try files.names(in: DocumentFiles.otherURL) == ["Ann", "Ben"])
    #expect(try files.names(in: URL(filePath: "/folder/copy.plist")) == ["Ann", "Ben"])
  }

  @Test func changesAreUndoneAndReverted() async throws {
    let document = try await document()
    try await add("Ben", to: document)
    await document.context.perform { context in context.undo() }
    #expect(!document.state.hasUnsavedChanges)
    try await add("Cleo", to: document)
    try await document.revert()
    #expect(!document.state.hasUnsavedChanges)
    let names = try await document.context.perform { context in try context.names() }
    #expect(names == ["Ann"])
  }

  @Test func metadataAreAChange() async throws {
    let document = try await document()
    try await document.setUserInfo(["key": "value"])
    #expect(document.state.hasUnsavedChanges)
    try await document.save()
    let found = try files.coordinator().metadataForPersistentStore(at: DocumentFiles.url)
    #expect(found.userInfo == ["key": "value"])
  }

  @Test func aFileThatWasMovedIsFollowed() async throws {
    let document = try await document()
    try await add("Ben", to: document)
    let newURL = URL(filePath: "/elsewhere/moved.heartwood")
    try files.move(DocumentFiles.url, to: newURL)
    #expect(try document.checkFile() == .moved(path: newURL.path))
    await #expect(throws: PersistenceError.self) { try await document.save() }
    try await document.setURL(newURL)
    try await document.save()
    #expect(files.paths == [newURL.path])
  }

  @Test func aDocumentIsAutosavedUntilItIsGone() async throws {
    let clock = ManualClock()
    do {
      let document = try await document()
      document.startAutosaving(every: .seconds(60), clock: clock)
      await clock.waitForSleeper()
      try await add("Ben", to: document)
      clock.advance(by: .seconds(60))
      await clock.waitForSleeper()
      #expect(!document.state.hasUnsavedChanges)
      #expect(try files.names() == ["Ann", "Ben"])
      #expect(try await !document.autosave())
      document.stopAutosaving()
      #expect(!clock.hasSleeper)
      document.startAutosaving(every: .seconds(60), clock: clock)
      await clock.waitForSleeper()
    }
    #expect(!clock.hasSleeper)
  }

  @Test func statesAreToldToAllWhoListen() async throws {
    let document = try await document()
    var first = document.states.makeAsyncIterator()
    var second = document.states.makeAsyncIterator()
    #expect(await first.next()?.hasUnsavedChanges == false)
    #expect(await second.next()?.hasUnsavedChanges == false)
    try await add("Ben", to: document)
    #expect(await first.next()?.hasUnsavedChanges == true)
    #expect(await second.next()?.hasUnsavedChanges == true)
  }
}
