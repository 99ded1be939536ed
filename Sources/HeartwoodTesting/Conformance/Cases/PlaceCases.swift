import Heartwood
import HeartwoodFoundation
import HeartwoodStore

extension StoreConformance {
  /// A file is moved, replaced or removed while its store is open.
  var placeCases: [ConformanceCase] {
    [
      makeCase("tells what has become of its file", needs: .file) { conformance in
        try conformance.withEachDisk { try conformance.tellsFileState($0) }
      },
      makeCase("goes on where its file was moved to", needs: .file) { conformance in
        try conformance.withEachDisk { try conformance.followsMove($0) }
      },
    ]
  }

  private func tellsFileState(_ disk: ConformanceDisk) throws {
    let bench = try smallBench(disk)
    let open = try bench.open()
    let isMade = reachesFilesItself
    try expect("the state of a new store's file", is: isMade ? .unchanged : .absent, found: try open.store.fileState())
    try open.insertRandom(3, seed: 1)
    try expect("the state after a save", is: .unchanged, found: try open.store.fileState())
    let other = try bench.open()
    try other.insertRandom(1, seed: 2)
    // An incremental store still has the same file.
    try expect(
      "the state after somebody else's save",
      is: reachesFilesItself ? .unchanged : .changed,
      found: try open.store.fileState()
    )
    try expect("the state of the newest file", is: .unchanged, found: try other.store.fileState())
    try bench.disk.fileSystem.removeFile(atPath: bench.path())
    try expect("the state of a file that was removed", is: .removed, found: try other.store.fileState())
  }

  private func followsMove(_ disk: ConformanceDisk) throws {
    let bench = try smallBench(disk)
    try bench.open().insertRandom(3, seed: 1)
    let open = try bench.open()
    let (old, new) = (bench.path(), bench.path("moved"))
    try disk.fileSystem.moveFile(atPath: old, toPath: new, exclusively: false)
    // A store that opens its file itself keeps it open, and the framework cannot find out where it is now.
    try expect(
      "the state of a file that was moved",
      is: reachesFilesItself ? .removed : .moved(path: new),
      found: try open.store.fileState()
    )
    try expectError(.fileChangedOnDisk, when: "a store is saved whose file was moved") {
      try open.insertRandom(1, seed: 2)
    }
    try expect(try disk.fileSystem.status(atPath: old) == nil, "expected no file where it was moved from, found one")
    if reachesFilesItself {
      try expectError(.capabilityMissing, when: "a store that opens its file itself is told another place") {
        try open.coordinator.setURL(URL(filePath: new), for: open.store)
      }
      try disk.fileSystem.moveFile(atPath: new, toPath: old, exclusively: true)
      try open.insertRandom(1, seed: 3)
      try bench.expectReopensSame(open)
      return
    }
    try bench.expectFiles(called: ["moved"])
    try open.coordinator.setURL(URL(filePath: new), for: open.store)
    try open.insertRandom(1, seed: 3)
    try bench.expectFiles(called: ["moved"])
    try bench.expectReopensSame(open, "moved")
  }
}

// MARK: ReadOnlyCases

extension StoreConformance {
  /// A store that is opened read-only can be read and is never written.
  var readOnlyCases: [ConformanceCase] {
    [
      makeCase("is read and not written when it is read-only", needs: .place) { try $0.isNotWritten() },
      makeCase("is not begun when it is read-only", needs: .place) { conformance in
        try conformance.withEachDisk { try conformance.isNotBegun($0) }
      },
    ]
  }

  private func isNotWritten() throws {
    let bench = try smallBench()
    let open = try bench.open()
    try open.insertRandom(5, seed: 1)
    let before = try bench.bytes()
    let readOnly = try bench.open(readOnly: true)
    try expectSame(try readOnly.contents(), as: try open.contents(), "a store that is read-only")
    let context = readOnly.makeContext()
    try readOnly.editRecords(in: context, seed: 2)
    try expectError(.storeReadOnly, when: "changes are saved to a store that is read-only") { try context.save() }
    try expectError(.storeReadOnly, when: "the user's metadata of a store that is read-only are set") {
      try readOnly.store.setUserInfo([:])
    }
    try expect(try bench.bytes() == before, "expected the file of a store that is read-only to stay as it was")
    try bench.expectFiles()
  }

  private func isNotBegun(_ disk: ConformanceDisk) throws {
    let bench = try smallBench(disk)
    try expectError(.fileNotFound, when: "a store that is read-only is not there") {
      _ = try bench.open(readOnly: true)
    }
    try bench.expectNothing("of a store that was not begun")
  }
}
