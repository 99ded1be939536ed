import CZlib
import HeartwoodStore

/// Compresses bytes as DEFLATE data without a header, which ``RawInflation`` expands.
///
/// An unsafe place: zlib reads and writes in the buffers that it is given, whose lengths it is told.
enum RawDeflation {
  /// How much memory zlib takes: its default.
  private static let memoryLevel: Int32 = 8

  /// Nil where there is no memory for it, or where there are more than 4 GB.
  static func compress(_ bytes: [UInt8]) -> [UInt8]? {
    guard bytes.count <= UInt32.max else { return nil }
    var stream = z_stream()
    let start = deflateInit2_(
      &stream,
      Z_DEFAULT_COMPRESSION,
      Z_DEFLATED,
      RawInflation.rawWindow,
      memoryLevel,
      Z_DEFAULT_STRATEGY,
      ZLIB_VERSION,
      Int32(MemoryLayout<z_stream>.size)
    )
    guard start == Z_OK else { return nil }
    defer { deflateEnd(&stream) }
    // As long as the data can get at most, so that one step does all.
    guard let capacity = UInt32(exactly: deflateBound(&stream, UInt(bytes.count))) else { return nil }
    let output = GrowableBytes()
    var status = Z_OK
    // zlib only reads what it is given as input.
    bytes.withUnsafeBufferPointer { source in
      stream.next_in = UnsafeMutablePointer(mutating: source.baseAddress)
      stream.avail_in = UInt32(source.count)
      output.appendUnsafely(capacity: Int(capacity)) { buffer in
        stream.next_out = buffer.bindMemory(to: UInt8.self).baseAddress
        stream.avail_out = capacity
        status = deflate(&stream, Z_FINISH)
        return Int(capacity - stream.avail_out)
      }
    }
    return status == Z_STREAM_END ? Array(output.unsafeMutableBytes) : nil
  }
}
