import Dispatch
import HeartwoodStore
import Synchronization
import Testing

@Suite struct AtomicFileTests {
  private struct StoreFailure: Error {}

  @Test(arguments: TestDisk.Kind.allCases)
  func storeThatThrowsLeavesTheOldFile(_ kind: TestDisk.Kind) throws {
    let disk = try TestDisk(kind)
    try disk.write(SavedBytes.old, to: "todo.csv")
    let file = AtomicFile(path: disk.path("todo.csv"), fileSystem: disk.fileSystem)
    #expect(throws: StoreFailure.self) {
      try file.replace(expecting: .anything) { output in
        try output.write(SavedBytes.new)
        throw StoreFailure()
      }
    }
    #expect(try disk.contents("todo.csv") == SavedBytes.old)
    #expect(try disk.names() == ["todo.csv"])
  }

  @Test(arguments: TestDisk.Kind.allCases, [0o600, 0o640, 0o444, 0o755] as [UInt32])
  func permissionsAreKept(_ kind: TestDisk.Kind, _ permissions: UInt32) throws {
    let disk = try TestDisk(kind)
    try disk.write(SavedBytes.old, to: "todo.csv")
    try disk.setPermissions(permissions, of: "todo.csv")
    try SavedBytes.save(SavedBytes.new, to: disk.path("todo.csv"), in: disk.fileSystem)
    #expect(try disk.fileSystem.status(atPath: disk.path("todo.csv"))?.permissions == permissions)
    #expect(try disk.contents("todo.csv") == SavedBytes.new)
  }

  @Test(arguments: TestDisk.Kind.allCases)
  func linksAreFollowedAndStay(_ kind: TestDisk.Kind) throws {
    let disk = try TestDisk(kind)
    try disk.makeFolder("real")
    try disk.write(SavedBytes.old, to: "real/todo.csv")
    try disk.link("absolute", to: disk.path("real/todo.csv"))
    try disk.link("relative", to: "./real/../absolute")
    try disk.link("folder", to: "real")
    for (byte, name) in [(UInt8(7), "absolute"), (8, "relative"), (9, "folder/todo.csv")] {
      try SavedBytes.save([byte], to: disk.path(name), in: disk.fileSystem)
      #expect(try disk.contents("real/todo.csv") == [byte])
      let resolved = try disk.fileSystem.resolvingSymbolicLinks(inPath: disk.path(name))
      #expect(resolved == disk.path("real/todo.csv"))
    }
  }

  @Test(arguments: TestDisk.Kind.allCases)
  func linkThatLeadsToNothingGetsAFile(_ kind: TestDisk.Kind) throws {
    let disk = try TestDisk(kind)
    try disk.makeFolder("real")
    try disk.link("first", to: "second")
    try disk.link("second", to: "real/new.csv")
    try SavedBytes.save([1], to: disk.path("first"), in: disk.fileSystem, expecting: .nothing)
    #expect(try disk.contents("real/new.csv") == [1])
    #expect(try disk.names().filter { $0 == "first" || $0 == "second" } == ["first", "second"])
  }

  @Test(arguments: TestDisk.Kind.allCases)
  func linksInACircleAreRefused(_ kind: TestDisk.Kind) throws {
    let disk = try TestDisk(kind)
    try disk.link("first", to: "second")
    try disk.link("second", to: "first")
    let code = errorCode { try SavedBytes.save([1], to: disk.path("first"), in: disk.fileSystem) }
    #expect(code == .fileReadFailed)
    #expect(try disk.names() == ["first", "second"])
  }

  @Test(arguments: TestDisk.Kind.allCases)
  func emptyFileIsARequestForANewStore(_ kind: TestDisk.Kind) throws {
    let disk = try TestDisk(kind)
    try disk.write([], to: "todo.csv")
    try SavedBytes.save([1], to: disk.path("todo.csv"), in: disk.fileSystem, expecting: .nothing)
    #expect(try disk.contents("todo.csv") == [1])
    let code = errorCode {
      try SavedBytes.save([2], to: disk.path("todo.csv"), in: disk.fileSystem, expecting: .nothing)
    }
    #expect(code == .fileExists)
    #expect(try disk.contents("todo.csv") == [1])
  }

  enum Interference: CaseIterable {
    case written, replaced, removed, replacedByAFolder
  }

  @Test(arguments: TestDisk.Kind.allCases, Interference.allCases)
  func changeSinceLoadingIsAConflict(_ kind: TestDisk.Kind, _ interference: Interference) throws {
    let disk = try TestDisk(kind)
    try disk.write(SavedBytes.old, to: "todo.csv")
    let loaded = try disk.loaded("todo.csv")
    switch interference {
    case .written: try disk.write([9], to: "todo.csv")
    case .replaced: try SavedBytes.save([9], to: disk.path("todo.csv"), in: disk.fileSystem)
    case .removed: try disk.remove("todo.csv")
    case .replacedByAFolder:
      try disk.remove("todo.csv")
      try disk.makeFolder("todo.csv")
    }
    let before = try disk.names()
    let code = errorCode {
      try SavedBytes.save(
        SavedBytes.new,
        to: disk.path("todo.csv"),
        in: disk.fileSystem,
        expecting: .unchanged(loaded.status.identity)
      )
    }
    #expect(code == (interference == .replacedByAFolder ? .fileWriteFailed : .fileChangedOnDisk))
    #expect(try disk.names() == before)
    if interference == .written || interference == .replaced { #expect(try disk.contents("todo.csv") == [9]) }
  }

  @Test(arguments: TestDisk.Kind.allCases)
  func changeWhileSavingIsAConflict(_ kind: TestDisk.Kind) throws {
    let disk = try TestDisk(kind)
    try disk.write(SavedBytes.old, to: "todo.csv")
    let loaded = try disk.loaded("todo.csv")
    let code = errorCode {
      let file = AtomicFile(path: disk.path("todo.csv"), fileSystem: disk.fileSystem)
      _ = try file.replace(expecting: .unchanged(loaded.status.identity)) { output in
        try output.write(SavedBytes.new)
        try disk.write([9], to: "todo.csv")
      }
    }
    #expect(code == .fileChangedOnDisk)
    #expect(try disk.contents("todo.csv") == [9])
    #expect(try disk.names() == ["todo.csv"])
  }

  @Test(arguments: TestDisk.Kind.allCases, [true, false])
  func ofSaversAtTheSameTimeOneWins(_ kind: TestDisk.Kind, _ isNew: Bool) throws {
    for _ in 0..<20 {
      let disk = try TestDisk(kind)
      let path = disk.path("todo.csv")
      if !isNew { try disk.write(SavedBytes.old, to: "todo.csv") }
      let loaded = isNew ? nil : try disk.loaded("todo.csv")
      let fileSystem = disk.fileSystem
      let outcomes = Mutex<[(saver: Int, code: PersistenceError.Code?)]>([])
      DispatchQueue.concurrentPerform(iterations: 4) { saver in
        let code = errorCode {
          try SavedBytes.save(
            [UInt8(saver)],
            to: path,
            in: fileSystem,
            expecting: loaded.map { .unchanged($0.status.identity) } ?? .nothing
          )
        }
        outcomes.withLock { $0.append((saver, code)) }
      }
      let all = outcomes.withLock { $0 }
      let winners = all.filter { $0.code == nil }.map { UInt8($0.saver) }
      #expect(winners.count == 1)
      #expect(all.filter { $0.code == (isNew ? .fileExists : .fileChangedOnDisk) }.count == 3, "\(all)")
      #expect(try disk.contents("todo.csv") == winners)
      #expect(try disk.names() == ["todo.csv"])
    }
  }

  @Test(arguments: TestDisk.Kind.allCases)
  func newFileStaysTheSaversOwn(_ kind: TestDisk.Kind) throws {
    let disk = try TestDisk(kind)
    let mine = try SavedBytes.save([1, 2], to: disk.path("todo.csv"), in: disk.fileSystem, expecting: .nothing)
    let theirs = try SavedBytes.save([3, 4], to: disk.path("todo.csv"), in: disk.fileSystem)
    #expect(mine.file.status.identity != theirs.file.status.identity)
    #expect(try mine.file.bytes() == [1, 2])
    #expect(mine.file.path == disk.path("todo.csv"))
    #expect(try disk.fileSystem.status(atPath: disk.path("todo.csv"))?.identity == theirs.file.status.identity)
  }

  @Test(arguments: TestDisk.Kind.allCases)
  func fileThatIsBeingWrittenIsNotTakenForAbandoned(_ kind: TestDisk.Kind) throws {
    let disk = try TestDisk(kind)
    let path = disk.path("todo.csv")
    let file = AtomicFile(path: path, fileSystem: disk.fileSystem)
    _ = try file.replace(expecting: .anything) { output in
      try output.write(SavedBytes.new)
      try disk.fileSystem.removeAbandonedTemporaryFiles(besidePath: path)
    }
    #expect(try disk.contents("todo.csv") == SavedBytes.new)
  }

  @Test(arguments: TestDisk.Kind.allCases)
  func onlyTemporaryFilesOfTheTargetAreRemoved(_ kind: TestDisk.Kind) throws {
    let disk = try TestDisk(kind)
    let others = [
      ".other.csv.abc.heartwood-tmp", ".todo.csv.abc.other", ".todo.csv.old.abc.heartwood-tmp", "todo.csv.abc",
    ]
    for name in others + [".todo.csv.abc.heartwood-tmp"] { try disk.write([1], to: name) }
    try SavedBytes.save([1], to: disk.path("todo.csv"), in: disk.fileSystem)
    #expect(try disk.names() == (others + ["todo.csv"]).sorted())
  }

  @Test(arguments: TestDisk.Kind.allCases)
  func unwritableFolderIsAnErrorWithThePath(_ kind: TestDisk.Kind) throws {
    let disk = try TestDisk(kind)
    let path = try disk.unwritablePath()
    let error = #expect(throws: PersistenceError.self) {
      try SavedBytes.save(SavedBytes.new, to: path, in: disk.fileSystem)
    }
    #expect(error?.code == .fileWriteFailed)
    #expect(error?.context.path == path)
  }

  @Test(arguments: TestDisk.Kind.allCases, [true, false])
  func folderInThePlaceOfTheFileIsRefused(_ kind: TestDisk.Kind, _ expectsNothing: Bool) throws {
    let disk = try TestDisk(kind)
    try disk.makeFolder("todo.csv")
    let before = try disk.names()
    let code = errorCode {
      try SavedBytes.save(
        [1],
        to: disk.path("todo.csv"),
        in: disk.fileSystem,
        expecting: expectsNothing ? .nothing : .anything
      )
    }
    #expect(code == .fileWriteFailed)
    #expect(try disk.names() == before)
    #expect(errorCode { _ = try disk.fileSystem.openFile(atPath: disk.path("todo.csv")) } == .fileReadFailed)
  }

  @Test(arguments: TestDisk.Kind.allCases)
  func exclusiveMoveReplacesNothing(_ kind: TestDisk.Kind) throws {
    let disk = try TestDisk(kind)
    try disk.write([1], to: "new")
    try disk.write([2], to: "old")
    func move() throws {
      try disk.fileSystem.moveFile(atPath: disk.path("new"), toPath: disk.path("old"), exclusively: true)
    }
    #expect(errorCode(move) == .fileExists)
    #expect(try disk.contents("old") == [2])
    #expect(try disk.contents("new") == [1])
    try disk.remove("old")
    try move()
    #expect(try disk.contents("old") == [1])
    #expect(try disk.names() == ["old"])
  }

  @Test(arguments: TestDisk.Kind.allCases)
  func longestNameCanBeSaved(_ kind: TestDisk.Kind) throws {
    let disk = try TestDisk(kind)
    let name = String(repeating: "é", count: 125) + ".csv"
    try disk.write(SavedBytes.old, to: name)
    try SavedBytes.save(SavedBytes.new, to: disk.path(name), in: disk.fileSystem)
    #expect(try disk.contents(name) == SavedBytes.new)
    #expect(try disk.names() == [name])
  }
}
