import HeartwoodFoundation
import HeartwoodModel

/// Converts decimal numbers to and from PostgreSQL's `numeric`: digits in base 10,000, and the exponent of the first
/// digit.
enum NumericField {
  private static let negative: UInt16 = 0x4000
  private static let notANumber: UInt16 = 0xC000
  private static let base = 10_000
  private static let digitsInGroup = 4
  private static let headLength = 8

  /// Appends the bytes of a number, without their length.
  static func append(_ number: Decimal, to bytes: inout [UInt8]) {
    if number.isNaN {
      for word in [0, 0, notANumber, 0] { bytes.append(bigEndian: word) }
      return
    }
    let (digits, exponent) = digits(number)
    let groups = groups(digits, exponent)
    bytes.append(bigEndian: Int16(groups.digits.count))
    bytes.append(bigEndian: Int16(groups.weight))
    bytes.append(bigEndian: number.isSignMinus && !digits.isEmpty ? negative : 0)
    bytes.append(bigEndian: UInt16(max(0, -exponent)))
    for group in groups.digits { bytes.append(bigEndian: group) }
  }

  /// Returns the digits of a number without its sign, and the power of ten of the last digit. Zero has no digits.
  private static func digits(_ number: Decimal) -> (digits: [UInt8], exponent: Int) {
    var digits: [UInt8] = []
    var exponent = 0
    var isFraction = false
    var text = Substring(number.description)
    if let mark = text.firstIndex(where: { $0 == "e" || $0 == "E" }) {
      exponent = Int(text[text.index(after: mark)...]) ?? 0
      text = text[..<mark]
    }
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        if !digits.isEmpty || byte != UInt8(ascii: "0") { digits.append(byte - UInt8(ascii: "0")) }
        if isFraction { exponent -= 1 }
      case UInt8(ascii: "."): isFraction = true
      default: break
      }
    }
    while digits.last == 0 {
      digits.removeLast()
      exponent += 1
    }
    return digits.isEmpty ? ([], 0) : (digits, exponent)
  }

  /// Returns the digits in groups, and the power of 10,000 of the first group.
  private static func groups(_ digits: [UInt8], _ exponent: Int) -> (digits: [Int16], weight: Int) {
    if digits.isEmpty { return ([], 0) }
    // The groups begin and end at multiples of four digits from the decimal point.
    let last = floorDivision(exponent, digitsInGroup)
    let zeros = exponent - last * digitsInGroup
    var rest = digits + [UInt8](repeating: 0, count: zeros)
    let missing = (digitsInGroup - rest.count % digitsInGroup) % digitsInGroup
    rest = [UInt8](repeating: 0, count: missing) + rest
    let groups = stride(from: 0, to: rest.count, by: digitsInGroup).map { start in
      rest[start..<start + digitsInGroup].reduce(Int16(0)) { $0 * 10 + Int16($1) }
    }
    return (groups, last + groups.count - 1)
  }

  private static func floorDivision(_ number: Int, _ divisor: Int) -> Int {
    number >= 0 ? number / divisor : -((-number + divisor - 1) / divisor)
  }

  /// Returns the number that the bytes represent.
  ///
  /// - Throws: an error for a number with more digits than `Decimal` has, and for infinity.
  static func decimal(_ bytes: UnsafeRawBufferPointer) throws(FieldFault) -> Decimal {
    func word(_ index: Int) -> UInt16 {
      UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: index * 2, as: UInt16.self))
    }
    guard bytes.count >= headLength, bytes.count == headLength + Int(word(0)) * 2 else {
      throw FieldFault("holds \(bytes.count) bytes that are not a decimal number")
    }
    let (count, weight, sign) = (Int(word(0)), Int(Int16(bitPattern: word(1))), word(2))
    if sign == notANumber { return .nan }
    guard sign == 0 || sign == negative else { throw FieldFault("holds an infinite number") }
    var text = ""
    for index in 0..<count {
      let group = Int(word(index + 4))
      guard group < base else { throw FieldFault("holds bytes that are not a decimal number") }
      let digits = String(group)
      text += String(repeating: "0", count: digitsInGroup - digits.count) + digits
    }
    var exponent = (weight - count + 1) * digitsInGroup
    // Trailing zeros can be removed: the number is the same with fewer digits.
    while text.last == "0" {
      text.removeLast()
      exponent += 1
    }
    if text.isEmpty { return 0 }
    text = String(text.drop { $0 == "0" })
    return try decimal(digits: text, exponent: exponent, isNegative: sign == negative)
  }

  private static func decimal(
    digits: String,
    exponent: Int,
    isNegative: Bool
  ) throws(FieldFault) -> Decimal {
    // `Decimal` has one byte for the exponent; zeros at the end of the digits make it smaller.
    let padding = max(0, exponent - greatestExponent)
    let text =
      digits + String(repeating: "0", count: min(padding, digitLimit)) + "e\(exponent - padding)"
    if padding < digitLimit, let number = Decimal(string: (isNegative ? "-" : "") + text) {
      let found = self.digits(number)
      if found.digits.elementsEqual(digits.utf8.lazy.map { $0 - UInt8(ascii: "0") }),
        found.exponent == exponent
      {
        return number
      }
    }
    throw FieldFault("holds a number with more digits than a decimal number has")
  }

  private static let greatestExponent = 127
  private static let digitLimit = 40
}
