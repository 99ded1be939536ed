import Foundation
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodFormats

@Suite struct ExactTextTests {
  private func written(_ number: Double) -> String? {
    var buffer = TextBuffer(capacity: 64)
    guard ExactDecimalText.append(number, to: &buffer) else { return nil }
    return String(decoding: buffer.bytes, as: UTF8.self)
  }

  private func read(_ text: String) -> Double? {
    Array(text.utf8).withUnsafeBytes { ExactDecimalText.number($0) }
  }

  @Test(arguments: [
    0, -0.0, 0.5, 1, -1, 259_257_180.215415, 1.0 / 3, 0.001, 9.1e18, -63_113_904_000.5, 0.999_999_999_999_999_9,
  ])
  func isWhatCPrints(_ number: Double) {
    #expect(written(number) == String(format: "%.20f", number))
  }

  @Test func randomNumbersAreWhatCPrintsAndComeBack() throws {
    let seed = UInt64.random(in: .min ... .max)
    print("seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<20_000 {
      let exponent = Int.random(in: -9...60, using: &generator)
      let sample = Double(
        sign: Bool.random(using: &generator) ? .plus : .minus,
        exponent: exponent,
        significand: .random(in: 1..<2, using: &generator)
      )
      let text = try #require(written(sample), "seed \(seed)")
      #expect(text == String(format: "%.20f", sample), "seed \(seed)")
      #expect(read(text) == sample, "seed \(seed): \(text)")
    }
  }

  @Test func randomTextsAreReadLikeTheStandardLibraryReadsThem() {
    let seed = UInt64.random(in: .min ... .max)
    print("seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<20_000 {
      let digits = String(
        (0..<Int.random(in: 1...36, using: &generator)).map { _ in "0123456789".randomElement(using: &generator) ?? "0"
        }
      )
      let point = Int.random(in: 0...digits.count, using: &generator)
      let text = digits.prefix(point) + "." + digits.dropFirst(point)
      guard let found = read(String(text)) else { continue }
      #expect(found == Double("0" + text + "0"), "seed \(seed): \(text)")
    }
  }

  @Test(arguments: [1e-4, -1e-300, 1e19, .infinity, -.infinity, .nan, .leastNonzeroMagnitude])
  func numbersThatWouldLoseDigitsHaveNoText(_ number: Double) {
    #expect(written(number) == nil)
  }

  @Test(arguments: ["", "-", ".", "1.2.3", "1e5", "+1", " 1", "0x10", "nan", "１"]) func otherTextIsNoNumber(
    _ text: String
  ) {
    #expect(read(text) == nil)
  }

  @Test func base64IsWhatFoundationMakesOfIt() throws {
    let seed = UInt64.random(in: .min ... .max)
    print("seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    for count in 0..<300 {
      let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
      var buffer = TextBuffer(capacity: 16)
      bytes.withUnsafeBytes { Base64Text.append($0, to: &buffer) }
      #expect(String(decoding: buffer.bytes, as: UTF8.self) == Data(bytes).base64EncodedString(), "seed \(seed)")
      var text = Array(Data(bytes).base64EncodedString(options: .lineLength64Characters).utf8)
      let length = text.withUnsafeMutableBytes { Base64Text.decode($0) }
      #expect(length.map { Array(text.prefix($0)) } == bytes, "seed \(seed)")
    }
  }

  @Test(arguments: ["A", "AA", "AAA", "A===", "AB==", "AAB=", "AA=A", "AA!A", "====", "AAAA=", "AAAAA", "AA==AAAA"])
  func otherTextIsNoBase64(_ text: String) {
    var bytes = Array(text.utf8)
    #expect(bytes.withUnsafeMutableBytes { Base64Text.decode($0) } == nil)
  }
}
