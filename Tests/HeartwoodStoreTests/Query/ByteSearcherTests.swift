import HeartwoodTesting
import Testing

@testable import HeartwoodStore

@Suite struct ByteSearcherTests {
  @Test func findsWhatThePlainWayFinds() {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<4_000 {
      let letters = Array("abAB .".utf8)
      let text = (0..<Int.random(in: 0...150, using: &generator)).map { _ in
        letters.randomElement(using: &generator) ?? 0
      }
      let ignoresCase = generator.chance(oneIn: 2)
      let length = Int.random(in: 0...40, using: &generator)
      var needle =
        generator.chance(oneIn: 2) || length > text.count
        ? (0..<length % 5).map { _ in letters.randomElement(using: &generator) ?? 0 }
        : Array(text.shuffled(using: &generator).prefix(length % 6))
      if ignoresCase { needle = needle.map(lower) }
      let start = Int.random(in: 0...text.count, using: &generator)
      let searcher = ByteSearcher(needle, ignoresASCIICase: ignoresCase)
      let found = text.withUnsafeBytes { bytes -> Int? in
        guard let base = bytes.baseAddress else { return needle.isEmpty ? 0 : nil }
        return searcher.unsafeFirst(in: base, from: start, to: bytes.count)
      }
      let folded = ignoresCase ? text.map(lower) : text
      let expected = (start...max(start, text.count)).first {
        $0 + needle.count <= text.count && Array(folded[$0..<($0 + needle.count)]) == needle
      }
      #expect(
        found == expected,
        "\(String(decoding: needle, as: UTF8.self)) in \(String(decoding: text, as: UTF8.self))"
      )
    }
  }

  private func lower(_ byte: UInt8) -> UInt8 { (65...90).contains(byte) ? byte | 0x20 : byte }

  @Test(arguments: [0, 1, 31, 32, 33, 63, 64, 100])
  func findsBytesBeyondASCII(_ place: Int) {
    var bytes = [UInt8](repeating: 0x41, count: 101)
    bytes[place] = 0x80
    bytes.withUnsafeBytes { buffer in
      guard let base = buffer.baseAddress else { return }
      #expect(ASCIIScan.unsafeFirstBeyond(in: base, from: 0, to: 101) == place)
      #expect(ASCIIScan.unsafeFirstBeyond(in: base, from: place + 1, to: 101) == nil)
      #expect(ASCIIScan.unsafeFirstBeyond(in: base, from: 0, to: place) == nil)
    }
  }
}
