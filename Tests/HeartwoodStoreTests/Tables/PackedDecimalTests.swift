import Foundation
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@Suite struct PackedDecimalTests {
  @Test(arguments: [
    Decimal.zero, 1, -1, .pi, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastFiniteMagnitude,
    .leastNonzeroMagnitude, -.leastNonzeroMagnitude,
  ])
  func edgesComeBack(_ decimal: Decimal) throws {
    #expect(try #require(PackedDecimal(decimal).decimal) == decimal)
  }

  @Test(arguments: [
    "0.1", "-0.1", "1E127", "1E-127", "-9.99E-100", "340282366920938463463374607431768211455",
    "-340282366920938463463374607431768211455", "18446744073709551616", "100", "1.00", "123456789.987654321",
    "10e127", "-10e127", "100e126", "340282366920938463463374607431768211450e127",
  ])
  func textsComeBack(_ text: String) throws {
    let decimal = try #require(Decimal(string: text))
    let packed = try #require(PackedDecimal(decimal).decimal)
    #expect(!packed.isNaN)
    #expect(packed == decimal)
  }

  @Test func notANumberComesBack() throws {
    #expect(try #require(PackedDecimal(.nan).decimal).isNaN)
  }

  @Test(arguments: [1, UInt64.random(in: 2 ... .max)])
  func randomOnesComeBack(_ seed: UInt64) throws {
    print("seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<2000 {
      guard case .decimal(let decimal) = PropertyValue.random(of: .decimal, using: &generator) else { continue }
      let packed = try #require(PackedDecimal(decimal).decimal)
      #expect(packed == decimal || (packed.isNaN && decimal.isNaN))
      #expect(packed.description == decimal.description)
    }
  }

  @Test(arguments: [1, UInt64.random(in: 2 ... .max)])
  func anyBytesAreANumberOrNone(_ seed: UInt64) {
    print("seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<2000 {
      var bytes = (0..<PackedDecimal.width).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
      // Often enough the parts that must be in range are.
      if generator.chance(oneIn: 2) { bytes[18] &= 1 }
      if generator.chance(oneIn: 2) { bytes[19] &= 1 }
      if generator.chance(oneIn: 2) { bytes[17] = bytes[16] & 0x80 == 0 ? 0 : 0xFF }
      let packed = bytes.withUnsafeBytes { $0.loadUnaligned(as: PackedDecimal.self) }
      guard let decimal = packed.decimal else { continue }
      #expect(decimal.isNaN == (bytes[19] == 1))
    }
  }
}
