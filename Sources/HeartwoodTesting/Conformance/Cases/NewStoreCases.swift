import Heartwood

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension StoreConformance {
  /// Where there is no file, or one without a byte, there is a new store.
  var newStoreCases: [ConformanceCase] {
    [
      makeCase("begins without records") { try $0.beginsEmpty() },
      makeCase("makes its file \(reachesFilesItself ? "when it is opened" : "with the first save")", needs: .file) {
        try $0.makesItsFile()
      },
      makeCase("takes a file without a byte for a new store", needs: .file) { try $0.takesEmptyFile() },
      makeCase("keeps a store without records", needs: .file) { try $0.keepsNothing() },
      makeCase("is destroyed, and nothing else is", needs: .file) { conformance in
        try conformance.withEachDisk { try conformance.isDestroyed($0) }
      },
    ]
  }

  private func beginsEmpty() throws {
    let bench = try smallBench()
    let open = try bench.open()
    try expect("the number of records", is: 0, found: try open.contents().count)
    _ = try open.store.engine.save(ChangeSet())
    try expect("the number of records after a save", is: 0, found: try bench.expectReopensSame(open).contents().count)
  }

  private func makesItsFile() throws {
    let bench = try smallBench()
    let open = try bench.open()
    if reachesFilesItself {
      try bench.expectFiles("of a new store")
      try expect("who it is", is: open.store.metadata, found: try metadata(bench))
    } else {
      try expect("the files before the first save", is: [], found: try bench.disk.fileNames())
    }
    try open.insertRandom(3, seed: 1)
    try bench.expectFiles("after a save")
    try bench.expectReopensSame(open)
  }

  private func takesEmptyFile() throws {
    let bench = try smallBench()
    try bench.disk.write([], to: bench.fileName())
    try expectError(.fileMalformed, when: "the metadata of a file without a byte are read") { _ = try metadata(bench) }
    let open = try bench.open()
    try expect("the number of records", is: 0, found: try open.contents().count)
    try open.insertRandom(3, seed: 1)
    try bench.expectReopensSame(open)
  }

  private func keepsNothing() throws {
    let bench = try smallBench()
    let open = try bench.convert(try bench.openInMemory())
    let reopened = try bench.expectReopensSame(open)
    try reopened.insertRandom(2, seed: 1)
    let context = reopened.makeContext()
    for object in try context.fetch(entityName: ModelMaker.entity) { context.delete(object) }
    try context.save()
    try expect("the number of records", is: 0, found: try bench.expectReopensSame(reopened).contents().count)
  }

  private func isDestroyed(_ disk: ConformanceDisk) throws {
    let bench = try smallBench(disk)
    try bench.open().insertRandom(2, seed: 1)
    try bench.disk.write(Array("of another program".utf8), to: "other")
    try bench.makeCoordinator().destroyPersistentStore(
      at: URL(filePath: bench.path()),
      type: type,
      options: bench.options
    )
    try expect("the files", is: ["other"], found: try bench.disk.fileNames())
  }
}
