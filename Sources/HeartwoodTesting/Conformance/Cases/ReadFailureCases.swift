import Heartwood
import HeartwoodStore

extension StoreConformance {
  /// A read that fails is reported, or makes no difference.
  var readFailureCases: [ConformanceCase] {
    guard reachesFilesItself else {
      return [makeCase("says what of its file cannot be read", needs: .file) { try $0.saysWhatOfFileCannotBeRead() }]
    }
    let cases = ReadingScenario.all.map { scenario in
      makeCase(
        "says what cannot be read: \(scenario.name)",
        needs: .file,
        .relationships,
        .attributes(.string),
        .entities(ReadingModel.entityCount)
      ) {
        try $0.saysWhatCannotBeRead(scenario)
      }
    }
    return cases + [
      makeCase("says what cannot be read: a migration", needs: .file, .modelVersion) {
        try $0.saysWhatMigrationsCannotRead()
      }
    ]
  }

  // MARK: Incremental stores

  /// The result of a scenario.
  private struct Outcome {
    /// The results; nil if an error was thrown.
    let found: [String]?
    /// Whether contexts have noted a read that failed.
    let isNoted: Bool
    /// The contents of the store afterwards.
    let contents: [String]
    /// The contents that the store may have if something has failed.
    let states: [[String]]
    /// The number of reads.
    let readCount: Int
    /// The read that failed, in words.
    let failure: String
  }

  /// Plays a scenario repeatedly, and makes each of its reads fail, once or from then on.
  private func saysWhatCannotBeRead(_ scenario: ReadingScenario) throws {
    let master = try Workbench(self, model: try ReadingModel.model(), disk: try makeFolder())
    let open = try master.open()
    try ReadingModel.fill(open)
    open.coordinator.close()
    let expected = try play(scenario, on: master, failing: 0...0)
    let found = try unwrap(expected.found, "no error while nothing fails (\(expected.failure))")
    try expect(!expected.isNoted, "expected nothing to be noted while nothing fails")
    try expect(expected.readCount > 0, "expected something to be read")
    for step in 1...expected.readCount {
      for failing in [step...step, step...Int.max] {
        let outcome = try play(scenario, on: master, failing: failing)
        let how = failing.count == 1 ? "once" : "from then on"
        let when = "when read \(step) fails \(how): \(outcome.failure)"
        try check(outcome, found, expected.contents, when)
      }
    }
  }

  private func play(
    _ scenario: ReadingScenario,
    on master: Workbench,
    failing reads: ClosedRange<Int>
  ) throws -> Outcome {
    let disk = try makeFolder()
    try master.disk.copyFiles(to: disk)
    let bench = try Workbench(self, model: master.model, disk: disk)
    let faults = ReadFaults()
    let trial = try ReadingTrial(bench, faults)
    faults.begin(failing: reads)
    let result = Result { try scenario.play(trial) }
    faults.end()
    let (isNoted, count) = (!trial.readFailures.isEmpty, faults.count)
    var failure = faults.lastFailure?.rawValue ?? "none"
    if case .failure(let error) = result {
      // Missing results without an error are a failure of the store.
      if error is ConformanceFailure {
        throw ConformanceFailure(
          "\(error) when a read fails (\(reads.lowerBound)): \(failure), noted \(trial.readFailures)"
        )
      }
      failure += ", with the error \(error)"
    }
    let contents = try bench.allNames()
    try trial.expectRecovery("once nothing fails any more, after \(failure)")
    trial.coordinator.close()
    return Outcome(
      found: try? result.get(),
      isNoted: isNoted,
      contents: contents,
      states: trial.states,
      readCount: count,
      failure: failure
    )
  }

  private func check(
    _ outcome: Outcome,
    _ expected: [String],
    _ contents: [String],
    _ when: String
  ) throws {
    if let found = outcome.found, !outcome.isNoted {
      try expect("what comes \(when), if no error does,", is: expected, found: found)
      return try expect("what the store has \(when), if no error comes,", is: contents, found: outcome.contents)
    }
    let states = outcome.states + [contents]
    try expect(
      states.contains(outcome.contents),
      "expected saves to be done as a whole or not at all \(when), found \(outcome.contents), which is none of \(states)"
    )
  }

  // MARK: Migrations

  private func saysWhatMigrationsCannotRead() throws {
    let trial = try renamingTrial(on: try makeFolder())
    for step in 1...Self.mostSteps {
      let copy = try trial.copied(to: try copied(trial.old.disk))
      let faults = ReadFaults()
      let migration = try unwrap(try copy.migration(as: try failing(by: faults)), "a migration")
      faults.begin(failing: step...step)
      let result = Result { try migration.run() }
      faults.end()
      let when = "when read \(step) fails: \(faults.lastFailure?.rawValue ?? "none")"
      let isMigrated = try copy.isMigrated(when)
      if case .success = result { try expect(isMigrated, "expected an error or a migrated store \(when)") }
      if faults.count < step { return try expect(step > 1, "expected a migration to read something") }
    }
    throw ConformanceFailure("expected a migration to take fewer than \(Self.mostSteps) reads")
  }

  private func copied(_ disk: ConformanceDisk) throws -> ConformanceDisk {
    let copy = try makeFolder()
    try disk.copyFiles(to: copy)
    return copy
  }

  // MARK: Atomic stores

  /// The whole file is read or mapped when the store is opened.
  private func saysWhatOfFileCannotBeRead() throws {
    let bench = try Workbench(self, model: try ModelMaker(capabilities).richest())
    let first = try bench.open(tracksHistory: capabilities.supports(.history))
    try first.insertRandom(8, seed: 1)
    try first.editRecords(seed: 2)
    let (contents, history) = (try first.contents(), try historyIfAny(of: first))
    for step in 1...Self.mostSteps {
      let faults = FaultInjectingFileSystem(wrapping: bench.disk.fileSystem)
      faults.failOperation(step, with: PersistenceError(.fileReadFailed, "A test lets this fail."))
      let result = Result {
        let open = try bench.seen(through: faults).open(tracksHistory: capabilities.supports(.history))
        return (try open.contents(), try historyIfAny(of: open))
      }
      let when = "when step \(step) (\(faults.operation(step))) of reading it fails"
      if case .success(let (found, foundHistory)) = result {
        try expectSame(found, as: contents, "the store \(when), without an error,")
        try expect("the history \(when)", is: history, found: foundHistory)
      }
      if faults.operations.count < step { return try expect(step > 1, "expected something to be read") }
    }
    throw ConformanceFailure("expected a file to be read in fewer than \(Self.mostSteps) steps")
  }

  private func historyIfAny(of open: OpenStore) throws -> [HistoryRecord] {
    capabilities.supports(.history) ? try open.history() : []
  }
}
