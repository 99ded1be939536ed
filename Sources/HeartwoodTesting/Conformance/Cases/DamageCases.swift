import Heartwood
import HeartwoodStore

extension StoreConformance {
  /// A damaged file causes an error that names the file, or loads with contents that can be read. It never traps or
  /// hangs.
  var damageCases: [ConformanceCase] {
    [
      makeCase("takes files that were cut short", needs: .file) { try $0.takesTruncations() },
      makeCase("takes files with changed bits", needs: .file) { try $0.takesFlips() },
      makeCase("takes files of something else", needs: .file) { try $0.takesOtherFiles() },
    ]
  }

  /// The maximum number of lengths to which a file is cut. A store that opens its files itself may wait before it
  /// refuses a short file, because another process may be writing it.
  private var mostCuts: Int { reachesFilesItself ? 60 : 600 }

  /// The number of files with changed bits. A store that opens its files itself takes longer to open them.
  private var flipCount: Int { reachesFilesItself ? 400 : 1_000 }

  private func damagedBench() throws -> (Workbench, [UInt8]) {
    let bench = try Workbench(self, model: try ModelMaker(capabilities).richest())
    try bench.open().insertRandom(4, seed: 1)
    try checkpoint(bench)
    let bytes = try bench.bytes()
    try removeFiles(bench)
    return (bench, bytes)
  }

  /// Writes everything into the store's file, so that its bytes are complete.
  private func checkpoint(_ bench: Workbench) throws {
    try fileFormat?.checkpoint(storeAt: bench.path())
  }

  /// Removes all files except the support folder, to which a damaged file may refer.
  private func removeFiles(_ bench: Workbench) throws {
    let folder = supportFolder(bench)
    for path in try bench.disk.fileNames().map(bench.disk.path) where path != folder {
      try bench.disk.fileSystem.removeFile(atPath: path)
    }
  }

  private func supportFolder(_ bench: Workbench) -> String? {
    fileFormat?.supportFolder(ofStoreAt: bench.path())
  }

  private func takesTruncations() throws {
    let (bench, bytes) = try damagedBench()
    let step = max(1, bytes.count / mostCuts)
    for length in stride(from: 1, to: bytes.count, by: step) {
      try take(Array(bytes.prefix(length)), "cut short after \(length) of \(bytes.count) bytes", bench)
    }
  }

  private func takesFlips() throws {
    let (bench, bytes) = try damagedBench()
    let seed: UInt64 = 42
    var generator = SeededGenerator(seed: seed)
    for trial in 0..<flipCount {
      var damaged = bytes
      // The first trials change all bytes, or those at the beginning of a large file; the others change a few bytes
      // anywhere.
      let isInOrder = trial < bytes.count && (!reachesFilesItself || trial < flipCount / 2)
      let count = isInOrder ? 1 : Int.random(in: 1...4, using: &generator)
      for _ in 0..<count {
        let offset = isInOrder ? trial : Int.random(in: bytes.indices, using: &generator)
        damaged[offset] ^= 1 << UInt8.random(in: 0...7, using: &generator)
      }
      guard damaged != bytes else { continue }
      try take(damaged, "with changed bits (trial \(trial) of seed \(seed))", bench)
    }
  }

  private func takesOtherFiles() throws {
    let (bench, bytes) = try damagedBench()
    var generator = SeededGenerator(seed: 7)
    let noise = (0..<5_000).map { _ in UInt8.random(in: 0...255, using: &generator) }
    let others: [(String, [UInt8])] = [
      ("of line ends", Array(repeating: 10, count: 50)), ("of zeros", Array(repeating: 0, count: 5_000)),
      ("of noise", noise), ("of text", Array("Lorem ipsum\ndolor sit amet\n".utf8)), ("of one byte", [0xFF]),
      ("of brackets", Array(repeating: UInt8(ascii: "["), count: 100_000)),
    ]
    for (what, other) in others {
      let outcome = try outcome(of: other, what, bench)
      try expect(outcome == nil, "expected a file \(what) to be refused, found that it loads")
    }
    try take(bytes + [0], "with a byte too many", bench)
    try take(bytes + bytes, "that stands there twice", bench)
  }

  /// Fails if a damaged file loads although every damage is detected, or if the error does not name the file.
  private func take(_ bytes: [UInt8], _ what: String, _ bench: Workbench) throws {
    let loaded = try outcome(of: bytes, what, bench)
    try expect(
      loaded == nil || !detectsEveryChange,
      "expected a file \(what) to be refused, as every change is detected; found that it loads"
    )
  }

  /// Returns the contents of a damaged file; nil if it is refused.
  private func outcome(of bytes: [UInt8], _ what: String, _ bench: Workbench) throws -> StoreContents? {
    try bench.disk.write(bytes, to: bench.fileName())
    defer { try? removeFiles(bench) }
    do {
      let contents = try bench.open().contents()
      try readAll(contents)
      return contents
    } catch let error as PersistenceError {
      // The damage may be in a file that this file refers to.
      let path = error.context.path
      let isBeside = supportFolder(bench).map { path?.hasPrefix($0 + "/") ?? false } ?? false
      if !isBeside, path != bench.path() {
        let found = path.map { "the path \($0)" } ?? "no path"
        throw ConformanceFailure("expected an error with the path of a file \(what), found one with \(found): \(error)")
      }
      try expect(try bench.bytes() == bytes, "expected a file \(what) to stay as it was")
      return nil
    } catch {
      throw ConformanceFailure("expected a PersistenceError about a file \(what), found \(error)")
    }
  }

  /// Reads every value, which must not trap, whatever is in the file.
  private func readAll(_ contents: StoreContents) throws {
    for entity in contents.entities {
      for node in contents.nodes(of: entity) { _ = (node.reference, node.values) }
    }
    _ = try ContentsValidation.findings(in: contents, limit: 10)
  }
}
