import Foundation
import HeartwoodStore
import Testing

/// A store's file that others change, move and remove.
@Suite struct EnginePlaceTests {
  private func engine(_ disk: TestDisk, _ fixture: EngineFixture) throws -> AtomicStoreEngine {
    let setup = try fixture.setup(path: disk.path("work.plain"))
    return try AtomicStoreEngine.open(AtomicClassFormat(PlainStore.self), setup: setup, fileSystem: disk.fileSystem)
  }

  private func save(_ engine: AtomicStoreEngine, _ fixture: EngineFixture) throws {
    _ = try engine.save(ChangeSet(inserted: [fixture.inserted(fixture.task)]))
  }

  @Test(arguments: TestDisk.Kind.allCases)
  func theFileIsFollowed(_ kind: TestDisk.Kind) throws {
    let (disk, fixture) = (try TestDisk(kind), try EngineFixture())
    let engine = try engine(disk, fixture)
    #expect(try engine.fileState() == .absent)
    try save(engine, fixture)
    #expect(try engine.fileState() == .unchanged)
    try disk.fileSystem.moveFile(
      atPath: disk.path("work.plain"),
      toPath: disk.path("moved.plain"),
      exclusively: false
    )
    #expect(try engine.fileState() == .moved(path: disk.path("moved.plain")))
    #expect(errorCode { try save(engine, fixture) } == .fileChangedOnDisk)
    #expect(try disk.names() == ["moved.plain"])
    try engine.setPath(disk.path("moved.plain"))
    #expect(try engine.fileState() == .unchanged)
    try save(engine, fixture)
    #expect(try disk.names() == ["moved.plain"])
    #expect(try engine.fileState() == .unchanged)
    try disk.remove("moved.plain")
    #expect(try engine.fileState() == .removed)
    #expect(errorCode { try save(engine, fixture) } == .fileChangedOnDisk)
    #expect(try disk.names().isEmpty)
  }

  @Test(arguments: TestDisk.Kind.allCases)
  func aFileInItsPlaceIsNotTheSame(_ kind: TestDisk.Kind) throws {
    let (disk, fixture) = (try TestDisk(kind), try EngineFixture())
    let engine = try engine(disk, fixture)
    try disk.write([1], to: "work.plain")
    #expect(try engine.fileState() == .changed)
    try disk.write([], to: "work.plain")
    #expect(try engine.fileState() == .absent)
    try save(engine, fixture)
    try disk.fileSystem.moveFile(
      atPath: disk.path("work.plain"),
      toPath: disk.path("moved.plain"),
      exclusively: false
    )
    try disk.write([1], to: "work.plain")
    #expect(try engine.fileState() == .changed)
    // A file at the new place that is not the store's is not written over.
    try disk.write([1], to: "other.plain")
    try engine.setPath(disk.path("other.plain"))
    #expect(try engine.fileState() == .changed)
    #expect(errorCode { try save(engine, fixture) } == .fileExists)
    #expect(try disk.contents("other.plain") == [1])
    try engine.setPath(disk.path("new.plain"))
    try save(engine, fixture)
    #expect(try engine.fileState() == .unchanged)
  }

  /// A place that was left for another is the store's own when it comes back.
  @Test(arguments: TestDisk.Kind.allCases)
  func theFileIsKnownAgain(_ kind: TestDisk.Kind) throws {
    let (disk, fixture) = (try TestDisk(kind), try EngineFixture())
    let engine = try engine(disk, fixture)
    try save(engine, fixture)
    try engine.setPath(disk.path("other.plain"))
    #expect(try engine.fileState() == .absent)
    try engine.setPath(disk.path("work.plain"))
    #expect(try engine.fileState() == .unchanged)
    try save(engine, fixture)
    #expect(try disk.names() == ["work.plain"])
    // What somebody else has written there meanwhile is not.
    try engine.setPath(disk.path("other.plain"))
    try disk.write([1], to: "work.plain")
    try engine.setPath(disk.path("work.plain"))
    #expect(errorCode { try save(engine, fixture) } == .fileExists)
  }

  @Test func aStoreWithoutAFileHasNoPlace() throws {
    let engine = try EngineFixture().openInMemory()
    #expect(try engine.fileState() == .absent)
    #expect(errorCode { try engine.setPath("/folder/a") } == .capabilityMissing)
  }
}
