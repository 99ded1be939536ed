/// The hash by which formats detect altered bytes: XXH64, written from its public specification (xxhash_spec.md in the
/// repository of xxHash, github.com/Cyan4973/xxHash).
///
/// It detects accidents. It is no defence against forged files.
package enum XXH64 {
  private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
  private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
  private static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
  private static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
  private static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5
  private static let stripeLength = 32

  /// Returns the hash of `bytes`. O(n).
  package static func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt64 = 0) -> UInt64 {
    let stripesEnd = bytes.count - bytes.count % stripeLength
    var hash = stripesEnd > 0 ? stripes(bytes, end: stripesEnd, seed: seed) : seed &+ prime5
    hash &+= UInt64(bytes.count)
    return avalanche(tail(bytes, from: stripesEnd, hash))
  }

  /// Returns the hash of `slice`. O(n).
  package static func hash(_ slice: ByteSlice) -> UInt64 {
    withExtendedLifetime(slice) { hash(slice.unsafeBytes) }
  }

  /// Computes four lanes, each with 8 bytes of every stripe, so that a processor works on all of them at once.
  private static func stripes(_ bytes: UnsafeRawBufferPointer, end: Int, seed: UInt64) -> UInt64 {
    var lane1 = seed &+ prime1 &+ prime2
    var lane2 = seed &+ prime2
    var lane3 = seed
    var lane4 = seed &- prime1
    var offset = 0
    while offset < end {
      lane1 = round(lane1, word(bytes, offset))
      lane2 = round(lane2, word(bytes, offset &+ 8))
      lane3 = round(lane3, word(bytes, offset &+ 16))
      lane4 = round(lane4, word(bytes, offset &+ 24))
      offset &+= stripeLength
    }
    var hash = rotated(lane1, 1) &+ rotated(lane2, 7) &+ rotated(lane3, 12) &+ rotated(lane4, 18)
    for lane in [lane1, lane2, lane3, lane4] { hash = (hash ^ round(0, lane)) &* prime1 &+ prime4 }
    return hash
  }

  private static func tail(_ bytes: UnsafeRawBufferPointer, from start: Int, _ initial: UInt64) -> UInt64 {
    var hash = initial
    var offset = start
    while bytes.count - offset >= 8 {
      hash = rotated(hash ^ round(0, word(bytes, offset)), 27) &* prime1 &+ prime4
      offset += 8
    }
    if bytes.count - offset >= 4 {
      let half = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
      hash = rotated(hash ^ UInt64(half) &* prime1, 23) &* prime2 &+ prime3
      offset += 4
    }
    while offset < bytes.count {
      hash = rotated(hash ^ UInt64(bytes[offset]) &* prime5, 11) &* prime1
      offset += 1
    }
    return hash
  }

  private static func avalanche(_ initial: UInt64) -> UInt64 {
    var hash = (initial ^ initial &>> 33) &* prime2
    hash = (hash ^ hash &>> 29) &* prime3
    return hash ^ hash &>> 32
  }

  @inline(__always)
  private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  @inline(__always)
  private static func round(_ lane: UInt64, _ input: UInt64) -> UInt64 {
    rotated(lane &+ input &* prime2, 31) &* prime1
  }

  @inline(__always)
  private static func rotated(_ value: UInt64, _ distance: UInt64) -> UInt64 {
    value &<< distance | value &>> (64 &- distance)
  }
}
