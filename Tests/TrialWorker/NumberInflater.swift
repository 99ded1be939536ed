/// Makes numbers in files larger: those of binary forms as words of either order, those of text as digits.
struct NumberInflater {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  private static let words: [[UInt8]] = [
    [0xFF, 0xFF, 0xFF, 0xFF], [0xFF, 0xFF, 0xFF, 0x7F], [0x7F, 0xFF, 0xFF, 0xFF], [0, 0, 0, 0x10], [0x10, 0, 0, 0],
    [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0], [0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF], [0, 0, 0, 0x40, 0, 0, 0, 0],
    [0, 0, 0, 0, 0x40, 0, 0, 0], [0x7F], [0xFF], [0xFF, 0x0F], [0x80, 0x80, 0x80, 0x80, 0x04],
  ]
  private static let digits: [[UInt8]] = [
    Array("4294967295".utf8), Array("2147483647".utf8), Array("268435456".utf8), Array("9223372036854775807".utf8),
  ]

  /// `bytes` with one to three numbers in them that are larger.
  mutating func inflated(_ bytes: [UInt8]) -> [UInt8] {
    guard !bytes.isEmpty else { return bytes }
    var bytes = bytes
    for _ in 0...random(below: 3) {
      let place = random(below: bytes.count)
      if let number = number(at: place, in: bytes) {
        bytes.replaceSubrange(number, with: Self.digits[random(below: Self.digits.count)])
      } else {
        let word = Self.words[random(below: Self.words.count)].prefix(bytes.count - place)
        bytes.replaceSubrange(place..<place + word.count, with: word)
      }
    }
    return bytes
  }

  /// The digits around a place.
  private func number(at place: Int, in bytes: [UInt8]) -> Range<Int>? {
    func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
    guard isDigit(bytes[place]) else { return nil }
    let start = bytes[..<place].lastIndex { !isDigit($0) }.map { $0 + 1 } ?? 0
    let end = bytes[place...].firstIndex { !isDigit($0) } ?? bytes.count
    return start..<end
  }

  private mutating func random(below limit: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int((state >> 33) % UInt64(limit))
  }
}
