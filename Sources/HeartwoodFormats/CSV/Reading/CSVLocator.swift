import HeartwoodModel
import HeartwoodStore

/// Tells where in a file a byte is, as a person counts.
struct CSVLocator {
  private static let blockSize = 1 << 16

  let file: StoreInput

  func error(_ fault: CSVFault, entity: EntityDescription?) throws(PersistenceError) -> PersistenceError {
    let (line, column) = try place(of: fault.offset)
    return PersistenceError(
      fault.code,
      fault.reason,
      recovery: fault.recovery,
      context: .init(
        path: file.path,
        line: line,
        column: column,
        byteOffset: fault.offset,
        storeType: .csv,
        entity: entity?.name,
        property: fault.property
      )
    )
  }

  /// The line and the character in it, both counted from 1. O(offset), and it reads the file up to there.
  func place(of offset: Int) throws(PersistenceError) -> (line: Int, column: Int) {
    var (line, lineStart, position) = (1, 0, 0)
    while position < offset {
      let block = try file.bytes(from: position, count: min(Self.blockSize, offset - position))
      guard !block.isEmpty else { break }
      for (index, byte) in block.enumerated() where byte == CSVFormat.lineFeed {
        line += 1
        lineStart = position + index + 1
      }
      position += block.count
    }
    return (line, try characterCount(lineStart..<max(lineStart, position)) + 1)
  }

  /// How many Unicode scalars begin in a part of a line, the byte order mark left out.
  private func characterCount(_ range: Range<Int>) throws(PersistenceError) -> Int {
    var bytes = try file.bytes(from: range.lowerBound, count: range.count)[...]
    if range.lowerBound == 0, bytes.starts(with: CSVFormat.byteOrderMark) { bytes = bytes.dropFirst(3) }
    return bytes.count { $0 & 0xC0 != 0x80 }
  }
}
