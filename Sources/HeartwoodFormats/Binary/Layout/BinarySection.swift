import HeartwoodStore

/// A run of bytes of a file under a checksum of its own, followed by zeros up to the next multiple of 64.
struct BinarySection: Sendable, Equatable {
  static let encodedLength = 24

  let offset: Int
  /// The length without the zeros.
  let length: Int
  let checksum: UInt64

  init(offset: Int, length: Int, checksum: UInt64) {
    self.offset = offset
    self.length = length
    self.checksum = checksum
  }

  init(_ cursor: inout BinaryCursor) throws(PersistenceError) {
    offset = try cursor.size()
    length = try cursor.size()
    checksum = try cursor.number(UInt64.self)
  }

  func encode(to bytes: GrowableBytes) {
    bytes.append(UInt64(offset).littleEndian)
    bytes.append(UInt64(length).littleEndian)
    bytes.append(checksum.littleEndian)
  }
}

extension BinarySection {
  /// Where the zeros end; only of a section that lies inside of a file.
  var end: Int { offset + length + BinaryFormat.paddingLength(length) }

  /// Whether the bytes and the zeros lie in `range`, which begins and ends at multiples of 64.
  func isInside(_ range: Range<Int>) -> Bool {
    offset.isMultiple(of: BinaryFormat.alignment) && range.contains(offset) && length <= range.upperBound - offset
      || offset == range.upperBound && length == 0
  }
}
