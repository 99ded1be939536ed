import Heartwood
import HeartwoodStore

extension StoreConformance {
  /// The same content gives the same bytes, so that files can be compared and kept in version control.
  var sameBytesCases: [ConformanceCase] {
    let unchanged = makeCase("writes an unchanged file as the same bytes", needs: .file) {
      try $0.keepsBytesUnchanged()
    }
    if writesSameBytes {
      return [
        makeCase("writes the same content as the same bytes", needs: .file) { try $0.writesContentAlike() }, unchanged,
      ]
    }
    // What is saved piecemeal is not written again where nothing changes.
    if reachesFilesItself { return [unchanged] }
    return [makeCase("writes the same content as other bytes each time", needs: .file) { try $0.writesOtherBytes() }]
  }

  private func writesContentAlike() throws {
    let bench = try Workbench(self, model: try ModelMaker(capabilities).richest())
    let source = try bench.openInMemory()
    if capabilities.supportsUserMetadata {
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
