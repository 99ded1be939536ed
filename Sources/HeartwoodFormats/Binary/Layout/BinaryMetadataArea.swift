import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The metadata of a file in two copies, of which one is whole while the other is written over.
struct BinaryMetadataArea: Sendable {
  /// What is before the copies: a mark, and zeros.
  private static let headLength = 64
  private static let settled: UInt8 = 0
  /// No changed bit makes one mark of the other.
  private static let changing: UInt8 = 0xFF
  private static let minimumCapacity = 1024
  /// The checksum and the length before the text of a copy.
  private static let copyHeadLength = 16

  private let offset: Int
  private let capacity: Int
  /// The copy that counts.
  private let current: Int
  private let isSettled: Bool
  /// The text of the metadata.
  let json: Data

  /// Reads the area from a file.
  ///
  /// - Parameter offset: where it begins in the file.
  init(_ bytes: UnsafeRawBufferPointer, offset: Int, fault: BinaryFault) throws(PersistenceError) {
    self.offset = offset
    let capacity = (bytes.count - Self.headLength) / 2
    guard capacity >= BinaryFormat.alignment, capacity.isMultiple(of: BinaryFormat.alignment),
      bytes.count == Self.headLength + 2 * capacity, bytes[1..<Self.headLength].allSatisfy({ $0 == 0 }),
      bytes[0] == Self.settled || bytes[0] == Self.changing
    else { throw fault.corrupt("the place of the metadata is not as it was written", at: offset) }
    let isSettled = bytes[0] == Self.settled
    let copies = [0, 1].map { Self.text(ofCopy: $0, capacity, in: bytes) }
    // Copies differ, or do not hold, only where a change of them was interrupted.
    guard let current = copies.firstIndex(where: { $0 != nil }), let text = copies[current],
      !isSettled || copies[0] == copies[1]
    else { throw fault.corrupt("the checksum of the metadata does not hold", at: offset) }
    self.capacity = capacity
    self.isSettled = isSettled
    self.current = current
    json = text
  }

  /// The texts of the copies whose checksum holds, in an area that may be damaged: none, one, or two, which may differ.
  static func soundTexts(_ bytes: UnsafeRawBufferPointer) -> [Data] {
    let capacity = (bytes.count - headLength) / 2
    guard capacity >= BinaryFormat.alignment else { return [] }
    return [0, 1].compactMap { text(ofCopy: $0, capacity, in: bytes) }
  }

  private static func text(ofCopy copy: Int, _ capacity: Int, in bytes: UnsafeRawBufferPointer) -> Data? {
    let start = headLength + copy * capacity
    let checked = UnsafeRawBufferPointer(rebasing: bytes[(start + 8)..<(start + capacity)])
    let checksum = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self))
    let length = UInt64(littleEndian: checked.loadUnaligned(as: UInt64.self))
    guard checksum == XXH64.hash(checked), length <= capacity - copyHeadLength else { return nil }
    return Data(bytes[(start + copyHeadLength)..<(start + copyHeadLength + Int(length))])
  }
}

// MARK: Writing

extension BinaryMetadataArea {
  /// How long a copy of a text is: a power of two, so that most other texts fit in its place, and the same for every text that does.
  private static func capacity(for json: Data) -> Int {
    var capacity = minimumCapacity
    while capacity - copyHeadLength < json.count { capacity *= 2 }
    return capacity
  }

  private static func copy(of json: Data, capacity: Int) -> [UInt8] {
    var checked = bytes(of: UInt64(json.count)) + json
    checked += [UInt8](repeating: 0, count: capacity - 8 - checked.count)
    return bytes(of: checked.withUnsafeBytes { XXH64.hash($0) }) + checked
  }

  private static func bytes(of number: UInt64) -> [UInt8] {
    withUnsafeBytes(of: number.littleEndian) { Array($0) }
  }

  /// The area as it lies in a new file.
  static func encoded(_ json: Data) -> ByteSlice {
    let copy = copy(of: json, capacity: capacity(for: json))
    let head = [settled] + [UInt8](repeating: 0, count: headLength - 1)
    return ByteSlice(copying: Data(head + copy + copy))
  }

  /// What to write over the area so that it holds `json`, or nil where a new file would have an area of another length.
  ///
  /// The copy that counts is written last: until then it is read, and then the other one.
  func patches(_ json: Data) -> [FilePatch]? {
    guard Self.capacity(for: json) == capacity else { return nil }
    if isSettled, json == self.json { return [] }
    let bytes = Self.copy(of: json, capacity: capacity)
    let copies = [1 - current, current].map { FilePatch(offset: copyOffset($0), bytes: bytes) }
    return [mark(Self.changing)] + copies + [mark(Self.settled)]
  }

  private func mark(_ mark: UInt8) -> FilePatch { FilePatch(offset: offset, bytes: [mark]) }

  private func copyOffset(_ copy: Int) -> Int { offset + Self.headLength + copy * capacity }
}
