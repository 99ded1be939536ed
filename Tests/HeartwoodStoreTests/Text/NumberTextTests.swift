import Foundation
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@Suite struct UUIDTextTests {
  private func read(_ text: String) -> UUID? {
    let bytes = Array(text.utf8)
    guard bytes.count == UUIDText.length else { return nil }
    return bytes.withUnsafeBytes { bytes in bytes.baseAddress.flatMap { UUIDText.uuid($0) }.map { UUID(uuid: $0) } }
  }

  private func written(_ uuid: UUID) -> String {
    let bytes = [UInt8](unsafeUninitializedCapacity: UUIDText.length) { buffer, count in
      guard let base = buffer.baseAddress else { return }
      UUIDText.write(uuid.uuid, to: UnsafeMutableRawPointer(base))
      count = UUIDText.length
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test func sameAsFoundation() {
    let seed = UInt64.random(in: .min ... .max)
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<10_000 {
      let uuid = generator.nextUUID()
      #expect(written(uuid) == uuid.uuidString, "seed \(seed)")
      #expect(read(uuid.uuidString) == uuid, "seed \(seed)")
      #expect(read(uuid.uuidString.lowercased()) == uuid, "seed \(seed)")
    }
  }

  /// Each byte in each place: only hexadecimal digits, and hyphens where they belong.
  @Test func everyByteInEveryPlace() {
    let text = Array("E899556C-BE1A-42A3-A634-F8411915C05F".utf8)
    for place in text.indices {
      for byte in UInt8.min ... .max {
        var changed = text
        changed[place] = byte
        let isDigit = byte < 0x80 && Character(Unicode.Scalar(byte)).isHexDigit
        let isRight = text[place] == UInt8(ascii: "-") ? byte == UInt8(ascii: "-") : isDigit
        let isRead = changed.withUnsafeBytes { bytes in bytes.baseAddress.flatMap { UUIDText.uuid($0) } } != nil
        #expect(isRead == isRight, "byte \(byte) at \(place)")
      }
    }
  }
}

@Suite struct NumberTextTests {
  private func integer(_ text: String) -> Int64? { Array(text.utf8).withUnsafeBytes { IntegerText.integer($0) } }

  private func written(_ number: Int64) -> String {
    let bytes = [UInt8](unsafeUninitializedCapacity: IntegerText.maximumLength) { buffer, count in
      guard let base = buffer.baseAddress else { return }
      count = IntegerText.write(number, to: UnsafeMutableRawPointer(base))
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test func integersComeBack() {
    let seed = UInt64.random(in: .min ... .max)
    var generator = SeededGenerator(seed: seed)
    var numbers: [Int64] = [.min, .min + 1, -1, 0, 1, .max, .max - 1]
    for _ in 0..<10_000 {
      numbers.append(Int64(bitPattern: generator.next()) >> Int64.random(in: 0..<64, using: &generator))
    }
    for power in 0...18 {
      let ten = repeatElement(Int64(10), count: power).reduce(1, *)
      numbers += [ten, ten - 1, -ten, 1 - ten]
    }
    for number in numbers {
      #expect(written(number) == String(number), "seed \(seed)")
      #expect(integer(String(number)) == number, "seed \(seed)")
    }
  }

  @Test(
    arguments: [
      ("+5", 5), ("-0", 0), ("007", 7), ("0000000000000000000000001", 1), ("", nil), ("-", nil), ("+", nil),
      ("1.0", nil),
      (" 1", nil), ("1 ", nil), ("--1", nil), ("9223372036854775808", nil), ("-9223372036854775809", nil),
      ("0x10", nil),
      ("١", nil), ("1_000", nil),
    ] as [(String, Int64?)]
  )
  func integerTexts(text: String, expected: Int64?) {
    #expect(integer(text) == expected)
  }

  /// The short way to a floating-point number gives what the long way gives.
  @Test func floatingPointNumbersAreRoundedRight() {
    let seed = UInt64.random(in: .min ... .max)
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<20_000 {
      var text = String(generator.next() >> UInt64.random(in: 0..<64, using: &generator))
      if generator.chance(oneIn: 2) {
        text.insert(".", at: text.indices.randomElement(using: &generator) ?? text.startIndex)
      }
      if generator.chance(oneIn: 3) { text = "-" + text }
      let bytes = Array(text.utf8)
      let double = bytes.withUnsafeBytes { FloatingPointText.number($0, Double.self) }
      #expect(double?.bitPattern == NumberText.number(text, Double.self)?.bitPattern, "seed \(seed): \(text)")
      let float = bytes.withUnsafeBytes { FloatingPointText.number($0, Float.self) }
      #expect(float?.bitPattern == NumberText.number(text, Float.self)?.bitPattern, "seed \(seed): \(text)")
    }
  }

  @Test(
    arguments: [
      ("1", 1), ("-1.5", -1.5), (".5", 0.5), ("5.", 5), ("1e3", 1000), ("-0", -0.0), ("inf", .infinity),
      ("-inf", -.infinity), ("", nil), (".", nil), ("-", nil), ("1e", nil), ("0x1p3", nil), ("1e999", nil),
      ("1.2.3", nil),
      ("infinity", nil), ("NaN", nil), ("1,5", nil),
    ] as [(String, Double?)]
  )
  func floatingPointTexts(text: String, expected: Double?) {
    #expect(Array(text.utf8).withUnsafeBytes { FloatingPointText.number($0, Double.self) } == expected)
  }
}
