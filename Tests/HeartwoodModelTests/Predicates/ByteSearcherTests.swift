import Testing

@testable import HeartwoodModel
import HeartwoodTesting

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

  // MARK: Cost

  /// Sequences that repeat themselves, in texts that repeat them, which cost many comparisons at each place.
  private static let period = Array("long, \"longer\"\n".utf8)
  private static let repetitions = 4_000

  @Test(arguments: [false, true])
  func searchesRepetitionsInOnePass(ignoresCase: Bool) {
    let long = Array(repeating: Self.period, count: Self.repetitions).flatMap(\.self)
    let needles = [long + [0x21], [0x21] + long, long.dropLast(7) + [0x21] + long.suffix(40)]
    for needle in needles {
      let searcher = ByteSearcher(needle, ignoresASCIICase: ignoresCase)
      for text in [long + long, long + long + needle, needle.dropLast() + long + needle] {
        let (place, steps) = find(searcher, in: text)
        #expect(place == firstPlace(of: needle, in: text))
        #expect(steps <= 8 * (text.count + needle.count), "\(steps) bytes were compared")
      }
    }
  }

  @Test func looksAtEachByteOfTheSequenceOnce() {
    let needle = Array(repeating: Self.period, count: Self.repetitions).flatMap(\.self)
    var looks = 0
    let anchors = ByteSearcher.anchors(of: needle) {
      looks += 1
      return Int($0)
    }
    #expect(looks == needle.count)
    // The line feeds are the lowest bytes.
    #expect(anchors == (14, 29))
  }

  private func find(_ searcher: ByteSearcher, in text: [UInt8]) -> (place: Int?, steps: Int) {
    var steps = 0
    let place = text.withUnsafeBytes { bytes in
      bytes.baseAddress.flatMap { searcher.unsafeFirst(in: $0, from: 0, to: bytes.count, comparing: &steps) }
    }
    return (place, steps)
  }

  /// The first place, found from the end of the only byte that the sequence does not repeat.
  private func firstPlace(of needle: [UInt8], in text: [UInt8]) -> Int? {
    guard let mark = needle.firstIndex(of: 0x21) else { return nil }
    return text.indices.filter { text[$0] == 0x21 }.map { $0 - mark }.first { start in
      start >= 0 && start + needle.count <= text.count && text[start..<(start + needle.count)].elementsEqual(needle)
    }
  }

  private func lower(_ byte: UInt8) -> UInt8 { (65...90).contains(byte) ? byte | 0x20 : byte }
}
