/// Looks for a sequence of bytes in many others, 32 places at a time, in four words of eight bytes.
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
    let first = Anchor(anchors.first, needle[anchors.first], mask: masks[anchors.first])
    let second = Anchor(anchors.second, needle[anchors.second], mask: masks[anchors.second])
    var place = start
    // Words are read at the second anchor too, which lies inside as long as they end before the end.
    while place &+ anchors.second &+ 32 <= end {
      let a = candidates(base, place, first, second)
      let b = candidates(base, place &+ 8, first, second)
      let c = candidates(base, place &+ 16, first, second)
      let d = candidates(base, place &+ 24, first, second)
      if a | b | c | d != 0 {
        for (offset, word) in [(0, a), (8, b), (16, c), (24, d)] {
          var rest = word
          while rest != 0 {
            let found = place &+ offset &+ rest.trailingZeroBitCount / 8
            if matches(base, found, end, needle, masks) { return found }
            rest &= rest &- 1
          }
        }
      }
      place &+= 32
    }
    while place &+ needle.count <= end {
      if matches(base, place, end, needle, masks) { return place }
      place &+= 1
    }
    return nil
  }

  /// A byte of the needle in all eight bytes of a word.
  private struct Anchor {
    let place: Int
    let pattern: UInt64
    let mask: UInt64

    init(_ place: Int, _ byte: UInt8, mask: UInt8) {
      let everywhere: UInt64 = 0x0101_0101_0101_0101
      self.place = place
      self.pattern = UInt64(byte | mask) &* everywhere
      self.mask = UInt64(mask) &* everywhere
    }
  }

  /// The upper bit of each of eight places at which both anchors are. A place behind one may be told wrongly.
  @inline(__always)
  private func candidates(_ base: UnsafeRawPointer, _ place: Int, _ first: Anchor, _ second: Anchor) -> UInt64 {
    let a = base.loadUnaligned(fromByteOffset: place &+ first.place, as: UInt64.self).littleEndian | first.mask
    let b = base.loadUnaligned(fromByteOffset: place &+ second.place, as: UInt64.self).littleEndian | second.mask
    let difference = (a ^ first.pattern) | (b ^ second.pattern)
    return (difference &- 0x0101_0101_0101_0101) & ~difference & 0x8080_8080_8080_8080
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
      let a = base.loadUnaligned(fromByteOffset: place, as: UInt64.self)
      let b = base.loadUnaligned(fromByteOffset: place &+ 8, as: UInt64.self)
      let c = base.loadUnaligned(fromByteOffset: place &+ 16, as: UInt64.self)
      let d = base.loadUnaligned(fromByteOffset: place &+ 24, as: UInt64.self)
      if (a | b | c | d) & 0x8080_8080_8080_8080 != 0 { break }
      place &+= 32
    }
    while place < end {
      if base.load(fromByteOffset: place, as: UInt8.self) >= 0x80 { return place }
      place &+= 1
    }
    return nil
  }
}
