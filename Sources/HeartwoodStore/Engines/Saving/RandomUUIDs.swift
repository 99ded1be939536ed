#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Random UUIDs (version 4 of RFC 9562), as many as are asked for at once: a call of the system for each costs more than all the
/// rest of an insertion.
enum RandomUUIDs {
  private static let width = MemoryLayout<uuid_t>.size
  /// As many bytes as the system gives in one call.
  private static let batchByteCount = 256

  /// The bytes of `count` UUIDs, one after another.
  static func bytes(count: Int) -> ByteSlice {
    let bytes = GrowableBytes(capacity: count * width)
    bytes.appendUnsafely(capacity: count * width) { target in
      fill(target)
      for index in 0..<count {
        target[index &* width &+ 6] = target[index &* width &+ 6] & 0x0F | 0x40
        target[index &* width &+ 8] = target[index &* width &+ 8] & 0x3F | 0x80
      }
      return count * width
    }
    return bytes.sealed()
  }

  private static func fill(_ target: UnsafeMutableRawBufferPointer) {
    #if canImport(Darwin)
      arc4random_buf(target.baseAddress, target.count)
    #else
      for start in stride(from: 0, to: target.count, by: batchByteCount) {
        let batch = UnsafeMutableRawBufferPointer(rebasing: target[start...].prefix(batchByteCount))
        if getentropy(batch.baseAddress, batch.count) != 0 {
          for index in batch.indices { batch[index] = .random(in: .min ... .max) }
        }
      }
    #endif
  }
}
