import Heartwood
import HeartwoodStore

extension StoreConformance {
  /// Nobody's work is overwritten unseen.
  var conflictCases: [ConformanceCase] {
    [
      makeCase("does not overwrite what somebody else has saved", needs: .file) { try $0.noticesOtherSave() },
      makeCase("does not overwrite a file that has come meanwhile", needs: .file) { conformance in
        try conformance.withEachDisk { try conformance.noticesNewFile($0) }
      },
      makeCase("notices that its file is gone", needs: .file) { conformance in
        try conformance.withEachDisk { try conformance.noticesRemoval($0) }
      },
      makeCase("notices that another context has saved the same record") { try $0.noticesOtherContext() },
    ]
  }

  private func noticesOtherSave() throws {
    let bench = try smallBench()
    try bench.open().insertRandom(5, seed: 1)
    let (mine, theirs) = (try bench.open(), try bench.open())
    try theirs.insertRandom(2, seed: 2)
    if reachesFilesItself { return try joinsOtherSave(bench, mine, theirs) }
    let expected = try theirs.contents()
    try expectError(.fileChangedOnDisk, when: "somebody else has saved meanwhile") { try mine.insertRandom(1, seed: 3) }
    try expectSame(try bench.open().contents(), as: expected, "the file that somebody else has saved")
  }

  /// Stores that save piecemeal keep what both have saved, unless it is the same record.
  private func joinsOtherSave(_ bench: Workbench, _ mine: OpenStore, _ theirs: OpenStore) throws {
    try mine.insertRandom(1, seed: 3)
    try expect("the records that two have saved", is: 8, found: try bench.open().contents().count)
    let (context, other) = (mine.makeContext(), theirs.makeContext())
    try mine.editRecords(in: context, seed: 4)
    try theirs.editRecords(in: other, seed: 5)
    try other.save()
    let expected = try theirs.contents()
    try expectError(.saveConflict, when: "somebody else has saved the same records") { try context.save() }
    try expectSame(try bench.open().contents(), as: expected, "the store after the conflict")
  }

  private func noticesNewFile(_ disk: ConformanceDisk) throws {
    let bench = try smallBench(disk)
    let (mine, theirs) = (try bench.open(), try bench.open())
    try theirs.insertRandom(2, seed: 2)
    if reachesFilesItself {
      try mine.insertRandom(1, seed: 3)
      return try expect("the records that two have saved", is: 3, found: try bench.open().contents().count)
    }
    let before = try bench.bytes()
    try expectError(.fileExists, .fileChangedOnDisk, when: "somebody else has made the file meanwhile") {
      try mine.insertRandom(1, seed: 3)
    }
    try expect(try bench.bytes() == before, "expected the file that somebody else has made to stand")
  }

  private func noticesRemoval(_ disk: ConformanceDisk) throws {
    let bench = try smallBench(disk)
    try bench.open().insertRandom(5, seed: 1)
    let open = try bench.open()
    try bench.disk.fileSystem.removeFile(atPath: bench.path())
    try expectError(.fileChangedOnDisk, when: "the file has been removed meanwhile") {
      try open.insertRandom(1, seed: 2)
    }
    try expect(
      try bench.disk.fileSystem.status(atPath: bench.path()) == nil,
      "expected no file where one was removed, found one"
    )
  }

  private func noticesOtherContext() throws {
    let bench = try smallBench()
    let open = try bench.open()
    try open.insertRandom(3, seed: 1)
    let (mine, theirs) = (open.makeContext(), open.makeContext())
    try open.editRecords(in: mine, seed: 2)
    try open.editRecords(in: theirs, seed: 3)
    try theirs.save()
    let expected = try open.contents()
    try expectError(.saveConflict, when: "another context has saved the same records") { try mine.save() }
    try expectSame(try bench.reopened(open).contents(), as: expected, "the store after the conflict")
  }
}
