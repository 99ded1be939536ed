package import HeartwoodFoundation

/// Numbers as text: the shortest decimal that reads back as the same number, `inf`, `-inf` and `nan`.
package enum NumberText {
  static let notANumber = "nan"
  private static let infinities = ["inf", "-inf"]

  package static func text<Number: BinaryFloatingPoint & LosslessStringConvertible>(of number: Number) -> String {
    number.isNaN ? notANumber : number.description
  }

  /// The number that `text` stands for, or nil where it is none or too large to be told from infinity.
  package static func number<Number: BinaryFloatingPoint & LosslessStringConvertible>(
    _ text: String,
    _ type: Number.Type
  ) -> Number? {
    if text == notANumber { return .nan }
    if infinities.contains(text) { return Number(text) }
    guard isDecimal(text), let number = Number(text), number.isFinite else { return nil }
    return number
  }

  /// The decimal number that is exactly `text`, or nil where there is none: a `Decimal` holds any 38 digits, and some numbers of 39.
  package static func decimal(_ text: String) -> Decimal? {
    if text == notANumber { return .nan }
    guard isDecimal(text), let number = Decimal(string: text), !number.isNaN else { return nil }
    return isExact(number, text) ? number : nil
  }

  /// Digits that a `Decimal` always has room for.
  private static let digitsOfDecimal = 38

  /// Whether no digit of `text` was cut when it became `number`, and it did not become 0 for being too small.
  private static func isExact(_ number: Decimal, _ text: String) -> Bool {
    if text.utf8.count <= digitsOfDecimal, !number.isZero { return true }
    let digits = significantDigits(of: text)
    if digits.count <= digitsOfDecimal { return number.isZero == digits.isEmpty }
    return digits == significantDigits(of: number.description)
  }

  /// The digits from the first that is not 0 to the last.
  private static func significantDigits(of text: String) -> ArraySlice<UInt8> {
    let zero = UInt8(ascii: "0")
    let mantissa = text.utf8.prefix { $0 | 0x20 != UInt8(ascii: "e") }
    let digits = mantissa.filter { (zero...UInt8(ascii: "9")).contains($0) }
    guard let first = digits.firstIndex(where: { $0 != zero }), let last = digits.lastIndex(where: { $0 != zero })
    else { return [] }
    return digits[first...last]
  }

  /// Whether the text is a sign or none, digits with a point or without, and an exponent or none.
  ///
  /// The parsers of the standard library and of Foundation take more: hexadecimal numbers, or any text after a number.
  private static func isDecimal(_ text: String) -> Bool {
    var rest = text.utf8[...]
    skipSign(&rest)
    let whole = skipDigits(&rest)
    var fraction = 0
    if rest.first == UInt8(ascii: ".") {
      rest.removeFirst()
      fraction = skipDigits(&rest)
    }
    guard whole + fraction > 0 else { return false }
    if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
      rest.removeFirst()
      skipSign(&rest)
      guard skipDigits(&rest) > 0 else { return false }
    }
    return rest.isEmpty
  }

  private static func skipSign(_ rest: inout Substring.UTF8View) {
    if rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
  }

  private static func skipDigits(_ rest: inout Substring.UTF8View) -> Int {
    let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    let count = digits.count
    rest.removeFirst(count)
    return count
  }
}

// MARK: PropertyValueText

/// Values as text in one canonical form for each attribute type, from which the same value comes back.
///
/// Stores that embed their model write default values so; `Formats/Model/README.md` is the specification.
extension PropertyValue {
  /// The value as text in the canonical form of `type`, or nil where it is null or does not fit the type.
  ///
  /// The base of a relative URI is folded into it, and the bits that tell one NaN from another are not kept.
  public func text(of type: AttributeType) -> String? {
    guard type != .undefined, fits(type) else { return nil }
    switch self {
    case .null, .toOne, .toMany: return nil
    case .integer(let number): return String(number)
    case .decimal(let number): return number.isNaN ? NumberText.notANumber : number.description
    case .double(let number): return NumberText.text(of: number)
    case .float(let number): return NumberText.text(of: number)
    case .string(let string): return string
    case .boolean(let flag): return flag ? "true" : "false"
    case .date(let date): return NumberText.text(of: date.timeIntervalSinceReferenceDate)
    case .binary(let data): return data.base64EncodedString()
    case .uuid(let uuid): return uuid.uuidString
    case .uri(let url): return url.absoluteString
    }
  }

  /// The value of an attribute of `type` that `text` stands for, or nil where it stands for none.
  ///
  /// It reads what ``text(of:)`` writes, and other ways to write the same value: `+5`, `1E3`, a UUID in small letters.
  public init?(text: String, type: AttributeType) {
    guard let value = Self.value(of: text, type), value.fits(type) else { return nil }
    self = value
  }

  private static func value(of text: String, _ type: AttributeType) -> PropertyValue? {
    switch type {
    case .integer16, .integer32, .integer64: Int64(text).map(PropertyValue.integer)
    case .decimal: NumberText.decimal(text).map(PropertyValue.decimal)
    case .double: NumberText.number(text, Double.self).map(PropertyValue.double)
    case .float: NumberText.number(text, Float.self).map(PropertyValue.float)
    case .string: .string(text)
    case .boolean: text == "true" ? .boolean(true) : text == "false" ? .boolean(false) : nil
    case .date: NumberText.number(text, Double.self).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
    case .binary, .transformable: data(text).map(PropertyValue.binary)
    case .uuid: UUID(uuidString: text).map(PropertyValue.uuid)
    case .uri: URL(string: text).map(PropertyValue.uri)
    case .undefined: nil
    }
  }

  /// The bytes that base64 text stands for. Foundation by itself lets superfluous padding pass.
  private static func data(_ text: String) -> Data? {
    text.utf8.count.isMultiple(of: 4) ? Data(base64Encoded: text) : nil
  }
}

// MARK: HexadecimalDigit

/// Digits of base 16 in ASCII.
package enum HexadecimalDigit {
  /// The value of a digit, in capitals or small letters.
  @inlinable
  package static func value(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    default: nil
    }
  }

  @inlinable
  package static func capital(_ value: UInt8) -> UInt8 {
    value < 10 ? value + UInt8(ascii: "0") : value + UInt8(ascii: "A") - 10
  }

  @inlinable
  package static func small(_ value: UInt8) -> UInt8 {
    value < 10 ? value + UInt8(ascii: "0") : value + UInt8(ascii: "a") - 10
  }

  /// The bytes of a text in which two digits behind `escape` stand for a byte; nil where a digit is missing.
  package static func unescaped(_ text: some Sequence<UInt8>, behind escape: UInt8) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = text.makeIterator()
    while let byte = rest.next() {
      guard byte == escape else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.next().flatMap(value), let low = rest.next().flatMap(value) else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }
}

// MARK: String: byte hash

extension String {
  /// Hashes the bytes of the text, for values that are equal when their bytes are.
  ///
  /// A string's own hash is the same for all strings that Unicode calls equivalent: whoever knows that could choose many that differ and
  /// collide.
  package func hashBytes(into hasher: inout Hasher) {
    var text = self
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    // No UTF-8 has this byte, so that two texts behind each other are not taken for others.
    hasher.combine(UInt8.max)
  }
}
