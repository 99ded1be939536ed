import HeartwoodFoundation
import HeartwoodStore

/// The first bytes of a file: its format, the versions of readers for it, and the identifier of its store.
struct BinaryHeader: Sendable {
  let formatVersion: UInt32
  let minimumReaderVersion: UInt32
  let storeIdentifier: UUID
  /// Zero before version 3.
  private let flags: UInt32

  private static let historyFlag: UInt32 = 1
  private static let logFlag: UInt32 = 2
  private static let flagsOffset = 32
  /// The offset of the checksum of the bytes before it.
  private static let checksumOffset = 56
  private static let minimumReaderVersionOffset = 12

  /// Makes the header of a new file.
  ///
  /// - Parameters:
  ///   - hasHistory: whether the directory ends with a history.
  ///   - hasLog: whether saves may be added to the file.
  init(storeIdentifier: UUID, hasHistory: Bool, hasLog: Bool) {
    self.formatVersion = hasLog ? BinaryFormat.versionWithLog : BinaryFormat.versionWithMetadataArea
    self.minimumReaderVersion = formatVersion
    self.storeIdentifier = storeIdentifier
    self.flags = (hasHistory ? Self.historyFlag : 0) | (hasLog ? Self.logFlag : 0)
  }

  /// Reads the header from the beginning of a file.
  init(_ bytes: UnsafeRawBufferPointer, fault: BinaryFault) throws(PersistenceError) {
    try Self.checkMagic(bytes, fault)
    guard bytes.count >= BinaryFormat.headerLength else {
      throw fault.corrupt("the file ends in its header", at: bytes.count)
    }
    let checked = UnsafeRawBufferPointer(rebasing: bytes[..<Self.checksumOffset])
    var cursor = BinaryCursor(
      UnsafeRawBufferPointer(rebasing: bytes[BinaryFormat.magic.count..<BinaryFormat.headerLength]),
      start: BinaryFormat.magic.count,
      fault: fault
    )
    formatVersion = try cursor.number(UInt32.self)
    minimumReaderVersion = try cursor.number(UInt32.self)
    storeIdentifier = UUID(uuid: bytes.loadUnaligned(fromByteOffset: 16, as: uuid_t.self))
    let hasFlags = minimumReaderVersion >= BinaryFormat.versionWithMetadataArea
    flags = hasFlags ? .init(littleEndian: bytes.loadUnaligned(fromByteOffset: Self.flagsOffset, as: UInt32.self)) : 0
    let checksum = bytes.loadUnaligned(fromByteOffset: Self.checksumOffset, as: UInt64.self)
    guard UInt64(littleEndian: checksum) == XXH64.hash(checked) else {
      throw fault.corrupt("the checksum of the header does not hold", at: 0)
    }
    try checkVersions(fault)
    let known = Self.historyFlag | (minimumReaderVersion >= BinaryFormat.versionWithLog ? Self.logFlag : 0)
    guard flags & ~known == 0 else {
      throw fault.corrupt("its flags are unknown", at: Self.flagsOffset)
    }
  }

  /// Whether the metadata is in a ``BinaryMetadataArea``.
  var hasMetadataArea: Bool { minimumReaderVersion >= BinaryFormat.versionWithMetadataArea }

  /// Whether saves may have been added to the file.
  var hasLog: Bool { minimumReaderVersion >= BinaryFormat.versionWithLog && flags & Self.logFlag != 0 }

  /// The offset of the first section.
  var firstSectionOffset: Int { hasLog ? BinarySlot.frontLength : BinaryFormat.headerLength }

  /// Whether the directory ends with a history.
  var hasHistory: Bool {
    hasMetadataArea ? flags & Self.historyFlag != 0 : minimumReaderVersion == BinaryFormat.versionWithHistory
  }

  private static func checkMagic(_ bytes: UnsafeRawBufferPointer, _ fault: BinaryFault) throws(PersistenceError) {
    if bytes.starts(with: BinaryFormat.magic) { return }
    if bytes.count < BinaryFormat.magic.count, BinaryFormat.magic.starts(with: bytes) {
      throw fault.corrupt("the file ends in its header", at: bytes.count)
    }
    if bytes.starts(with: BinaryFormat.magic.prefix(4)) {
      throw fault.corrupt("its first bytes were changed, as by a transfer that took it for text", at: 4)
    }
    if bytes.starts(with: BinaryFormat.coreDataMagic) {
      throw fault.unsupported(
        "This is a binary store of Apple's Core Data, whose type is CoreDataBinary.",
        recovery: "Open it as a store of that type, or give the file a name that does not end as Heartwood's own do.",
        at: 0
      )
    }
    throw fault.malformed("This is not a binary store of Heartwood: it does not begin as one does.")
  }

  private func checkVersions(_ fault: BinaryFault) throws(PersistenceError) {
    guard minimumReaderVersion >= 1, formatVersion >= minimumReaderVersion else {
      throw fault.corrupt("its version numbers contradict each other", at: Self.minimumReaderVersionOffset)
    }
    guard minimumReaderVersion <= BinaryFormat.readerVersion else {
      throw fault.unsupported(
        "The file needs a reader of format version \(minimumReaderVersion), and this library reads up to "
          + "\(BinaryFormat.readerVersion).",
        recovery: "Open it with a newer version of the library.",
        at: Self.minimumReaderVersionOffset
      )
    }
  }

  /// The header as it is stored in the file.
  var encoded: ByteSlice {
    let bytes = GrowableBytes(capacity: BinaryFormat.headerLength)
    BinaryFormat.magic.withUnsafeBytes { bytes.append($0) }
    bytes.append(formatVersion.littleEndian)
    bytes.append(minimumReaderVersion.littleEndian)
    bytes.append(storeIdentifier.uuid)
    bytes.append(flags.littleEndian)
    bytes.append(repeating: 0, count: Self.checksumOffset - bytes.count)
    bytes.append(XXH64.hash(UnsafeRawBufferPointer(bytes.unsafeMutableBytes)).littleEndian)
    return bytes.sealed()
  }
}

// MARK: BinaryTrailer

/// The last bytes of a file: the place of its directory, and the required length of the file.
struct BinaryTrailer: Sendable {
  let directory: BinarySection
  let fileLength: Int

  /// The offset of the checksum of the bytes before it.
  private static let checksumOffset = 48

  init(directory: BinarySection) {
    self.directory = directory
    self.fileLength = directory.end + BinaryFormat.trailerLength
  }

  /// Reads the trailer from the end of a file whose header was read, or of its part that was written as a whole.
  init(_ file: UnsafeRawBufferPointer, fault: BinaryFault) throws(PersistenceError) {
    let start = file.count - BinaryFormat.trailerLength
    guard start >= BinaryFormat.headerLength, file.count.isMultiple(of: BinaryFormat.alignment) else {
      throw fault.corrupt("it does not end where a file ends", at: file.count)
    }
    let bytes = UnsafeRawBufferPointer(rebasing: file[start...])
    guard bytes.suffix(BinaryFormat.endMagic.count).elementsEqual(BinaryFormat.endMagic) else {
      throw fault.corrupt("its last bytes are missing or changed", at: file.count - BinaryFormat.endMagic.count)
    }
    let checked = UnsafeRawBufferPointer(rebasing: bytes[..<Self.checksumOffset])
    let checksum = bytes.loadUnaligned(fromByteOffset: Self.checksumOffset, as: UInt64.self)
    guard UInt64(littleEndian: checksum) == XXH64.hash(checked) else {
      throw fault.corrupt("the checksum of the trailer does not hold", at: start)
    }
    var cursor = BinaryCursor(checked, start: start, fault: fault)
    directory = try BinarySection(&cursor)
    fileLength = try cursor.size()
    guard fileLength == file.count else { throw fault.corrupt("its length is not \(fileLength) bytes", at: file.count) }
    guard directory.isInside(BinaryFormat.headerLength..<start), directory.end == start else {
      throw fault.corrupt("the directory is outside of its place", at: start)
    }
  }

  /// The trailer as it is stored in the file.
  var encoded: ByteSlice {
    let bytes = GrowableBytes(capacity: BinaryFormat.trailerLength)
    directory.encode(to: bytes)
    bytes.append(UInt64(fileLength).littleEndian)
    bytes.append(repeating: 0, count: Self.checksumOffset - bytes.count)
    bytes.append(XXH64.hash(UnsafeRawBufferPointer(bytes.unsafeMutableBytes)).littleEndian)
    BinaryFormat.endMagic.withUnsafeBytes { bytes.append($0) }
    return bytes.sealed()
  }
}

// MARK: BinaryMetadataArea

/// The metadata of a file in two copies, of which one is intact while the other is overwritten.
struct BinaryMetadataArea: Sendable {
  /// The length of the part before the copies: a mark, and zeros.
  private static let headLength = 64
  private static let settled: UInt8 = 0
  /// The two marks differ in all bits, so no single changed bit turns one into the other.
  private static let changing: UInt8 = 0xFF
  private static let minimumCapacity = 1024
  /// The length of the checksum and the length before the text of a copy.
  private static let copyHeadLength = 16

  private let offset: Int
  private let capacity: Int
  /// The valid copy.
  private let current: Int
  private let isSettled: Bool
  /// The text of the metadata.
  let json: Data

  /// Reads the area from a file.
  ///
  /// - Parameter offset: the offset in the file at which it begins.
  init(_ bytes: UnsafeRawBufferPointer, offset: Int, fault: BinaryFault) throws(PersistenceError) {
    self.offset = offset
    let capacity = (bytes.count - Self.headLength) / 2
    guard capacity >= BinaryFormat.alignment, capacity.isMultiple(of: BinaryFormat.alignment),
      bytes.count == Self.headLength + 2 * capacity, bytes[1..<Self.headLength].allSatisfy({ $0 == 0 }),
      bytes[0] == Self.settled || bytes[0] == Self.changing
    else { throw fault.corrupt("the place of the metadata was changed", at: offset) }
    let isSettled = bytes[0] == Self.settled
    let copies = [0, 1].map { Self.text(ofCopy: $0, capacity, in: bytes) }
    // Copies differ, or are invalid, only if a change of them was interrupted.
    guard let current = copies.firstIndex(where: { $0 != nil }), let text = copies[current],
      !isSettled || copies[0] == copies[1]
    else { throw fault.corrupt("the checksum of the metadata does not hold", at: offset) }
    self.capacity = capacity
    self.isSettled = isSettled
    self.current = current
    json = text
  }

  /// Returns the texts of the copies whose checksum is right, in an area that may be damaged: none, one, or two, which
  /// may differ.
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
  /// Returns the length of a copy for a text: a power of two, so that most other texts fit in its place, and the same
  /// for every text that does.
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

  /// Returns the area as it is stored in a new file.
  static func encoded(_ json: Data) -> ByteSlice {
    let copy = copy(of: json, capacity: capacity(for: json))
    let head = [settled] + [UInt8](repeating: 0, count: headLength - 1)
    return ByteSlice(copying: Data(head + copy + copy))
  }

  /// Returns patches that make the area contain `json`, or nil if a new file would have an area of another length.
  ///
  /// The valid copy is written last: until then it is read, and then the other one.
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
