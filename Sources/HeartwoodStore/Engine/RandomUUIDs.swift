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

/// Random UUIDs (version 4 of RFC 9562), as many as are asked for.
///
/// The system is asked for the random bytes of several at once: a call for each costs more than all the rest of an insertion.
struct RandomUUIDs {
  /// As many bytes as the system gives in one call, a multiple of the 16 of a UUID.
  private static let batchByteCount = 256

  private var bytes: [UInt8] = []

  mutating func next() -> UUID {
    if bytes.isEmpty { refill() }
    var uuid: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    withUnsafeMutableBytes(of: &uuid) { target in
      target.copyBytes(from: bytes.suffix(16))
      target[6] = target[6] & 0x0F | 0x40
      target[8] = target[8] & 0x3F | 0x80
    }
    bytes.removeLast(16)
    return UUID(uuid: uuid)
  }

  private mutating func refill() {
    bytes = [UInt8](unsafeUninitializedCapacity: Self.batchByteCount) { buffer, count in
      count = Self.batchByteCount
      #if canImport(Darwin)
        arc4random_buf(buffer.baseAddress, count)
      #else
        if getentropy(buffer.baseAddress, count) != 0 {
          for index in 0..<count { buffer[index] = .random(in: .min ... .max) }
        }
      #endif
    }
  }
}
