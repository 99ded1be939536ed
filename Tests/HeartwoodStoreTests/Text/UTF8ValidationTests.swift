import HeartwoodStore
import HeartwoodTesting
import Testing

@Suite struct UTF8ValidationTests {
  /// The first offset up to which all is well-formed and after which it can not become so.
  private func firstInvalidOffset(_ bytes: [UInt8]) -> Int? {
    guard String(validating: bytes, as: UTF8.self) == nil else { return nil }
    let valid = (0...bytes.count).last { String(validating: bytes[..<$0], as: UTF8.self) != nil }
    return valid
  }

  @Test(arguments: [1, 2, UInt64.random(in: 3 ... .max)])
  func agreesWithTheStandardLibrary(_ seed: UInt64) {
    print("seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    let odd: [UInt8] = [
      0x00, 0x7F, 0x80, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xED, 0xEF, 0xF0, 0xF4, 0xF5, 0xFF, 0x9F, 0xA0,
    ]
    for _ in 0..<3000 {
      var bytes = Array(generator.nextString().utf8)
      for _ in 0..<Int.random(in: 0...3, using: &generator) {
        let byte = odd.randomElement(using: &generator) ?? 0
        bytes.insert(byte, at: Int.random(in: 0...bytes.count, using: &generator))
      }
      #expect(UTF8Validation.firstInvalidOffset(in: bytes) == firstInvalidOffset(bytes), "\(bytes)")
    }
  }

  @Test func everySequenceOfTwoBytesAndManyOfFour() {
    for first in UInt8.min...UInt8.max {
      for second in UInt8.min...UInt8.max {
        for bytes in [[first, second], [first, second, 0x80], [first, second, 0x80, 0xBF]] {
          let isValid = String(validating: bytes, as: UTF8.self) != nil
          #expect((UTF8Validation.firstInvalidOffset(in: bytes) == nil) == isValid, "\(bytes)")
        }
      }
    }
  }

  /// ASCII is passed many bytes at a time.
  @Test(arguments: [0, 1, 7, 8, 63, 64, 65, 200])
  func findsWhatIsWrongBehindManyLetters(_ count: Int) {
    let letters = [UInt8](repeating: 0x61, count: count)
    let text = letters + Array("ä".utf8) + letters
    #expect(UTF8Validation.firstInvalidOffset(in: text) == nil)
    for tail: [UInt8] in [[0x80], [0xC3], [0xE2, 0x82]] {
      #expect(UTF8Validation.firstInvalidOffset(in: letters + tail) == count)
      #expect(UTF8Validation.firstInvalidOffset(in: text + tail + letters) == text.count)
    }
  }
}
