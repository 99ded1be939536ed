import Heartwood
import HeartwoodFoundation
import HeartwoodStore

extension StoreConformance {
  /// After a save that was interrupted anywhere, the file has the old contents or the new ones.
  var atomicityCases: [ConformanceCase] { reachesFilesItself ? interruptionCases : fileSavingCases }

  private var fileSavingCases: [ConformanceCase] {
    [
      makeCase("survives the end of the process at each step of a save", needs: .file) {
        try $0.survivesCrashes { .memory() }
      },
      makeCase("survives the end of the process at each step of a save to the disk", needs: .file) { conformance in
        try conformance.survivesCrashes { try conformance.makeFolder() }
      },
      makeCase("survives the end of the process at each step of its first save", needs: .file) {
        try $0.survivesCrashesOfFirstSave()
      },
      makeCase("survives a failure at each step of a save", needs: .file) { try $0.survivesFailures() },
      makeCase("survives a full disk", needs: .file) { try $0.survivesFullDisk() },
    ]
  }

  /// A store with a file, an edit that is about to be saved, and the contents that the file will have then.
  private struct PendingEdit {
    let bench: Workbench
    let faults: FaultInjectingFileSystem
    let context: ManagedObjectContext
    let old: StoreContents
    let new: StoreContents
    /// The number of operations before the save.
    let start: Int

    init(_ conformance: StoreConformance, on disk: ConformanceDisk) throws {
      bench = try Workbench(conformance, model: try ModelMaker(conformance.capabilities).richest(), disk: disk)
      let first = try bench.open()
      try first.insertRandom(8, seed: 1)
      old = try first.contents()
      // The same edit in a store without a file gives the expected contents.
      let coordinator = first.coordinator
      let copy = try coordinator.convert(first.store, to: nil, type: .inMemory)
      let expected = bench.openStore(copy, in: coordinator)
      try expected.editRecords(seed: 2)
      new = try expected.contents()
      faults = FaultInjectingFileSystem(wrapping: disk.fileSystem)
      let open = try bench.seen(through: faults).open()
      context = open.makeContext()
      try open.editRecords(in: context, seed: 2)
      start = faults.operations.count
    }

    /// Fails unless the file has the old contents or the new ones, or, if the save succeeded, the new ones.
    func check(hasSaved: Bool, _ when: String) throws {
      try expectSame(try bench.open().contents(), asOld: old, orNew: new, isDone: hasSaved, when)
    }

    func expectOneFile(_ when: String) throws {
      try bench.expectFiles(when)
    }
  }

  /// The number of steps after which a save is considered endless.
  static let mostSteps = 10_000

  private func survivesCrashes(on makeDisk: () throws -> ConformanceDisk) throws {
    for step in 1...Self.mostSteps {
      let edit = try PendingEdit(self, on: try makeDisk())
      edit.faults.crash(atOperation: edit.start + step)
      let hasSaved = (try? edit.context.save()) != nil
      let isOver = !edit.faults.hasCrashed
      try expect(hasSaved || !isOver, "expected a save to succeed when nothing happens, found that it fails")
      let when = "when the process ends at step \(step) (\(edit.faults.operation(edit.start + step)))"
      edit.faults.restart()
      try edit.check(hasSaved: hasSaved, when)
      // The next save removes the files that the interrupted one left.
      try edit.bench.open().insertRandom(1, seed: 3)
      try edit.expectOneFile("after the next save \(when)")
      if isOver { return try expect(step > 1, "expected a save to do something with files") }
    }
    throw ConformanceFailure("expected a save to take fewer than \(Self.mostSteps) steps")
  }

  private func survivesCrashesOfFirstSave() throws {
    for step in 1...Self.mostSteps {
      let bench = try smallBench()
      let faults = FaultInjectingFileSystem(wrapping: bench.disk.fileSystem)
      let open = try bench.seen(through: faults).open()
      let number = faults.operations.count + step
      faults.crash(atOperation: number)
      let hasSaved = (try? open.insertRandom(5, seed: 1)) != nil
      let isOver = !faults.hasCrashed
      let when = "when the process ends at step \(step) (\(faults.operation(number)))"
      faults.restart()
      try expect(hasSaved || !isOver, "expected a save to succeed when nothing happens, found that it fails")
      let count = try bench.open().contents().count
      try expect(
        count == 5 || (count == 0 && !hasSaved),
        "expected all records \(hasSaved ? "" : "or no file ")\(when), found \(count) records"
      )
      if isOver { return }
    }
    throw ConformanceFailure("expected a save to take fewer than \(Self.mostSteps) steps")
  }

  private func survivesFailures() throws {
    for step in 1...Self.mostSteps {
      let edit = try PendingEdit(self, on: .memory())
      edit.faults.failOperation(edit.start + step)
      let hasSaved = (try? edit.context.save()) != nil
      let isOver = edit.faults.operations.count < edit.start + step
      try expect(hasSaved || !isOver, "expected a save to succeed when nothing fails, found that it fails")
      let when = "when step \(step) (\(edit.faults.operation(edit.start + step))) fails"
      try edit.check(hasSaved: hasSaved, when)
      try edit.expectOneFile(when)
      try expect("whether changes are left \(when)", is: !hasSaved, found: edit.context.hasChanges)
      try edit.context.save()
      try edit.check(hasSaved: true, "\(when) and the save is tried again")
      if isOver { return }
    }
    throw ConformanceFailure("expected a save to take fewer than \(Self.mostSteps) steps")
  }

  private func survivesFullDisk() throws {
    let size = try PendingEdit(self, on: .memory()).bench.bytes().count
    for room in [0, 1, size / 2] {
      let edit = try PendingEdit(self, on: .memory())
      let before = try edit.bench.bytes()
      edit.faults.limitWrites(toByteCount: room)
      try expectError(.fileWriteFailed, when: "the disk has room for \(room) bytes") { try edit.context.save() }
      try expect(try edit.bench.bytes() == before, "expected the old file to stand when the disk is full")
      try edit.expectOneFile("when the disk is full")
      edit.faults.limitWrites(toByteCount: .max)
      try edit.context.save()
      try edit.check(hasSaved: true, "when there is room again")
    }
  }
}

// MARK: SameBytesCases

extension StoreConformance {
  /// The same contents give the same bytes, so that files can be compared and kept in version control.
  var sameBytesCases: [ConformanceCase] {
    let unchanged = makeCase("writes an unchanged file as the same bytes", needs: .file) {
      try $0.keepsBytesUnchanged()
    }
    if writesSameBytes {
      return [
        makeCase("writes the same content as the same bytes", needs: .file) { try $0.writesContentAlike() }, unchanged,
      ]
    }
    // An incremental store does not write a file again if nothing has changed.
    if reachesFilesItself { return [unchanged] }
    return [makeCase("writes the same content as other bytes each time", needs: .file) { try $0.writesOtherBytes() }]
  }

  private func writesContentAlike() throws {
    let bench = try Workbench(self, model: try ModelMaker(capabilities).richest())
    let source = try bench.openInMemory()
    if capabilities.supports(.userMetadata) {
      try source.store.setUserInfo(["b": 1, "a": .dictionary(["y": 1, "x": 2, "z": 3]), "c": "d"])
    }
    try source.insertRandom(40, seed: 1)
    let first = try bench.convert(source, to: "first")
    let second = try bench.convert(first, to: "second")
    try bench.convert(try bench.reopened(second, "second"), to: "third")
    for name in ["second", "third"] {
      try expectSame(try bench.bytes(name), as: try bench.bytes("first"), "the same content in the \(name) file")
    }
  }

  private func writesOtherBytes() throws {
    let bench = try Workbench(self, model: try ModelMaker(capabilities).richest())
    try bench.open().insertRandom(40, seed: 1)
    let before = try bench.bytes()
    _ = try bench.open().store.engine.save(ChangeSet())
    try expect(try bench.bytes() != before, "expected other bytes at each save, as was stated, found the same")
  }

  private func keepsBytesUnchanged() throws {
    let bench = try Workbench(self, model: try ModelMaker(capabilities).richest())
    try bench.open().insertRandom(40, seed: 1)
    let before = try bench.bytes()
    _ = try bench.open().store.engine.save(ChangeSet())
    try expectSame(try bench.bytes(), as: before, "an unchanged store")
  }
}
