/// Searches for a sequence of bytes, 32 places at a time, in four words of eight bytes.
///
/// At each place, two bytes of the sequence that are rare in text are compared first, and the others only if both
/// match. If that takes too long because the sequence and the text are repetitive, each byte is visited in turn and
/// only once: no search takes more than O(bytes + sequence). The text is given as a pointer and an end, and nothing
/// outside of it is read.
package struct ByteSearcher: Sendable {
  private let needle: [UInt8]
  /// The bits that are set in both sides before they are compared: 0x20 for letters if ASCII case is ignored.
  private let masks: [UInt8]
  /// The indexes of the two rare bytes in the needle, in ascending order.
  private let anchors: (first: Int, second: Int)

  /// Prepares a search.
  ///
  /// - Parameter ignoresASCIICase: whether `needle`, whose ASCII letters must be lowercase, is also found in uppercase.
  package init(_ needle: [UInt8], ignoresASCIICase: Bool = false) {
    self.needle = needle
    self.masks = needle.map { ignoresASCIICase && $0 &- UInt8(ascii: "a") < 26 ? 0x20 : 0 }
    let frequencies = Self.frequencies
    self.anchors = Self.anchors(of: needle) { frequencies[Int($0)] }
  }

  /// Returns the indexes of the two rarest bytes of `needle` in ascending order. `frequency` is called once for each
  /// byte.
  package static func anchors(of needle: [UInt8], frequency: (UInt8) -> Int) -> (first: Int, second: Int) {
    var rarest: (place: Int, frequency: Int)?
    var next: (place: Int, frequency: Int)?
    for (place, byte) in needle.enumerated() {
      let candidate = (place, frequency(byte))
      if candidate.1 < rarest?.frequency ?? .max {
        (rarest, next) = (candidate, rarest)
      } else if candidate.1 < next?.frequency ?? .max {
        next = candidate
      }
    }
    let places = [rarest, next].compactMap { $0?.place }.sorted()
    return (places.first ?? 0, places.last ?? 0)
  }

  /// A rough rank of how frequent each byte is in text, by byte.
  private static let frequencies: [Int] = (0...255).map { (byte: UInt8) -> Int in
    let common = Array(" etaoinsrhldcumfpgwybvk".utf8)
    if let place = common.firstIndex(of: byte | 0x20) { return 100 - place }
    return byte < 0x80 ? 10 : 60
  }
}

extension ByteSearcher {
  /// Returns the first place from `start` at which the needle begins and that ends before `end`; nil if there is none.
  ///
  /// - Parameter base: at least `end` bytes.
  @inline(__always)
  package func unsafeFirst(in base: UnsafeRawPointer, from start: Int, to end: Int) -> Int? {
    var steps = 0
    return unsafeFirst(in: base, from: start, to: end, comparing: &steps)
  }

  /// Returns the same, and adds the number of bytes that were compared one by one to `steps`.
  package func unsafeFirst(
    in base: UnsafeRawPointer,
    from start: Int,
    to end: Int,
    comparing steps: inout Int
  ) -> Int? {
    guard end &- start >= needle.count else { return nil }
    if needle.isEmpty { return start }
    return needle.withUnsafeBufferPointer { needle in
      masks.withUnsafeBufferPointer { masks in
        search(base, start, end, needle, masks, &steps)
      }
    }
  }

  /// Returns whether `bytes` contain the needle. An empty needle is always found.
  func isFound(in bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { bytes in
      bytes.baseAddress.map { unsafeFirst(in: $0, from: 0, to: bytes.count) != nil } ?? needle.isEmpty
    }
  }

  /// The number of bytes that may be compared one by one for each visited byte and each byte of the needle, before the
  /// search changes its method.
  private static let patience = 4

  private func search(
    _ base: UnsafeRawPointer,
    _ start: Int,
    _ end: Int,
    _ needle: UnsafeBufferPointer<UInt8>,
    _ masks: UnsafeBufferPointer<UInt8>,
    _ steps: inout Int
  ) -> Int? {
    let limit = steps &+ needle.count &* Self.patience
    let first = Anchor(anchors.first, needle[anchors.first], mask: masks[anchors.first])
    let second = Anchor(anchors.second, needle[anchors.second], mask: masks[anchors.second])
    var place = start
    // Words are also read at the second anchor, which is inside the text as long as the words end before its end.
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
            if matches(base, found, end, needle, masks, &steps) { return found }
            if steps > limit &+ (found &- start) &* Self.patience {
              return searchSteadily(base, found &+ 1, end, needle, masks, &steps)
            }
            rest &= rest &- 1
          }
        }
      }
      place &+= 32
    }
    while place &+ needle.count <= end {
      if matches(base, place, end, needle, masks, &steps) { return place }
      place &+= 1
      if steps > limit &+ (place &- start) &* Self.patience {
        return searchSteadily(base, place, end, needle, masks, &steps)
      }
    }
    return nil
  }

  /// Visits each byte once: if a byte does not match, the search continues with the longest prefix of the needle that
  /// ends there.
  private func searchSteadily(
    _ base: UnsafeRawPointer,
    _ start: Int,
    _ end: Int,
    _ needle: UnsafeBufferPointer<UInt8>,
    _ masks: UnsafeBufferPointer<UInt8>,
    _ steps: inout Int
  ) -> Int? {
    let borders = Self.borders(of: needle, &steps)
    var matched = 0
    var place = start
    while place < end {
      let byte = base.load(fromByteOffset: place, as: UInt8.self)
      steps &+= 1
      while matched > 0, byte | masks[matched] != needle[matched] | masks[matched] {
        matched = borders[matched - 1]
        steps &+= 1
      }
      if byte | masks[matched] == needle[matched] | masks[matched] { matched &+= 1 }
      place &+= 1
      if matched == needle.count { return place &- matched }
    }
    return nil
  }

  /// Returns, for each prefix of the needle, the length of the longest proper prefix that is also its suffix.
  private static func borders(of needle: UnsafeBufferPointer<UInt8>, _ steps: inout Int) -> [Int] {
    var borders = [Int](repeating: 0, count: needle.count)
    var length = 0
    var place = 1
    while place < needle.count {
      steps &+= 1
      while length > 0, needle[place] != needle[length] {
        length = borders[length - 1]
        steps &+= 1
      }
      if needle[place] == needle[length] { length &+= 1 }
      borders[place] = length
      place &+= 1
    }
    return borders
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

  /// Returns a word with the upper bit set for each of eight places at which both anchors match. A place after a match
  /// may be wrongly set.
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
    _ masks: UnsafeBufferPointer<UInt8>,
    _ steps: inout Int
  ) -> Bool {
    guard place &+ needle.count <= end else { return false }
    var index = 0
    while index < needle.count {
      let byte = base.load(fromByteOffset: place &+ index, as: UInt8.self) | masks[index]
      index &+= 1
      if byte != needle[index &- 1] | masks[index &- 1] {
        steps &+= index
        return false
      }
    }
    steps &+= index
    return true
  }

  /// Returns whether the needle is at `place` and ends before `end`.
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

// MARK: ASCIIScan

/// Searches for bytes that are not ASCII, 64 places at a time, then eight, then one.
package enum ASCIIScan {
  /// Returns whether all bytes are less than 0x80.
  @inlinable @inline(__always)
  package static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
    bytes.baseAddress.map { unsafeFirstBeyond(in: $0, from: 0, to: bytes.count) == nil } ?? true
  }

  /// Returns the first place from `start` and before `end` with a byte above 0x7F; nil if there is none.
  ///
  /// - Parameter base: at least `end` bytes.
  @inlinable @inline(__always)
  package static func unsafeFirstBeyond(in base: UnsafeRawPointer, from start: Int, to end: Int) -> Int? {
    var place = start
    while end &- place >= 64 {
      var seen: UInt64 = 0
      for word in 0..<8 { seen |= base.loadUnaligned(fromByteOffset: place &+ word &* 8, as: UInt64.self) }
      if seen & 0x8080_8080_8080_8080 != 0 { break }
      place &+= 64
    }
    while end &- place >= 8 {
      let word = base.loadUnaligned(fromByteOffset: place, as: UInt64.self).littleEndian & 0x8080_8080_8080_8080
      if word != 0 { return place &+ word.trailingZeroBitCount / 8 }
      place &+= 8
    }
    while place < end {
      if base.load(fromByteOffset: place, as: UInt8.self) >= 0x80 { return place }
      place &+= 1
    }
    return nil
  }
}
