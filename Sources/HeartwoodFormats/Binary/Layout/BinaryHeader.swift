import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The first bytes of a file: what it is, who can read it, and which store it holds.
struct BinaryHeader: Sendable {
  let formatVersion: UInt32
  let minimumReaderVersion: UInt32
  let storeIdentifier: UUID
  /// Zero before version 3.
  private let flags: UInt32

  private static let historyFlag: UInt32 = 1
  private static let flagsOffset = 32
  /// Where the checksum of the bytes before it lies.
  private static let checksumOffset = 56
  private static let minimumReaderVersionOffset = 12

  /// The header of a file that is written now.
  init(storeIdentifier: UUID, hasHistory: Bool) {
    self.formatVersion = BinaryFormat.versionWithMetadataArea
    self.minimumReaderVersion = BinaryFormat.versionWithMetadataArea
    self.storeIdentifier = storeIdentifier
    self.flags = hasHistory ? Self.historyFlag : 0
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
    guard flags & ~Self.historyFlag == 0 else {
      throw fault.corrupt("its flags are none that there are", at: Self.flagsOffset)
    }
  }

  /// Whether the metadata lie in a ``BinaryMetadataArea``.
  var hasMetadataArea: Bool { minimumReaderVersion >= BinaryFormat.versionWithMetadataArea }

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
        "This is a binary store of Apple's Core Data; reading these is not supported yet.",
        recovery: "Convert it to an XML or SQLite store where it was made.",
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

  /// The header as it lies in the file.
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
