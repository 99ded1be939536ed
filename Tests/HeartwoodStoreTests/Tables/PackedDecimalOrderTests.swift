import Foundation
import HeartwoodTesting
import Testing

@testable import HeartwoodStore

@Suite struct PackedDecimalOrderTests {
  private func decimal(_ text: String) throws -> PackedDecimal { PackedDecimal(try #require(Decimal(string: text))) }

  @Test(arguments: [
    [
      "-1e30", "-12.5", "-1.25", "-1e-20", "0", "1e-100", "1e-20", "0.1", "0.10000000000000000001", "0.2", "1", "1.5",
      "9", "10",
    ],
    ["99999999999999999999999999999999999998", "99999999999999999999999999999999999999", "1e38", "1e100"],
  ])
  func ordersByValue(_ texts: [String]) throws {
    let decimals = try texts.map(decimal)
    for (place, left) in decimals.enumerated() {
      for (other, right) in decimals.enumerated() {
        let order = PackedDecimal.compare(left, right).signum()
        #expect(order == (place - other).signum(), "\(texts[place]), \(texts[other])")
        if order < 0 { #expect(left.lead <= right.lead, "\(texts[place]), \(texts[other])") }
      }
    }
  }

  @Test func theSameValueIsTheSameHoweverItIsWritten() {
    let (short, long) = (
      Decimal(sign: .plus, exponent: 3, significand: 12), Decimal(sign: .plus, exponent: 0, significand: 12_000)
    )
    #expect(PackedDecimal.compare(PackedDecimal(short), PackedDecimal(long)) == 0)
    #expect(PackedDecimal(short).lead == PackedDecimal(long).lead)
    #expect(PackedDecimal.compare(PackedDecimal(.nan), PackedDecimal(.nan)) == 0)
    #expect(PackedDecimal.compare(PackedDecimal(.nan), PackedDecimal(long)) > 0)
    #expect(PackedDecimal(0).lead > 0)
  }

  @Test func randomNumbersCompareAsFoundationComparesThem() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    func number() -> Decimal {
      Decimal(
        sign: Bool.random(using: &generator) ? .plus : .minus,
        exponent: Int.random(in: -8...8, using: &generator),
        significand: Decimal(
          Int64.random(in: 0...(1 << Int64.random(in: 1...40, using: &generator)), using: &generator)
        )
      )
    }
    for _ in 0..<5_000 {
      let (a, b) = (number(), number())
      let order = PackedDecimal.compare(PackedDecimal(a), PackedDecimal(b)).signum()
      #expect(order == (a < b ? -1 : a == b ? 0 : 1), "\(a), \(b)")
      if let double = PackedDecimal(a).exactDouble { #expect(double == Double(a.description), "\(a)") }
    }
  }
}
