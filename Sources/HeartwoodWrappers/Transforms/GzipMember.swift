import CZlib
import HeartwoodStore

/// A member of a gzip file (RFC 1952), which can be expanded separately.
///
/// Members that Heartwood wrote have their lengths in a subfield `HW` of the header's extra field: 4 bytes for the
/// length of the member and 4 bytes for the length of its contents, so that several members can be expanded at once.
enum GzipMember {
  static let magic: [UInt8] = [0x1F, 0x8B, 8]
  /// The fixed part, the length of the extra field, and the subfield's name and length.
  private static let headerLength = 10 + 2 + 4 + 8
  private static let trailerLength = 8
  /// The argument that makes zlib read and write raw deflate data with the greatest window.
  private static let rawWindow: Int32 = -15
  private static let gzipWindow: Int32 = 15 + 16
  private static let lengthLimit = 1 << 30
  private static let greatestRoom = 1 << 18
}

// MARK: Writing

extension GzipMember {
  static func compress(_ bytes: UnsafeRawBufferPointer, level: Int32) throws -> ByteSlice {
    let output = GrowableBytes()
    header.withUnsafeBytes { output.append($0) }
    var stream = z_stream()
    guard deflateInit2_(&stream, level, Z_DEFLATED, rawWindow, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, streamSize) == Z_OK
    else {
      throw outOfMemory
    }
    defer { deflateEnd(&stream) }
    let capacity = Int(deflateBound(&stream, uLong(bytes.count)))
    var isWhole = false
    output.appendUnsafely(capacity: capacity) { buffer in
      // zlib only reads its input.
      stream.next_in = UnsafeMutablePointer(mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
      stream.avail_in = UInt32(bytes.count)
      stream.next_out = buffer.bindMemory(to: UInt8.self).baseAddress
      stream.avail_out = UInt32(capacity)
      isWhole = deflate(&stream, Z_FINISH) == Z_STREAM_END
      return capacity - Int(stream.avail_out)
    }
    guard isWhole else { throw outOfMemory }
    output.append(checksum(bytes).littleEndian)
    output.append(UInt32(bytes.count).littleEndian)
    let length = UInt32(output.count)
    output.unsafeMutableBytes.storeBytes(of: length.littleEndian, toByteOffset: 16, as: UInt32.self)
    output.unsafeMutableBytes.storeBytes(of: UInt32(bytes.count).littleEndian, toByteOffset: 20, as: UInt32.self)
    return output.sealed()
  }

  /// Returns a header with an extra field, whose lengths are set later. It has no time and no system, so that the same
  /// contents give the same bytes.
  private static let header: [UInt8] =
    magic + [4, 0, 0, 0, 0, 0, 255, 12, 0, UInt8(ascii: "H"), UInt8(ascii: "W"), 8, 0]
    + [UInt8](repeating: 0, count: 8)

  private static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    UInt32(truncatingIfNeeded: crc32_z(0, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count))
  }

  private static var streamSize: Int32 { Int32(MemoryLayout<z_stream>.size) }

  private static var outOfMemory: PersistenceError {
    PersistenceError(.fileWriteFailed, "There is no memory to compress with.")
  }
}

// MARK: Reading

extension GzipMember {
  /// Returns the members of a file and the lengths of their contents, if each member has its lengths in its header.
  static func all(
    in bytes: UnsafeRawBufferPointer,
    path: String
  ) throws(PersistenceError) -> (ranges: [Range<Int>], lengths: [Int]?) {
    var ranges: [Range<Int>] = []
    var lengths: [Int] = []
    var offset = 0
    while offset < bytes.count {
      guard let (length, content) = ownLengths(in: bytes, at: offset) else { return ([], nil) }
      guard length <= bytes.count - offset else { throw cutShort(at: offset, path: path) }
      ranges.append(offset..<(offset + length))
      lengths.append(content)
      offset += length
    }
    return (ranges, lengths)
  }

  /// Returns the lengths in the header of a member that Heartwood wrote, or nil for members of other programs.
  static func ownLengths(in bytes: UnsafeRawBufferPointer, at offset: Int) -> (length: Int, content: Int)? {
    guard bytes.count - offset >= headerLength + trailerLength,
      (0..<16).allSatisfy({ bytes[offset + $0] == header[$0] })
    else { return nil }
    let length = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 16, as: UInt32.self)))
    let content = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 20, as: UInt32.self)))
    return length >= headerLength + trailerLength && content <= lengthLimit ? (length, content) : nil
  }

  /// Expands the member at `offset`, and returns where it ends.
  ///
  /// - Parameters:
  ///   - limit: the greatest length of its contents.
  ///   - excess: the error to throw if they are longer.
  static func expand(
    _ bytes: UnsafeRawBufferPointer,
    from offset: Int,
    limit: Int,
    orThrow excess: @autoclosure () -> PersistenceError,
    path: String
  ) throws(PersistenceError) -> (bytes: ByteSlice, end: Int) {
    var stream = z_stream()
    guard inflateInit2_(&stream, gzipWindow, ZLIB_VERSION, streamSize) == Z_OK else {
      throw PersistenceError(.fileReadFailed, "There is no memory to expand with.", context: .init(path: path))
    }
    defer { inflateEnd(&stream) }
    let output = GrowableBytes()
    var position = offset
    var status = Z_OK
    while status != Z_STREAM_END {
      status = step(&stream, bytes, &position, to: output, room: room(behind: output.count, limit: limit))
      if output.count > limit { throw excess() }
      if status == Z_BUF_ERROR, position >= bytes.count { throw cutShort(at: offset, path: path) }
      guard status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR else {
        throw damaged(at: offset, path: path)
      }
    }
    return (output.sealed(), position)
  }

  /// The outcome of expanding a member.
  enum Ending {
    /// The member is complete, and its checksum is right.
    case whole
    /// The file ends before the member does.
    case cutShort
    /// The bytes were changed.
    case damaged
    /// Its contents are longer than allowed.
    case tooLong
  }

  /// Expands the member at `offset` as far as possible, and returns where it ends.
  static func expandSound(
    _ bytes: UnsafeRawBufferPointer,
    from offset: Int,
    limit: Int
  ) -> (bytes: ByteSlice, end: Int, ending: Ending) {
    var stream = z_stream()
    guard inflateInit2_(&stream, gzipWindow, ZLIB_VERSION, streamSize) == Z_OK else {
      return (.empty, offset, .damaged)
    }
    defer { inflateEnd(&stream) }
    let output = GrowableBytes()
    var position = offset
    while true {
      let status = step(&stream, bytes, &position, to: output, room: room(behind: output.count, limit: limit))
      if output.count > limit { return (output.sealed(), position, .tooLong) }
      if status == Z_STREAM_END { return (output.sealed(), position, .whole) }
      if status == Z_BUF_ERROR, position >= bytes.count { return (output.sealed(), position, .cutShort) }
      guard status == Z_OK || status == Z_BUF_ERROR else { return (output.sealed(), position, .damaged) }
    }
  }

  /// Returns the offset of the next member that Heartwood wrote, at or after `offset`.
  static func nextOwn(in bytes: UnsafeRawBufferPointer, from offset: Int) -> Int? {
    var position = offset
    while position + headerLength <= bytes.count {
      guard let place = bytes[position...].firstIndex(of: magic[0]) else { return nil }
      if ownLengths(in: bytes, at: place) != nil { return place }
      position = place + 1
    }
    return nil
  }

  /// Returns how many bytes to allocate for the next step: one byte more than the limit allows, so that an excess is
  /// detected, and at most `greatestRoom`, because many members may be empty, and each keeps its memory until all are
  /// expanded.
  static func room(behind count: Int, limit: Int) -> Int {
    min(max(limit - count, 0), greatestRoom - 1) + 1
  }

  /// Expands some more bytes. zlib does not read or write beyond the given buffers.
  private static func step(
    _ stream: inout z_stream,
    _ bytes: UnsafeRawBufferPointer,
    _ position: inout Int,
    to output: GrowableBytes,
    room: Int
  ) -> Int32 {
    let input = min(bytes.count - position, 1 << 24)
    var status = Z_OK
    output.appendUnsafely(capacity: room) { buffer in
      let source = UnsafeRawBufferPointer(rebasing: bytes[position..<(position + input)])
      stream.next_in = UnsafeMutablePointer(mutating: source.bindMemory(to: UInt8.self).baseAddress)
      stream.avail_in = UInt32(input)
      stream.next_out = buffer.bindMemory(to: UInt8.self).baseAddress
      stream.avail_out = UInt32(room)
      status = inflate(&stream, Z_NO_FLUSH)
      return room - Int(stream.avail_out)
    }
    position += input - Int(stream.avail_in)
    return status
  }

  /// Returns the beginning of the contents of a file that begins with `prefix`.
  static func beginning(of prefix: [UInt8]) -> [UInt8] {
    prefix.withUnsafeBytes { bytes in
      var stream = z_stream()
      guard inflateInit2_(&stream, gzipWindow, ZLIB_VERSION, streamSize) == Z_OK else { return [] }
      defer { inflateEnd(&stream) }
      let output = GrowableBytes()
      var position = 0
      _ = step(&stream, bytes, &position, to: output, room: greatestRoom)
      return Array(output.unsafeMutableBytes)
    }
  }

  static func cutShort(at offset: Int, path: String) -> PersistenceError {
    PersistenceError(
      .fileCorrupt,
      "The compressed bytes from here on were cut short.",
      context: .init(path: path, byteOffset: offset)
    )
  }

  static func damaged(at offset: Int, path: String) -> PersistenceError {
    PersistenceError(
      .fileCorrupt,
      "The compressed bytes from here on were changed since they were written.",
      context: .init(path: path, byteOffset: offset)
    )
  }

  static func tooLong(limit: Int, path: String) -> PersistenceError {
    PersistenceError(
      .valueUnsupported,
      "The file expands to more than \(limit) bytes.",
      recovery: .raiseLimit(.maximumExpandedLength),
      context: .init(path: path)
    )
  }
}
