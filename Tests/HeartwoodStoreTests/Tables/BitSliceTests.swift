import HeartwoodStore
import HeartwoodTesting
import Testing

@Suite struct BitSliceTests {
  @Test(arguments: [1, UInt64.random(in: 2 ... .max)])
  func runsAndCountsAreThoseOfPlainBits(_ seed: UInt64) {
    print("seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    for count in Array(0...200) + [1000, 4096] {
      let density = Int.random(in: 1...20, using: &generator)
      let isMostlySet = generator.chance(oneIn: 2)
      let plain = (0..<count).map { _ in generator.chance(oneIn: density) != isMostlySet }
      var bits = GrowableBits()
      for bit in plain { bits.append(bit) }
      // What lies behind the last row counts for nothing.
      for _ in 0..<Int.random(in: 0...70, using: &generator) { bits.append(true) }
      let slice = bits.sealed()
      #expect(slice.setBitCount(count) == plain.count { $0 })
      #expect(slice.setRuns(count).flatMap { Array($0) } == plain.indices.filter { plain[$0] })
      #expect(zip(slice.setRuns(count), slice.setRuns(count).dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
    }
  }

  @Test(arguments: [1, UInt64.random(in: 2 ... .max)])
  func runsOfBitsAreAppended(_ seed: UInt64) {
    print("seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    let plain = (0..<500).map { _ in generator.chance(oneIn: 2) }
    var source = GrowableBits()
    for bit in plain { source.append(bit) }
    let slice = source.sealed()
    var bits = GrowableBits()
    var expected: [Bool] = []
    for _ in 0..<300 {
      let start = Int.random(in: 0...500, using: &generator) & (generator.chance(oneIn: 2) ? ~7 : ~0)
      let rows = start..<Int.random(in: start...500, using: &generator)
      bits.append(rows, of: slice)
      expected += plain[rows]
      let repeated = Int.random(in: 0...20, using: &generator)
      bits.append(repeating: true, count: repeated)
      expected += Array(repeating: true, count: repeated)
    }
    let result = bits.sealed()
    #expect(expected.indices.allSatisfy { result[$0] == expected[$0] })
  }
}
