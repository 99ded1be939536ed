import HeartwoodStore

/// A save of plain bytes, in several writes.
enum SavedBytes {
  static let old = [UInt8](repeating: 1, count: 300_001)
  static let new = [UInt8](repeating: 2, count: 700_003)

  static func write(_ bytes: [UInt8], to output: StoreOutput) throws {
    for start in stride(from: 0, to: bytes.count, by: 300_000) {
      try output.write(Array(bytes[start..<min(bytes.count, start + 300_000)]))
    }
  }

  @discardableResult
  static func save(
    _ bytes: [UInt8],
    to path: String,
    in fileSystem: any FileSystem,
    expecting expectation: AtomicFile.Expectation = .anything
  ) throws -> AtomicFile.Replacement {
    try AtomicFile(path: path, fileSystem: fileSystem).replace(expecting: expectation) { try write(bytes, to: $0) }
  }
}
