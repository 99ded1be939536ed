import Heartwood
import HeartwoodStore

extension StoreConformance {
  /// A save of an incremental store is complete or has no effect, at whatever step it is stopped.
  var interruptionCases: [ConformanceCase] {
    [
      makeCase("keeps nothing of a save that fails, at each step") { try $0.keepsNothingOfFailures() },
      makeCase("is whole where the process ends at each step of a save", needs: .file) { try $0.isWholeAfterSteps() },
      makeCase("is whole where the process ends at each step of being made", needs: .file) {
        try $0.isWholeAfterStepsOfBeingMade()
      },
      makeCase("is whole where the process ends at each step of setting its metadata", needs: .file) {
        try $0.isWholeAfterStepsOfSettingMetadata()
      },
      makeCase("takes no save of its own for one of others") { try $0.tellsOwnSaves() },
    ]
  }

  private func tellsOwnSaves() throws {
    let open = try smallBench().open()
    for seed in 0..<3 {
      try open.insertRandom(1, seed: UInt64(seed))
      let seen = open.store.engine.saves.current
      try open.store.engine.followOthers()
      try expect(
        open.store.engine.saves.current == seen,
        "expected the change mark of a save's end to stay until somebody else saves, found another one"
      )
    }
  }

  /// A store that can be stopped, and an edit that is about to be saved.
  private struct PendingEdit {
    let bench: Workbench
    let open: OpenStore
    let context: ManagedObjectContext
    let old: StoreContents
    /// The values of the records after the edit.
    let values: [String: [PropertyValue]]
    /// The number of steps before the save.
    let start: Int

    init(_ conformance: StoreConformance, _ interruption: StoreInterruption, _ disk: ConformanceDisk) throws {
      bench = try Workbench(
        conformance.interrupted(by: interruption),
        model: try ModelMaker(conformance.capabilities).richest(),
        disk: disk
      )
      open = try bench.open()
      try open.insertRandom(8, seed: 1)
      old = try open.contents()
      context = open.makeContext()
      try open.editRecords(in: context, seed: 2)
      values = try open.allValues(in: context)
      start = interruption.step
    }
  }

  private func keepsNothingOfFailures() throws {
    for step in 1...Self.mostSteps {
      let interruption = StoreInterruption()
      let edit = try PendingEdit(self, interruption, try makeFolder())
      interruption.stop(at: edit.start + step)
      let hasSaved = (try? edit.context.save()) != nil
      let isOver = !interruption.hasStopped
      try expect("whether a save succeeds that \(isOver ? "nothing" : "something") stops", is: isOver, found: hasSaved)
      if !isOver {
        let what = "a store that was stopped at \(interruption.last)"
        try expectSame(try edit.open.contents(), as: edit.old, what)
        try expectSame(try edit.bench.reopened(edit.open).contents(), as: edit.old, what)
        try expect(edit.context.hasChanges, "expected the changes to stay in the context of \(what)")
        try edit.context.save()
      }
      let found = try edit.open.allValues(in: edit.open.makeContext())
      try expect("the values that are saved", is: edit.values, found: found)
      try edit.bench.expectReopensSame(edit.open)
      if isOver { return try expect(step > 1, "expected a save to take steps") }
    }
    throw ConformanceFailure("expected a save to take fewer than \(Self.mostSteps) steps")
  }

  /// Performs `work` again and again, and each time checks a copy of the disk as it would be if the process had ended,
  /// one step later each time. The last copy is made after the work.
  private func afterEachStep<Prepared>(
    prepare: (Workbench) throws -> Prepared,
    work: (Workbench, Prepared) throws -> Void,
    check: (_ copy: Workbench, Prepared, _ isOver: Bool, _ when: String) throws -> Void
  ) throws {
    let model = try ModelMaker(capabilities).richest()
    for step in 1...Self.mostSteps {
      let (disk, copy) = (try makeFolder(), try makeFolder())
      let interruption = StoreInterruption { try disk.copyFiles(to: copy) }
      let bench = try Workbench(interrupted(by: interruption), model: model, disk: disk)
      let prepared = try prepare(bench)
      let start = interruption.step
      interruption.observe(at: start + step)
      try work(bench, prepared)
      let isOver = interruption.step < start + step
      if isOver { try disk.copyFiles(to: copy) }
      let when = isOver ? "afterwards" : "when the process ends at step \(step) (\(interruption.observed))"
      try check(try Workbench(self, model: model, disk: copy), prepared, isOver, when)
      if isOver { return try expect(step > 1, "expected the work to take steps") }
    }
    throw ConformanceFailure("expected the work to take fewer than \(Self.mostSteps) steps")
  }

  private func isWholeAfterSteps() throws {
    let tracksHistory = capabilities.supports(.history)
    try afterEachStep { bench -> (OpenStore, StoreContents) in
      let open = try bench.open(tracksHistory: tracksHistory)
      try open.insertRandom(8, seed: 1)
      return (open, try open.contents())
    } work: { _, prepared in
      try prepared.0.editRecords(seed: 2)
    } check: { copy, prepared, isOver, when in
      let (old, new) = (prepared.1, try prepared.0.contents())
      let open = try copy.open()
      let found = try open.contents()
      try expectSame(found, asOld: old, orNew: new, isDone: isOver, when)
      if tracksHistory {
        let count = try open.history().count
        try expect([1, 2].contains(count), "expected 1 transaction or 2 \(when), found \(count)")
        try expectSame(found, as: count == 1 ? old : new, "a store with \(count) transactions \(when)")
      }
      try open.insertRandom(1, seed: 3)
      try expect("the records after another save \(when)", is: found.count + 1, found: try copy.open().contents().count)
    }
  }

  private func isWholeAfterStepsOfBeingMade() throws {
    try afterEachStep { (_: Workbench) -> Void in
    } work: { bench, _ in
      _ = try bench.open()
    } check: { copy, _, _, when in
      let open = try copy.open()
      try expect("the records of a new store \(when)", is: 0, found: try open.contents().count)
      try open.insertRandom(3, seed: 1)
      try copy.expectReopensSame(open)
    }
  }

  private func isWholeAfterStepsOfSettingMetadata() throws {
    try afterEachStep { bench -> (StoreContents, StoreMetadata) in
      let open = try bench.open()
      try open.insertRandom(5, seed: 1)
      return (try open.contents(), changed(try metadata(bench)))
    } work: { bench, prepared in
      try set(prepared.1, bench)
    } check: { copy, prepared, isOver, when in
      let (old, new) = (prepared.0.metadata, prepared.1)
      let found = try metadata(copy)
      try expect(
        found == new || found == old && !isOver,
        "expected the old metadata or the new \(when), found \(found)"
      )
      var expected = prepared.0
      expected.metadata = found
      try expectSame(try copy.open().contents(), as: expected, "the store \(when)")
    }
  }
}
