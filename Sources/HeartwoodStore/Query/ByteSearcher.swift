/// Looks for a sequence of bytes in many others, 32 places at a time.
///
/// Two bytes of the sequence are compared at each place first, those that are rare in text; the others only where both are there.
/// What is searched is given as a pointer and an end, and nothing outside is read.
package struct ByteSearcher: Sendable {
  private let needle: [UInt8]
  /// Which bits are set in both sides before they are compared: 0x20 for letters where ASCII case does not count.
  private let masks: [UInt8]
  /// The places of the two bytes in the needle, in ascending order.
  private let anchors: (first: Int, second: Int)

  /// - Parameter ignoresASCIICase: whether `needle`, whose ASCII letters are small ones, is also found in capitals.
  package init(_ needle: [UInt8], ignoresASCIICase: Bool = false) {
    self.needle = needle
    self.masks = needle.map { ignoresASCIICase && $0 &- UInt8(ascii: "a") < 26 ? 0x20 : 0 }
    let byRarity = needle.indices.sorted { Self.frequency(needle[$0]) < Self.frequency(needle[$1]) }
    let rarest = byRarity.prefix(2).sorted()
    self.anchors = (rarest.first ?? 0, rarest.last ?? 0)
  }

  package var count: Int { needle.count }

  /// A rough order of how often bytes are met in text.
  private static func frequency(_ byte: UInt8) -> Int {
    let common = Array(" etaoinsrhldcumfpgwybvk".utf8)
    if let place = common.firstIndex(of: byte | 0x20) { return 100 - place }
    return byte < 0x80 ? 10 : 60
  }
}

extension ByteSearcher {
  private typealias Block = SIMD32<UInt8>

  /// The first place from `start` on where the needle begins and ends before `end`; nil where there is none.
  ///
  /// - Parameter base: at least `end` bytes.
  @inline(__always)
  package func unsafeFirst(in base: UnsafeRawPointer, from start: Int, to end: Int) -> Int? {
    guard end &- start >= needle.count else { return nil }
    if needle.isEmpty { return start }
    return needle.withUnsafeBufferPointer { needle in
      masks.withUnsafeBufferPointer { masks in
        search(base, start, end, needle, masks)
      }
    }
  }

  private func search(
    _ base: UnsafeRawPointer,
    _ start: Int,
    _ end: Int,
    _ needle: UnsafeBufferPointer<UInt8>,
    _ masks: UnsafeBufferPointer<UInt8>
  ) -> Int? {
    let width = Block.scalarCount
    let first = Block(repeating: needle[anchors.first] | masks[anchors.first])
    let firstMask = Block(repeating: masks[anchors.first])
    let second = Block(repeating: needle[anchors.second] | masks[anchors.second])
    let secondMask = Block(repeating: masks[anchors.second])
    var place = start
    // A block is read at the second anchor too, which lies inside as long as it ends before the end.
    while place &+ anchors.second &+ width <= end {
      let a = base.loadUnaligned(fromByteOffset: place &+ anchors.first, as: Block.self) | firstMask
      let b = base.loadUnaligned(fromByteOffset: place &+ anchors.second, as: Block.self) | secondMask
      let candidates = unsafeBitCast((a .== first) .& (b .== second), to: SIMD4<UInt64>.self)
      if candidates[0] | candidates[1] | candidates[2] | candidates[3] != 0 {
        for lane in 0..<4 {
          var rest = candidates[lane]
          while rest != 0 {
            let found = place &+ lane &* 8 &+ rest.trailingZeroBitCount / 8
            if matches(base, found, end, needle, masks) { return found }
            rest &= ~(0xFF &<< UInt64(rest.trailingZeroBitCount & ~7))
          }
        }
      }
      place &+= width
    }
    while place &+ needle.count <= end {
      if matches(base, place, end, needle, masks) { return place }
      place &+= 1
    }
    return nil
  }

  @inline(__always)
  private func matches(
    _ base: UnsafeRawPointer,
    _ place: Int,
    _ end: Int,
    _ needle: UnsafeBufferPointer<UInt8>,
    _ masks: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    guard place &+ needle.count <= end else { return false }
    for index in 0..<needle.count {
      let byte = base.load(fromByteOffset: place &+ index, as: UInt8.self) | masks[index]
      if byte != needle[index] | masks[index] { return false }
    }
    return true
  }

  /// Whether the needle stands at `place`, before `end`.
  @inline(__always)
  package func unsafeStands(at place: Int, in base: UnsafeRawPointer, to end: Int) -> Bool {
    guard end &- place >= needle.count else { return false }
    for index in 0..<needle.count {
      let byte = base.load(fromByteOffset: place &+ index, as: UInt8.self) | masks[index]
      if byte != needle[index] | masks[index] { return false }
    }
    return true
  }
}

/// Looks for bytes that are no ASCII.
package enum ASCIIScan {
  /// The first place from `start` on, before `end`, of a byte above 0x7F; nil where there is none.
  ///
  /// - Parameter base: at least `end` bytes.
  package static func unsafeFirstBeyond(in base: UnsafeRawPointer, from start: Int, to end: Int) -> Int? {
    var place = start
    while place &+ 32 <= end {
      let block = base.loadUnaligned(fromByteOffset: place, as: SIMD4<UInt64>.self)
      if (block[0] | block[1] | block[2] | block[3]) & 0x8080_8080_8080_8080 != 0 { break }
      place &+= 32
    }
    while place < end {
      if base.load(fromByteOffset: place, as: UInt8.self) >= 0x80 { return place }
      place &+= 1
    }
    return nil
  }
}
