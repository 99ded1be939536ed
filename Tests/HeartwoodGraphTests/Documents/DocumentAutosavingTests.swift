import Foundation
import Heartwood
import HeartwoodDocuments
import HeartwoodGraph
import HeartwoodTesting
import Testing

@MainActor @Suite struct DocumentAutosavingTests {
  private let files = DocumentFiles()
  private let clock = ManualClock()

  private func document() throws -> PersistentDocument { try files.document() }

  @Test func aDocumentIsAutosavedOnDemand() throws {
    let document = try document()
    #expect(try !document.autosave())
    _ = try document.context.person("Ben")
    #expect(try document.autosave())
    #expect(try files.names() == ["Ann", "Ben"])
  }

  @Test func aDocumentIsAutosavedAfterEachInterval() async throws {
    let document = try document()
    document.startAutosaving(every: .seconds(60), clock: clock)
    for name in ["Ben", "Cleo"] {
      await clock.waitForSleeper()
      _ = try document.context.person(name)
      clock.advance(by: .seconds(59))
      #expect(document.hasUnsavedChanges)
      clock.advance(by: .seconds(1))
      await clock.waitForSleeper()
      #expect(!document.hasUnsavedChanges)
      #expect(try files.names().contains(name))
    }
    document.stopAutosaving()
    #expect(!clock.hasSleeper)
    _ = try document.context.person("Dan")
    clock.advance(by: .seconds(600))
    #expect(document.hasUnsavedChanges)
  }

  @Test func anAutosaveThatFailsIsToldAndTriedAgain() async throws {
    let document = try document()
    _ = try document.context.person("Ben")
    document.startAutosaving(every: .seconds(60), clock: clock)
    await clock.waitForSleeper()
    files.files.limitWrites(toByteCount: 0)
    clock.advance(by: .seconds(60))
    await clock.waitForSleeper()
    #expect(document.state.autosaveError?.code == .fileWriteFailed)
    #expect(document.hasUnsavedChanges)
    files.files.limitWrites(toByteCount: .max)
    clock.advance(by: .seconds(60))
    await clock.waitForSleeper()
    #expect(document.state.autosaveError == nil)
    #expect(try files.names() == ["Ann", "Ben"])
  }

  @Test func anAutosaveWithNothingToSaveHasNoError() throws {
    let document = try document()
    _ = try document.context.person("Ben")
    files.files.limitWrites(toByteCount: 0)
    #expect(throws: PersistenceError.self) { try document.autosave() }
    #expect(document.state.autosaveError?.code == .fileWriteFailed)
    document.context.rollback()
    #expect(try !document.autosave())
    #expect(document.state.autosaveError == nil)
  }

  @Test func autosavingNoticesWhatBecomesOfTheFile() async throws {
    let document = try document()
    document.startAutosaving(every: .seconds(60), clock: clock)
    await clock.waitForSleeper()
    try files.memory.removeFile(atPath: DocumentFiles.url.path)
    clock.advance(by: .seconds(60))
    await clock.waitForSleeper()
    #expect(document.state.fileState == .removed)
    #expect(document.state.autosaveError == nil)
    _ = try document.context.person("Ben")
    clock.advance(by: .seconds(60))
    await clock.waitForSleeper()
    #expect(document.state.autosaveError?.code == .fileChangedOnDisk)
    #expect(files.paths.isEmpty)
  }

  @Test func autosavingEndsWithTheDocument() async throws {
    weak var gone: PersistentDocument?
    do {
      let document = try document()
      gone = document
      document.startAutosaving(every: .seconds(60), clock: clock)
      await clock.waitForSleeper()
    }
    #expect(gone == nil)
    #expect(!clock.hasSleeper)
  }

  @Test func startingAnewReplacesTheInterval() async throws {
    let document = try document()
    document.startAutosaving(every: .seconds(60), clock: clock)
    await clock.waitForSleeper()
    let other = ManualClock()
    document.startAutosaving(every: .seconds(5), clock: other)
    #expect(!clock.hasSleeper)
    await other.waitForSleeper()
    _ = try document.context.person("Ben")
    other.advance(by: .seconds(5))
    await other.waitForSleeper()
    #expect(!document.hasUnsavedChanges)
  }
}
