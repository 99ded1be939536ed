import Heartwood
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension StoreConformance {
  /// A file that is moved, replaced or removed while its store is open.
  var placeCases: [ConformanceCase] {
    [
      makeCase("tells what has become of its file", needs: .file) { conformance in
        try ConformanceDisk.each { try conformance.tellsFileState($0) }
      },
      makeCase("goes on where its file was moved to", needs: .file) { conformance in
        try ConformanceDisk.each { try conformance.followsMove($0) }
      },
    ]
  }

  private func tellsFileState(_ disk: ConformanceDisk) throws {
    let bench = try smallBench(disk)
    let open = try bench.open()
    try expect("the state of a file that is not there yet", is: .absent, found: try open.store.fileState())
    try open.insertRandom(3, seed: 1)
    try expect("the state after a save", is: .unchanged, found: try open.store.fileState())
    let other = try bench.open()
    try other.insertRandom(1, seed: 2)
    try expect("the state after somebody else's save", is: .changed, found: try open.store.fileState())
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
    try expect("the state of a file that was moved", is: .moved(path: new), found: try open.store.fileState())
    try expectError(.fileChangedOnDisk, when: "a store is saved whose file was moved") {
      try open.insertRandom(1, seed: 2)
    }
    try expect("the files", is: [bench.fileName("moved")], found: try disk.fileNames())
    try open.coordinator.setURL(URL(filePath: new), for: open.store)
    try open.insertRandom(1, seed: 3)
    try expect("the files", is: [bench.fileName("moved")], found: try disk.fileNames())
    try bench.expectReopensSame(open, "moved")
  }
}
