import Foundation
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import TestSupport
import Testing

@testable import HeartwoodFormats

/// Metadata that are written over the old ones, where the file stands.
@Suite struct MetadataPatchTests {
  private static let path = "/store.heartwood"
  private let memory = InMemoryFileSystem()
  private let model: ManagedObjectModel

  init() throws {
    model = try GoldenSample.store().model
    try memory.setContents(
      GoldenSample.store().writeGroups(of: GoldenSample.contents()),
      ofFileAtPath: Self.path
    )
  }

  private var request: StoreManager.Request { .init(type: .binary, path: Self.path, options: StoreOptions()) }

  private func storeManager(_ fileSystem: any FileSystem) throws -> StoreManager {
    return StoreManager(model: model, registry: try StoreRegistry([BinaryStore.self]), fileSystem: fileSystem)
  }

  private func metadata(author: String) throws -> StoreMetadata {
    var metadata = try storeManager(memory).metadata(request)
    metadata.userInfo["author"] = .string(author)
    return metadata
  }

  private func set(_ metadata: StoreMetadata, on fileSystem: (any FileSystem)? = nil) throws {
    try storeManager(fileSystem ?? memory).setMetadata(metadata, request)
  }

  private var bytes: [UInt8] { get throws { try #require(memory.contents(ofFileAtPath: Self.path)) } }

  private func isWrittenInPlace(_ metadata: StoreMetadata) throws -> Bool {
    let files = FaultInjectingFileSystem(wrapping: memory)
    try set(metadata, on: files)
    #expect(try storeManager(memory).metadata(request) == metadata)
    return !files.operations.contains { if case .createTemporaryFile = $0 { true } else { false } }
  }

  @Test func onlyTheMetadataAreWritten() throws {
    let (before, changed) = try (bytes, metadata(author: "Zoë"))
    #expect(try isWrittenInPlace(changed))
    let (area, after) = try (BinaryFile(SampleStore.input(before)).directory.sections[0], bytes)
    #expect(after.count == before.count && after != before)
    #expect(after[..<area.offset] == before[..<area.offset])
    #expect(after[(area.offset + area.length)...] == before[(area.offset + area.length)...])
    let read = try GoldenSample.store().read(after)
    #expect(try read.records == GoldenSample.contents().records)
  }

  @Test func theBytesAreThoseOfAFileWrittenAsAWhole() throws {
    try set(metadata(author: "Zoë"))
    let store = try GoldenSample.store()
    #expect(try store.writeGroups(of: store.read(bytes)) == bytes)
  }

  @Test func nothingIsWrittenWhereNothingChanges() throws {
    let before = try memory.status(atPath: Self.path)
    try set(storeManager(memory).metadata(request))
    #expect(try memory.status(atPath: Self.path) == before)
  }

  @Test func whatHasNoRoomTakesANewFile() throws {
    #expect(try !isWrittenInPlace(metadata(author: String(repeating: "a", count: 1000))))
    #expect(try isWrittenInPlace(metadata(author: String(repeating: "b", count: 1001))))
    #expect(try !isWrittenInPlace(metadata(author: "")))
    var other = try metadata(author: "")
    other.identifier = UUID(sample: 0xAB)
    #expect(try !isWrittenInPlace(other))
  }

  @Test func aFileOfAnOlderVersionIsWrittenAnew() throws {
    try memory.setContents(SampleFiles.bytes("version-1.heartwood") { [] }, ofFileAtPath: Self.path)
    #expect(try !isWrittenInPlace(metadata(author: "Zoë")))
    #expect(try isWrittenInPlace(metadata(author: "Zoe")))
    #expect(try storeManager(memory).open(request).engine.contents().records == GoldenSample.contents().records)
  }

  /// The world stops at each step of one change, and then at each step of another one.
  @Test func whateverIsInterrupted() throws {
    let (old, first, second) = try (bytes, metadata(author: "first"), metadata(author: "second"))
    let oldMetadata = try storeManager(memory).metadata(request)
    var states = 0
    try stopAtEachStep(from: old, setting: first) { isSet in
      let found = try check([oldMetadata, first], isSet: isSet)
      let interrupted = try bytes
      try stopAtEachStep(from: interrupted, setting: second) { isSet in
        _ = try check([found, second], isSet: isSet)
        states += 1
      }
    }
    #expect(states > 100)
  }

  private func stopAtEachStep(
    from start: [UInt8],
    setting metadata: StoreMetadata,
    _ body: (_ isSet: Bool) throws -> Void
  ) throws {
    for step in 1...1000 {
      try memory.setContents(start, ofFileAtPath: Self.path)
      let files = FaultInjectingFileSystem(wrapping: memory)
      files.crash(atOperation: step)
      let isSet = (try? set(metadata, on: files)) != nil
      let isOver = !files.hasCrashed
      files.restart()
      try body(isSet)
      if isOver { return #expect(isSet) }
    }
    Issue.record("It never ends.")
  }

  /// Makes sure that the file is whole and has the last of `possible` metadata if they were set, or else one of them, which is returned.
  private func check(_ possible: [StoreMetadata], isSet: Bool) throws -> StoreMetadata {
    let found = try storeManager(memory).metadata(request)
    #expect(isSet ? found == possible.last : possible.contains(found))
    #expect(try storeManager(memory).open(request).engine.contents().records == GoldenSample.contents().records)
    #expect(memory.paths == [Self.path])
    return found
  }

  @Test func aFailureIsToldAndTriedAgain() throws {
    for step in 1...100 {
      let files = FaultInjectingFileSystem(wrapping: memory)
      let changed = try metadata(author: "step \(step)")
      files.failOperation(step)
      let isSet = (try? set(changed, on: files)) != nil
      try set(changed)
      #expect(try storeManager(memory).metadata(request) == changed)
      if files.operations.count < step { return #expect(isSet) }
    }
    Issue.record("It never ends.")
  }

  @Test func anOpenStoreNoticesIt() throws {
    let store = try storeManager(memory).open(request)
    try set(metadata(author: "somebody else"))
    #expect(try store.fileState() == .changed)
    let error = #expect(throws: PersistenceError.self) { try store.engine.save(ChangeSet(), origin: SaveOrigin()) }
    #expect(error?.code == .fileChangedOnDisk)
    #expect(try store.engine.contents().records == GoldenSample.contents().records)
  }

  @Test func aStoreOnTheDiskNoticesItAtOnce() throws {
    let folder = try ScratchFolder()
    let url = try folder.write(Data(bytes), to: "store.heartwood")
    let request = StoreManager.Request(type: .binary, path: url.path, options: StoreOptions())
    let storeManager = try storeManager(POSIXFileSystem())
    let store = try storeManager.open(request)
    let before = try POSIXFileSystem().status(atPath: url.path)?.identity
    try storeManager.setMetadata(try metadata(author: "somebody else"), request)
    #expect(try POSIXFileSystem().status(atPath: url.path)?.identity.number == before?.number, "the file is the same")
    #expect(try store.fileState() == .changed)
    #expect(try store.engine.contents().records == GoldenSample.contents().records)
    #expect(try storeManager.metadata(request).userInfo["author"] == .string("somebody else"))
  }

  @Test func aReadOnlyStoreIsLeftAlone() throws {
    var request = request
    request.options[.isReadOnly] = true
    let (before, changed) = try (bytes, metadata(author: "Zoë"))
    let error = #expect(throws: PersistenceError.self) { try storeManager(memory).setMetadata(changed, request) }
    #expect(error?.code == .storeReadOnly)
    #expect(try bytes == before)
  }

  @Test func theInterruptedSampleIsRead() throws {
    let sample = try SampleFiles.bytes("version-3-interrupted.heartwood") {
      let files = FaultInjectingFileSystem(wrapping: memory)
      let changed = try metadata(author: "Zoë")
      try set(changed, on: files)
      let last = files.operations.lastIndex { if case .patch(_, _, let count) = $0 { count > 1 } else { false } }
      try memory.setContents(GoldenSample.store().writeGroups(of: GoldenSample.contents()), ofFileAtPath: Self.path)
      files.restart()
      files.crash(atOperation: try #require(last) + 1)
      #expect(throws: PersistenceError.self) { try set(changed, on: files) }
      return try bytes
    }
    let file = try SampleStore.input(sample)
    let read = try BinaryStore.readMetadata(from: file, options: StoreOptions())
    #expect(read.userInfo["author"] == .string("Zoë"))
    #expect(try GoldenSample.store().read(sample).records == GoldenSample.contents().records)
    guard PythonReader.exists else { return }
    let path = SampleFiles.folder.appending(path: "version-3-interrupted.heartwood").path
    #expect(try PythonReader.run(["--check", path]).status == 0)
  }
}
