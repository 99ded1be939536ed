package import HeartwoodFoundation

/// Numbers as text: the shortest decimal from which the same number can be read, `inf`, `-inf` and `nan`.
package enum NumberText {
  static let notANumber = "nan"
  private static let infinities = ["inf", "-inf"]

  package static func text<Number: BinaryFloatingPoint & LosslessStringConvertible>(of number: Number) -> String {
    number.isNaN ? notANumber : number.description
  }

  /// Returns the number in `text`, or nil if it is not a number or so large that it would be infinite.
  package static func number<Number: BinaryFloatingPoint & LosslessStringConvertible>(
    _ text: String,
    _ type: Number.Type
  ) -> Number? {
    if text == notANumber { return .nan }
    if infinities.contains(text) { return Number(text) }
    guard isDecimal(text), let number = Number(text), number.isFinite else { return nil }
    return number
  }

  /// Returns the decimal number that is exactly `text`, or nil if there is none: a `Decimal` holds any 38 digits, and
  /// some numbers of 39.
  package static func decimal(_ text: String) -> Decimal? {
    if text == notANumber { return .nan }
    guard isDecimal(text), let number = Decimal(string: text), !number.isNaN else { return nil }
    return isExact(number, text) ? number : nil
  }

  /// The number of digits for which a `Decimal` always has room.
  private static let digitsOfDecimal = 38

  /// Returns whether `number` has all digits of `text`, and is not 0 only because `text` is too small.
  private static func isExact(_ number: Decimal, _ text: String) -> Bool {
    if text.utf8.count <= digitsOfDecimal, !number.isZero { return true }
    let digits = significantDigits(of: text)
    if digits.count <= digitsOfDecimal { return number.isZero == digits.isEmpty }
    return digits == significantDigits(of: number.description)
  }

  /// Returns the digits from the first that is not 0 to the last that is not 0.
  private static func significantDigits(of text: String) -> ArraySlice<UInt8> {
    let zero = UInt8(ascii: "0")
    let mantissa = text.utf8.prefix { $0 | 0x20 != UInt8(ascii: "e") }
    let digits = mantissa.filter { (zero...UInt8(ascii: "9")).contains($0) }
    guard let first = digits.firstIndex(where: { $0 != zero }), let last = digits.lastIndex(where: { $0 != zero })
    else { return [] }
    return digits[first...last]
  }

  /// Returns whether the text is a decimal number: an optional sign, digits with an optional point, and an optional
  /// exponent.
  ///
  /// The parsers of the standard library and of Foundation accept more: hexadecimal numbers, or any text after a
  /// number.
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

/// Values as text, in one canonical form for each attribute type, from which the same value can be read.
///
/// Stores that embed their model write default values in this form; `Formats/Model/README.md` is the specification.
extension PropertyValue {
  /// Returns the value as text in the canonical form of `type`, or nil if it is null or does not fit the type.
  ///
  /// A relative URI is resolved against its base, and the bits that distinguish one NaN from another are lost.
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

  /// Reads a value of an attribute of `type` from `text`. Returns nil if the text is not a value of that type.
  ///
  /// It reads the form that ``text(of:)`` writes, and other spellings of the same value: `+5`, `1E3`, a UUID in
  /// lowercase.
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

  /// Returns the bytes of base64 text. Foundation alone accepts superfluous padding.
  private static func data(_ text: String) -> Data? {
    text.utf8.count.isMultiple(of: 4) ? Data(base64Encoded: text) : nil
  }
}

// MARK: HexadecimalDigit

/// Hexadecimal digits in ASCII.
package enum HexadecimalDigit {
  /// Returns the value of a digit in uppercase or lowercase, or nil if the byte is not a digit.
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

  /// Returns the bytes of a text in which `escape` and two digits stand for a byte; nil if a digit is missing.
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
  /// Hashes the UTF-8 bytes, for values that are equal if their bytes are equal.
  ///
  /// A string's own hash is the same for all canonically equivalent strings, so an attacker could choose many different
  /// strings that collide.
  package func hashBytes(into hasher: inout Hasher) {
    var text = self
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    // UTF-8 never contains this byte, so that two texts in a row do not hash like two others.
    hasher.combine(UInt8.max)
  }
}
