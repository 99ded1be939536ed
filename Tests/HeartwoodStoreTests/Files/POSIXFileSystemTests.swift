import Foundation
import HeartwoodStore
import Testing

#if canImport(Glibc)
  import Glibc
#endif

@Suite struct POSIXFileSystemTests {
  @Test func pipeIsRefusedAndNotWaitedFor() throws {
    let disk = try TestDisk(.posix)
    try #require(mkfifo(disk.path("pipe"), 0o600) == 0)
    #expect(errorCode { _ = try disk.fileSystem.openFile(atPath: disk.path("pipe")) } == .fileReadFailed)
    #expect(errorCode { try SavedBytes.save([1], to: disk.path("pipe"), in: disk.fileSystem) } == .fileWriteFailed)
  }

  @Test func missingFolderIsAnErrorThatNamesIt() throws {
    let disk = try TestDisk(.posix)
    let error = #expect(throws: PersistenceError.self) {
      try SavedBytes.save([1], to: disk.path("missing/todo.csv"), in: disk.fileSystem)
    }
    #expect(error?.code == .fileNotFound)
    #expect(error?.context.path?.hasPrefix(disk.path("missing")) == true)
  }

  @Test func fileInThePlaceOfAFolderIsAnError() throws {
    let disk = try TestDisk(.posix)
    try disk.write([1], to: "file")
    #expect(
      errorCode { try SavedBytes.save([1], to: disk.path("file/todo.csv"), in: disk.fileSystem) } == .fileReadFailed
    )
    #expect(try disk.fileSystem.status(atPath: disk.path("file/todo.csv")) == nil)
  }

  @Test func relativePathsBeginAtTheWorkingFolder() throws {
    let name = "heartwood-\(UUID().uuidString).csv"
    let files = POSIXFileSystem()
    try SavedBytes.save([5], to: name, in: files, expecting: .nothing)
    #expect(try StoreInput(try files.openFile(atPath: "./\(name)")).bytes() == [5])
    try files.removeFile(atPath: name)
    #expect(try files.status(atPath: name) == nil)
  }

  @Test func newFileGetsThePermissionsOfAnyNewFile() throws {
    let disk = try TestDisk(.posix)
    try disk.write([1], to: "plain")
    try SavedBytes.save([1], to: disk.path("saved"), in: disk.fileSystem)
    let plain = try disk.fileSystem.status(atPath: disk.path("plain"))
    #expect(try disk.fileSystem.status(atPath: disk.path("saved"))?.permissions == plain?.permissions)
  }

  /// A writer that dies while it gives a new file its name leaves the file under both names.
  @Test func aSecondNameOfTheFileIsRemoved() throws {
    let disk = try TestDisk(.posix)
    let path = disk.path("todo.csv")
    let temporary = try disk.fileSystem.createTemporaryFile(besidePath: path, permissions: nil)
    try temporary.close()
    try #require(link(temporary.path, path) == 0)
    try SavedBytes.save(SavedBytes.new, to: path, in: disk.fileSystem)
    #expect(try disk.names() == ["todo.csv"])
    #expect(try disk.contents("todo.csv") == SavedBytes.new)
  }

  @Test func aFileThatIsNotThereGetsNoName() throws {
    let disk = try TestDisk(.posix)
    let move = { try disk.fileSystem.moveFile(atPath: disk.path("a"), toPath: disk.path("b"), exclusively: true) }
    #expect(errorCode { try move() } == .fileWriteFailed)
    #expect(try disk.names() == [])
  }

  @Test func aCopyInASupportFolderIsAsPrivateAsItsFile() throws {
    let disk = try TestDisk(.posix)
    try disk.makeFolder("a")
    for (name, permissions) in [("private", 0o600), ("shared", 0o664)] as [(String, UInt32)] {
      try disk.write([1], to: "a/\(name)")
      try disk.setPermissions(permissions, of: "a/\(name)")
    }
    let (old, new) = (
      SupportFolder(path: disk.path("a"), fileSystem: disk.fileSystem),
      SupportFolder(path: disk.path("b"), fileSystem: disk.fileSystem)
    )
    #expect(try old.copy(try old.files(), to: new) == ["private", "shared"])
    #expect(try disk.fileSystem.status(atPath: disk.path("b/private"))?.permissions == 0o600)
    #expect(try disk.fileSystem.status(atPath: disk.path("b/shared"))?.permissions == 0o664)
  }

  /// Files in it are for those whom the file is for, and have the group that they had.
  @Test(
    arguments: [(0o600, 0o700), (0o640, 0o750), (0o666, 0o777), (0o444, 0o755), (0o755, 0o755)] as [(UInt32, UInt32)]
  )
  func aFolderGetsThePermissionsThatGoWithAFile(_ ofFile: UInt32, _ ofFolder: UInt32) throws {
    let disk = try TestDisk(.posix)
    try disk.write([1], to: "file")
    try disk.setPermissions(ofFile, of: "file")
    try disk.makeFolder("folder")
    try #require(chmod(disk.path("folder"), 0o2711) == 0)
    let status = { try disk.fileSystem.status(atPath: disk.path("folder")) }
    let special = try #require(try status()).permissions & 0o7000
    try disk.fileSystem.copyPermissions(ofFileAtPath: disk.path("file"), toPath: disk.path("folder"))
    #expect(try status()?.permissions == ofFolder | special)
  }

  @Test func mappedBytesAreTheFileAndStay() throws {
    let disk = try TestDisk(.posix)
    for bytes in [SavedBytes.old, []] {
      try disk.write(bytes, to: "todo.csv")
      let mapped = try disk.fileSystem.openFile(atPath: disk.path("todo.csv")).mapped()
      try SavedBytes.save(SavedBytes.new, to: disk.path("todo.csv"), in: disk.fileSystem)
      #expect([UInt8](mapped.region.unsafeBytes) == bytes)
    }
  }
}
