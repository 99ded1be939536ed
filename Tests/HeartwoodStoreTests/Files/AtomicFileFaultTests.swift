import HeartwoodStore
import HeartwoodTesting
import Testing

/// A save with a fault at each of its steps: the old file or the new one, and nothing else.
@Suite struct AtomicFileFaultTests {
  enum Start: CaseIterable {
    case oldFile
    case noFile
  }

  private struct Run {
    let disk: TestDisk
    let files: FaultInjectingFileSystem
    let old: [UInt8]?

    init(_ kind: TestDisk.Kind, _ start: Start) throws {
      disk = try TestDisk(kind)
      files = FaultInjectingFileSystem(wrapping: disk.fileSystem)
      old = start == .oldFile ? SavedBytes.old : nil
      if let old { try disk.write(old, to: "todo.csv") }
    }

    func save() throws -> AtomicFile.Replacement {
      try SavedBytes.save(SavedBytes.new, to: disk.path("todo.csv"), in: files)
    }
  }

  /// The steps of a save without a fault, and which of them is the move.
  private func steps(_ kind: TestDisk.Kind, _ start: Start) throws -> (operations: [FileOperation], move: Int) {
    let run = try Run(kind, start)
    _ = try run.save()
    let move = run.files.operations.firstIndex { if case .move = $0 { true } else { false } }
    return (run.files.operations, try #require(move) + 1)
  }

  @Test(arguments: TestDisk.Kind.allCases, Start.allCases)
  func savesInTheseSteps(_ kind: TestDisk.Kind, _ start: Start) throws {
    let (operations, move) = try steps(kind, start)
    if case .move(_, _, let exclusively) = operations[move - 1] { #expect(exclusively == (start == .noFile)) }
    #expect(operations.contains { if case .synchronize = $0 { true } else { false } })
    #expect(operations.count { if case .write = $0 { true } else { false } } == 3)
    guard case .synchronizeDirectory = operations[operations.count - 2] else {
      Issue.record("The folder is not flushed after the move: \(operations)")
      return
    }
  }

  @Test(arguments: TestDisk.Kind.allCases, Start.allCases)
  func failureAtAnyStepLeavesTheOldFileAndNothingElse(_ kind: TestDisk.Kind, _ start: Start) throws {
    let (operations, move) = try steps(kind, start)
    for (index, operation) in operations.enumerated() {
      let run = try Run(kind, start)
      run.files.failOperation(index + 1)
      let result = Result { try run.save() }
      let contents = try run.disk.contents("todo.csv")
      switch (operation, result) {
      case (.removeAbandonedTemporaryFiles, .success), (.close, .success):
        #expect(contents == SavedBytes.new)
      case (.synchronizeDirectory, .success(let replacement)):
        #expect(replacement.flushFailure?.context.systemError == 28)
        #expect(contents == SavedBytes.new)
      case (_, .failure(let error)):
        #expect((error as? PersistenceError)?.context.systemError == 28)
        #expect(index + 1 <= move)
        #expect(contents == run.old)
      case (_, .success): Issue.record("\(operation) failed, and the save has not noticed.")
      }
      #expect(try run.disk.names() == (contents == nil ? [] : ["todo.csv"]), "\(operation)")
    }
  }

  @Test(arguments: TestDisk.Kind.allCases, Start.allCases)
  func crashAtAnyStepLeavesOneWholeFile(_ kind: TestDisk.Kind, _ start: Start) throws {
    let (operations, move) = try steps(kind, start)
    for (index, operation) in operations.enumerated() {
      let run = try Run(kind, start)
      run.files.crash(atOperation: index + 1)
      let result = Result { try run.save() }
      #expect(run.files.hasCrashed)
      #expect(try run.disk.contents("todo.csv") == (index + 1 <= move ? run.old : SavedBytes.new), "\(operation)")
      if index + 1 <= move { #expect(throws: PersistenceError.self) { try result.get() } }

      run.files.restart()
      _ = try run.save()
      #expect(try run.disk.contents("todo.csv") == SavedBytes.new)
      #expect(try run.disk.names() == ["todo.csv"], "\(operation)")
    }
  }

  @Test(arguments: TestDisk.Kind.allCases, [0, 1, 262_144, 300_000, 300_001, 700_002])
  func fullDiskLeavesTheOldFile(_ kind: TestDisk.Kind, _ room: Int) throws {
    let run = try Run(kind, .oldFile)
    run.files.limitWrites(toByteCount: room)
    let error = #expect(throws: PersistenceError.self) { try run.save() }
    #expect(error?.code == .fileWriteFailed)
    #expect(try run.disk.contents("todo.csv") == run.old)
    #expect(try run.disk.names() == ["todo.csv"])
  }

  @Test(arguments: TestDisk.Kind.allCases)
  func justEnoughRoomIsEnough(_ kind: TestDisk.Kind) throws {
    let run = try Run(kind, .oldFile)
    run.files.limitWrites(toByteCount: SavedBytes.new.count)
    _ = try run.save()
    #expect(try run.disk.contents("todo.csv") == SavedBytes.new)
  }

  @Test(arguments: TestDisk.Kind.allCases)
  func temporaryFileThatCouldNotBeRemovedGoesWithTheNextSave(_ kind: TestDisk.Kind) throws {
    let (operations, _) = try steps(kind, .oldFile)
    let write = try #require(operations.firstIndex { if case .write = $0 { true } else { false } }) + 1
    let run = try Run(kind, .oldFile)
    run.files.failOperation(write)
    run.files.failOperation(write + 1)
    #expect(throws: PersistenceError.self) { try run.save() }
    #expect(try run.disk.names().count == 2)
    _ = try run.save()
    #expect(try run.disk.names() == ["todo.csv"])
  }

  @Test(arguments: TestDisk.Kind.allCases)
  func aNewFileThatCannotBeOpenedIsToldByTheNameOfTheOldOne(_ kind: TestDisk.Kind) throws {
    let (operations, _) = try steps(kind, .oldFile)
    let open = try #require(operations.lastIndex { if case .open = $0 { true } else { false } }) + 1
    let run = try Run(kind, .oldFile)
    run.files.failOperation(open)
    let error = #expect(throws: PersistenceError.self) { try run.save() }
    #expect(error?.context.path == run.disk.path("todo.csv"))
    #expect(try run.disk.contents("todo.csv") == run.old)
    #expect(try run.disk.names() == ["todo.csv"])
  }

  @Test(arguments: TestDisk.Kind.allCases)
  func storeThatHidesAFailedWriteIsFoundOut(_ kind: TestDisk.Kind) throws {
    let run = try Run(kind, .oldFile)
    run.files.failOperation(try #require(try steps(kind, .oldFile).operations.firstIndex { $0.isFirstWrite }) + 1)
    let error = #expect(throws: PersistenceError.self) {
      try AtomicFile(path: run.disk.path("todo.csv"), fileSystem: run.files).replace(expecting: .anything) { output in
        try? output.write(SavedBytes.new)
        try output.write("more")
      }
    }
    #expect(error?.context.systemError == 28)
    #expect(try run.disk.contents("todo.csv") == run.old)
  }
}

extension FileOperation {
  fileprivate var isFirstWrite: Bool { if case .write = self { true } else { false } }
}
