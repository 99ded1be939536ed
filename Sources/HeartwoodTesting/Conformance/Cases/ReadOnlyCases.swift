import Heartwood
import HeartwoodStore

extension StoreConformance {
  /// A store that is opened for reading only is read and never written.
  var readOnlyCases: [ConformanceCase] {
    [
      makeCase("is read and not written when it is read-only", needs: .file) { try $0.isNotWritten() },
      makeCase("is not begun when it is read-only", needs: .file) { conformance in
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
    try expectError(.fileNotFound, when: "a store that is read-only has no file") { _ = try bench.open(readOnly: true) }
    try expect("the files", is: [], found: try bench.disk.fileNames())
  }
}
