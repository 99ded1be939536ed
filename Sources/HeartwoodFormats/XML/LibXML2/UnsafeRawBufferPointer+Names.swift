extension UnsafeRawBufferPointer {
  /// Whether both have the same bytes.
  @inline(__always)
  func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    guard let base = baseAddress, let otherBase = other.baseAddress else { return true }
    guard count >= 8 else { return Self.haveSameBytes(base, otherBase, fewerThanEight: count) }
    // Names are short: words from the beginning on, and one that ends where they end.
    var offset = 0
    while offset < count &- 8 {
      if Self.word(base, offset) != Self.word(otherBase, offset) { return false }
      offset &+= 8
    }
    return Self.word(base, count &- 8) == Self.word(otherBase, count &- 8)
  }

  @inline(__always)
  private static func word(_ base: UnsafeRawPointer, _ offset: Int) -> UInt64 {
    base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
  }

  @inline(__always)
  private static func haveSameBytes(
    _ base: UnsafeRawPointer,
    _ other: UnsafeRawPointer,
    fewerThanEight count: Int
  ) -> Bool {
    if count >= 4 {
      return base.loadUnaligned(as: UInt32.self) == other.loadUnaligned(as: UInt32.self)
        && base.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
          == other.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
    }
    for offset in 0..<count
    where base.load(fromByteOffset: offset, as: UInt8.self) != other.load(fromByteOffset: offset, as: UInt8.self) {
      return false
    }
    return true
  }

  /// Whether there are only blanks and control characters.
  @inline(__always)
  var isBlank: Bool {
    guard let base = baseAddress else { return true }
    var offset = 0
    while count &- offset >= 8 {
      // Adding 0x5F sets the highest bit of bytes above a space, as long as it is not set already.
      let word = Self.word(base, offset)
      if ((word & 0x7F7F_7F7F_7F7F_7F7F) &+ 0x5F5F_5F5F_5F5F_5F5F | word) & 0x8080_8080_8080_8080 != 0 { return false }
      offset &+= 8
    }
    while offset < count {
      if base.load(fromByteOffset: offset, as: UInt8.self) > UInt8(ascii: " ") { return false }
      offset &+= 1
    }
    return true
  }
}
