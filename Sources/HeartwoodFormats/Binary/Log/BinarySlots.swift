import HeartwoodStore

/// The first bytes of a file that saves are added to: the header, and in two pages of their own the slots that name
/// the end of the newest save. They are written in turn, so one of them is whole at all times.
struct BinarySlot: Sendable, Equatable {
  /// The number of the save; 0 for the file as it was written as a whole.
  let number: UInt64
  /// The end of the save in the file.
  let end: Int
  /// The end of the part that was written as a whole.
  let baseEnd: Int
  /// The checksum of the head of the save's block; of the directory for the file as it was written as a whole.
  let chain: UInt64
}

extension BinarySlot {
  static let length = 64
  /// Where the slots begin: a sector that is torn damages one at most.
  static let offsets = [4096, 8192]
  /// Where the first section begins.
  static let frontLength = 12_288

  private static let magic: [UInt8] = [0x89, 0x48, 0x57, 0x53, 0x0D, 0x0A, 0x1A, 0x0A]
  private static let checksumOffset = 56

  /// Reads the slot at an offset; nil if it does not hold.
  init?(at offset: Int, in file: UnsafeRawBufferPointer) {
    guard offset + Self.length <= file.count else { return nil }
    let bytes = UnsafeRawBufferPointer(rebasing: file[offset..<(offset + Self.length)])
    func number(_ offset: Int) -> UInt64 {
      UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    guard bytes.starts(with: Self.magic),
      number(Self.checksumOffset) == XXH64.hash(UnsafeRawBufferPointer(rebasing: bytes[..<Self.checksumOffset])),
      let end = Int(exactly: number(16)), let baseEnd = Int(exactly: number(24))
    else { return nil }
    self.init(number: number(8), end: end, baseEnd: baseEnd, chain: number(32))
  }

  /// The slot as it is stored in the file.
  var encoded: [UInt8] {
    let bytes = GrowableBytes(capacity: Self.length)
    Self.magic.withUnsafeBytes { bytes.append($0) }
    bytes.append(number.littleEndian)
    bytes.append(UInt64(end).littleEndian)
    bytes.append(UInt64(baseEnd).littleEndian)
    bytes.append(chain.littleEndian)
    bytes.append(repeating: 0, count: Self.checksumOffset - bytes.count)
    bytes.append(XXH64.hash(UnsafeRawBufferPointer(bytes.unsafeMutableBytes)).littleEndian)
    return bytes.sealed().array
  }

  /// Returns the slot of the next save.
  func next(end: Int, chain: UInt64) -> BinarySlot {
    BinarySlot(number: number &+ 1, end: end, baseEnd: baseEnd, chain: chain)
  }

  /// The patch that writes the slot in place of the older one.
  var patch: FilePatch { FilePatch(offset: Self.offsets[Int(number % 2)], bytes: encoded) }

  /// Returns the newest slot that holds; the one before it if the file has grown since it was mapped.
  ///
  /// - Parameter input: the same file.
  /// - Throws: ``PersistenceError/Code/fileCorrupt`` if none does, or if bytes around them are not zero.
  static func newest(
    in file: UnsafeRawBufferPointer,
    _ input: StoreInput,
    _ fault: BinaryFault
  ) throws(PersistenceError) -> BinarySlot {
    guard file.count >= frontLength else { throw fault.corrupt("the file ends before its first part", at: file.count) }
    let zeros = [
      BinaryFormat.headerLength..<offsets[0], (offsets[0] + length)..<offsets[1], (offsets[1] + length)..<frontLength,
    ]
    for range in zeros {
      let isZero = UnsafeRawBufferPointer(rebasing: file[range]).isZero
      guard isZero else { throw fault.corrupt("bytes that must be zero are not", at: range.lowerBound) }
    }
    var slots = slots(in: file).sorted { $0.number < $1.number }
    if slots.count > 1, slots[1].end > file.count, try input.file.status().size >= slots[1].end { slots.removeLast() }
    guard let slot = slots.last else {
      throw fault.corrupt("neither of the two places that name the end of the newest save holds", at: offsets[0])
    }
    guard slot.baseEnd >= frontLength, slot.baseEnd <= slot.end, slot.baseEnd.isMultiple(of: BinaryFormat.alignment),
      slot.end.isMultiple(of: BinaryFormat.alignment)
    else { throw fault.corrupt("the end of the newest save is not possible", at: offsets[0]) }
    guard slot.end <= file.count else {
      throw fault.corrupt("it has \(file.count) of \(slot.end) bytes", at: file.count)
    }
    return slot
  }

  /// Returns the slots that hold.
  static func slots(in file: UnsafeRawBufferPointer) -> [BinarySlot] {
    offsets.compactMap { BinarySlot(at: $0, in: file) }
  }
}

extension UnsafeRawBufferPointer {
  /// Whether all bytes are zero. O(bytes).
  fileprivate var isZero: Bool {
    var place = 0
    while place + 8 <= count {
      if loadUnaligned(fromByteOffset: place, as: UInt64.self) != 0 { return false }
      place += 8
    }
    return self[place...].allSatisfy { $0 == 0 }
  }
}
