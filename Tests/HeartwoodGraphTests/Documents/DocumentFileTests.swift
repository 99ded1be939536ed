import Foundation
import Heartwood
import HeartwoodDocuments
import HeartwoodGraph
import HeartwoodTesting
import Testing

/// What becomes of a document whose file somebody else has written, moved or removed.
@MainActor @Suite struct DocumentFileTests {
  private let files = DocumentFiles()

  private func document() throws -> PersistentDocument { try files.document() }

  @Test func aFileThatSomebodyElseHasWrittenIsNotWrittenOver() throws {
    let document = try document()
    _ = try document.context.person("Ben")
    try files.memory.removeFile(atPath: DocumentFiles.url.path)
    try files.write(["Zoe"])
    #expect(try document.checkFile() == .changed)
    let error = persistenceError { try document.save() }
    #expect(error?.code == .fileChangedOnDisk)
    #expect(error?.message.contains("Revert") == true)
    #expect(document.hasUnsavedChanges)
    #expect(try files.names() == ["Zoe"])
    try document.save(as: DocumentFiles.otherURL)
    #expect(try files.names(in: DocumentFiles.otherURL) == ["Ann", "Ben"])
  }

  @Test func aFileThatWasMovedIsFollowed() throws {
    let document = try document()
    _ = try document.context.person("Ben")
    let newURL = URL(filePath: "/elsewhere/moved.heartwood")
    try files.move(DocumentFiles.url, to: newURL)
    #expect(try document.checkFile() == .moved(path: newURL.path))
    let error = persistenceError { try document.save() }
    #expect(error?.code == .fileChangedOnDisk)
    #expect(error?.context.relatedPaths.map(\.path) == [newURL.path])
    #expect(files.paths == [newURL.path])
    try document.setURL(newURL)
    #expect(document.url == newURL)
    try document.save()
    #expect(files.paths == [newURL.path])
    #expect(try files.names(in: newURL) == ["Ann", "Ben"])
  }

  @Test func aFileThatWasRemovedDoesNotComeBackByItself() throws {
    let document = try document()
    try files.memory.removeFile(atPath: DocumentFiles.url.path)
    #expect(try document.checkFile() == .removed)
    // Nor where there is nothing to save.
    #expect(persistenceError { try document.save() }?.code == .fileChangedOnDisk)
    _ = try document.context.person("Ben")
    #expect(persistenceError { try document.save() }?.code == .fileChangedOnDisk)
    #expect(files.paths.isEmpty)
    try document.save(as: DocumentFiles.url)
    #expect(try files.names() == ["Ann", "Ben"])
    #expect(document.url == DocumentFiles.url && !document.hasUnsavedChanges)
    try files.memory.removeFile(atPath: DocumentFiles.url.path)
    try document.save(as: DocumentFiles.otherURL)
    #expect(try files.names(in: DocumentFiles.otherURL) == ["Ann", "Ben"])
  }

  @Test func whatSomebodyElseHasWrittenIsReplacedIfThatIsSaid() throws {
    let document = try document()
    _ = try document.context.person("Ben")
    try files.memory.removeFile(atPath: DocumentFiles.url.path)
    try files.write(["Zoe"])
    #expect(persistenceError { try document.save(as: DocumentFiles.url) }?.code == .fileChangedOnDisk)
    #expect(try files.names() == ["Zoe"])
    try document.save(as: DocumentFiles.url, replacing: true)
    #expect(try files.names() == ["Ann", "Ben"])
  }

  /// Which operation of the file system flushes the folder, counted from the beginning of `body`.
  private func flush(_ files: DocumentFiles, _ body: () throws -> Void) throws -> Int {
    let before = files.files.operations.count
    try body()
    let place = files.files.operations[before...].firstIndex { operation in
      if case .synchronizeDirectory = operation { true } else { false }
    }
    return try #require(place) - before + 1
  }

  @Test func aDocumentIsOfTheNewFileAlsoWhereItsFolderWasNotFlushed() throws {
    func change(_ document: PersistentDocument) throws { _ = try document.context.person("Ben") }
    let rehearsal = DocumentFiles()
    let rehearsed = try rehearsal.document()
    try change(rehearsed)
    let number = try flush(rehearsal) { try rehearsed.save(as: DocumentFiles.url, options: StoreOptions()) }
    let document = try document()
    try change(document)
    files.files.failOperation(files.files.operations.count + number)
    #expect(throws: PersistenceError.self) { try document.save(as: DocumentFiles.url, options: StoreOptions()) }
    #expect(try files.names() == ["Ann", "Ben"], "the new file stands")
    #expect(document.hasUnsavedChanges)
    #expect(try document.checkFile() == .unchanged)
    try document.save()
    #expect(!document.hasUnsavedChanges)
    #expect(try files.names() == ["Ann", "Ben"])
  }

  @Test func aDocumentIsSavedAgainWhereItsFileWasRemoved() throws {
    let document = try document()
    _ = try document.context.person("Ben")
    try files.memory.removeFile(atPath: DocumentFiles.url.path)
    let copy = URL(filePath: "/folder/new.heartwood")
    try document.setURL(copy)
    try document.save()
    #expect(files.paths == [copy.path])
    #expect(try files.names(in: copy) == ["Ann", "Ben"])
  }

  @Test func aReadOnlyDocumentIsSavedElsewhere() throws {
    try files.write(["Ann"])
    var options = StoreOptions()
    options[.isReadOnly] = true
    let document = try PersistentDocument(try files.coordinator(), contentsOf: DocumentFiles.url, options: options)
    let ann = try #require(try document.context.fetch(Person.self).first)
    ann.name = "Anna"
    #expect(persistenceError { try document.save() }?.code == .storeReadOnly)
    try document.save(as: DocumentFiles.otherURL, options: StoreOptions())
    #expect(try files.names(in: DocumentFiles.otherURL) == ["Anna"])
    #expect(try files.names() == ["Ann"])
  }
}
