/// Hashes for tables of codes. They differ from process to process, so that nobody can make data that all fall into one place.
enum CodeHash {
  private static let seed = UInt64.random(in: 0...UInt64.max) | 1
  private static let multiplier: UInt64 = 0x9E37_79B9_7F4A_7C15

  @inline(__always)
  static func hash(_ number: UInt64) -> UInt64 {
    let product = (number ^ seed).multipliedFullWidth(by: multiplier)
    return (product.high ^ product.low) &* multiplier
  }

  static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var hash = UInt64(bytes.count)
    var place = 0
    while place &+ 8 <= bytes.count {
      hash = self.hash(hash ^ bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
      place &+= 8
    }
    var rest: UInt64 = 0
    while place < bytes.count {
      rest = rest &<< 8 | UInt64(bytes[place])
      place &+= 1
    }
    return self.hash(hash ^ rest)
  }

  /// The code of one value, such as none, which it gets when it is first met.
  @inline(__always)
  static func code(_ code: inout UInt32?, _ next: inout UInt32) -> UInt32 {
    if let code { return code }
    code = next
    next &+= 1
    return next &- 1
  }
}
