import HeartwoodModel
import Testing

@Suite struct HexadecimalDigitTests {
  @Test(arguments: UInt8.min...UInt8.max)
  func digitsHaveTheirValueInBothCases(_ byte: UInt8) {
    let value = Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) }
    #expect(HexadecimalDigit.value(byte) == value)
  }

  @Test func valuesHaveDigits() {
    let values: [UInt8] = Array(0..<16)
    #expect(String(decoding: values.map(HexadecimalDigit.capital), as: UTF8.self) == "0123456789ABCDEF")
    #expect(String(decoding: values.map(HexadecimalDigit.small), as: UTF8.self) == "0123456789abcdef")
  }
}
