import Heartwood
import HeartwoodStore

extension StoreConformance {
  /// Nobody's work is overwritten unseen.
  var conflictCases: [ConformanceCase] {
    [
      makeCase("does not overwrite what somebody else has saved", needs: .file) { try $0.noticesOtherSave() },
      makeCase("does not overwrite a file that has come meanwhile", needs: .file) { conformance in
        try ConformanceDisk.each { try conformance.noticesNewFile($0) }
      },
      makeCase("notices that its file is gone", needs: .file) { conformance in
        try ConformanceDisk.each { try conformance.noticesRemoval($0) }
      },
      makeCase("notices that another context has saved the same record") { try $0.noticesOtherContext() },
    ]
  }

  private func noticesOtherSave() throws {
    let bench = try smallBench()
    try bench.open().insertRandom(5, seed: 1)
    let (mine, theirs) = (try bench.open(), try bench.open())
    try theirs.insertRandom(2, seed: 2)
    let expected = try theirs.contents()
    try expectError(.fileChangedOnDisk, when: "somebody else has saved meanwhile") { try mine.insertRandom(1, seed: 3) }
    try expectSame(try bench.open().contents(), as: expected, "the file that somebody else has saved")
  }

  private func noticesNewFile(_ disk: ConformanceDisk) throws {
    let bench = try smallBench(disk)
    let (mine, theirs) = (try bench.open(), try bench.open())
    try theirs.insertRandom(2, seed: 2)
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
    try expect("the files", is: [], found: try bench.disk.fileNames())
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
