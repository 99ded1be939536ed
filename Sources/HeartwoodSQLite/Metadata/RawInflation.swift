import CZlib
import HeartwoodStore

/// Expands DEFLATE data without a header, as Core Data keeps its models, up to a length.
///
/// An unsafe place: zlib reads and writes in the buffers that it is given, whose lengths it is told.
enum RawInflation {
  enum Failure: Error {
    /// The bytes are no DEFLATE data, or end too early.
    case damaged
    /// There is more in them than was allowed.
    case tooLong
    case outOfMemory
  }

  /// Tells zlib that the data have no header, and the size of the window.
  static let rawWindow: Int32 = -15
  private static let stepLength = 1 << 18

  static func expand(_ bytes: [UInt8], limit: Int) throws(Failure) -> [UInt8] {
    guard bytes.count <= UInt32.max else { throw .tooLong }
    var stream = z_stream()
    guard inflateInit2_(&stream, rawWindow, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
      throw .outOfMemory
    }
    defer { inflateEnd(&stream) }
    let output = GrowableBytes()
    // zlib only reads what it is given as input.
    let status = bytes.withUnsafeBufferPointer { source in
      stream.next_in = UnsafeMutablePointer(mutating: source.baseAddress)
      stream.avail_in = UInt32(source.count)
      var status = Z_OK
      while status == Z_OK, output.count <= limit { status = step(&stream, to: output) }
      return status
    }
    guard output.count <= limit else { throw .tooLong }
    guard status == Z_STREAM_END else { throw status == Z_MEM_ERROR ? .outOfMemory : .damaged }
    return Array(output.unsafeMutableBytes)
  }

  private static func step(_ stream: inout z_stream, to output: GrowableBytes) -> Int32 {
    var status = Z_OK
    output.appendUnsafely(capacity: stepLength) { buffer in
      stream.next_out = buffer.bindMemory(to: UInt8.self).baseAddress
      stream.avail_out = UInt32(stepLength)
      status = inflate(&stream, Z_NO_FLUSH)
      return stepLength - Int(stream.avail_out)
    }
    return status
  }
}
