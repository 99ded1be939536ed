import HeartwoodStore

/// The last bytes of a file: where its directory is, and how long the file must be.
struct BinaryTrailer: Sendable {
  let directory: BinarySection
  let fileLength: Int

  /// Where the checksum of the bytes before it lies.
  private static let checksumOffset = 48

  init(directory: BinarySection) {
    self.directory = directory
    self.fileLength = directory.end + BinaryFormat.trailerLength
  }

  /// Reads the trailer from the end of a file whose header was read.
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
      throw fault.corrupt("the directory lies outside of its place", at: start)
    }
  }

  /// The trailer as it lies in the file.
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
