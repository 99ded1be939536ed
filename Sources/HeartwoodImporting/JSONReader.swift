public import HeartwoodFoundation
import HeartwoodModel
public import HeartwoodStore

/// Reads JSON (RFC 8259) as values to import, and a large array element by element.
///
/// Foundation's decoders need to know the type of each number in advance; here numbers stay as they are written.
struct JSONReader {
  let bytes: [UInt8]
  var position = 0

  init(_ data: Data) {
    bytes = Array(data)
    // A byte order mark.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
  }

  /// The next byte; nil at the end.
  var next: UInt8? { position < bytes.count ? bytes[position] : nil }
}

extension ImportValue {
  /// Reads a value from JSON. If several members have the same name, the last one is used.
  ///
  /// - Throws: ``PersistenceError/Code/fileMalformed`` with the line, the column and the byte of the mistake;
  ///   ``PersistenceError/Code/valueUnsupported`` if it is nested deeper than ``greatestDepth``.
  public init(json data: Data) throws(PersistenceError) {
    var reader = JSONReader(data)
    self = try reader.readValue(depth: 0)
    try reader.readEnd()
  }
}

// MARK: Values

extension JSONReader {
  /// Reads one value and the white space around it.
  mutating func readValue(depth: Int) throws(PersistenceError) -> ImportValue {
    skipSpace()
    let value: ImportValue
    switch next {
    case UInt8(ascii: "{"): value = try readObject(depth: depth)
    case UInt8(ascii: "["): value = try readArray(depth: depth)
    case UInt8(ascii: "\""): value = .scalar(.string(try readString()))
    case UInt8(ascii: "t"): value = try readWord("true", .scalar(.boolean(true)))
    case UInt8(ascii: "f"): value = try readWord("false", .scalar(.boolean(false)))
    case UInt8(ascii: "n"): value = try readWord("null", .null)
    case let byte? where byte == UInt8(ascii: "-") || Self.isDigit(byte): value = try readNumber()
    default: throw mistake(next == nil ? "The text ends where a value should be." : "No value begins like this.")
    }
    skipSpace()
    return value
  }

  private mutating func readObject(depth: Int) throws(PersistenceError) -> ImportValue {
    try enter(depth)
    var members: [String: ImportValue] = [:]
    if skip("}") { return .object(members) }
    repeat {
      skipSpace()
      guard next == UInt8(ascii: "\"") else { throw mistake("The name of a member should be here, in quotes.") }
      let name = try readString()
      skipSpace()
      guard skip(":") else { throw mistake("A colon should be here.") }
      members[name] = try readValue(depth: depth + 1)
    } while skip(",")
    guard skip("}") else { throw mistake("A comma or a closing brace should be here.") }
    return .object(members)
  }

  private mutating func readArray(depth: Int) throws(PersistenceError) -> ImportValue {
    try enter(depth)
    var elements: [ImportValue] = []
    if skip("]") { return .array(elements) }
    repeat { elements.append(try readValue(depth: depth + 1)) } while skip(",")
    try endArray()
    return .array(elements)
  }

  private mutating func enter(_ depth: Int) throws(PersistenceError) {
    guard depth < ImportValue.greatestDepth else {
      throw mistake("Arrays and objects are in each other more than \(depth) deep here.", .valueUnsupported)
    }
    position += 1
    skipSpace()
  }

  private mutating func endArray() throws(PersistenceError) {
    guard skip("]") else { throw mistake("A comma or a closing bracket should be here.") }
  }

  private mutating func readWord(_ word: String, _ value: ImportValue) throws(PersistenceError) -> ImportValue {
    guard bytes[position...].starts(with: word.utf8) else { throw mistake("No value begins like this.") }
    position += word.utf8.count
    return value
  }

  /// Throws unless the end is reached.
  mutating func readEnd() throws(PersistenceError) {
    skipSpace()
    if next != nil { throw mistake("The value has ended, and something comes after it.") }
  }
}

// MARK: The elements of the whole

extension JSONReader {
  /// Returns whether the JSON is an array, and enters it, so that ``readElement(isFirst:)`` reads its elements.
  mutating func beginArray() -> Bool {
    skipSpace()
    guard skip("[") else { return false }
    skipSpace()
    return true
  }

  /// Reads the next element of the array; nil at the end of the array, which must be the end of the text.
  mutating func readElement(isFirst: Bool) throws(PersistenceError) -> ImportValue? {
    let isEnd = isFirst ? skip("]") : !skip(",")
    if !isEnd { return try readValue(depth: 1) }
    if !isFirst { try endArray() }
    try readEnd()
    return nil
  }
}

// MARK: Bytes

extension JSONReader {
  mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
  }

  /// Skips the next byte if it is the given character, and returns whether it was.
  mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  /// Returns the error for a mistake at the current or the given position.
  func mistake(
    _ problem: String,
    _ code: PersistenceError.Code = .fileMalformed,
    recovery: PersistenceError.Recovery? = nil,
    at offset: Int? = nil
  ) -> PersistenceError {
    let offset = offset ?? position
    let before = bytes[..<offset]
    let lineStart = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
    // Bytes that continue a character do not count as columns.
    let column = bytes[lineStart..<offset].count { $0 & 0xC0 != 0x80 } + 1
    let context = PersistenceError.Context(
      line: before.count { $0 == 0x0A } + 1,
      column: column,
      byteOffset: offset
    )
    return PersistenceError(code, "This is not JSON. " + problem, recovery: recovery, context: context)
  }
}

// MARK: Text

// MARK: Strings

extension JSONReader {
  /// Reads a string that begins at the current position with its opening quote.
  mutating func readString() throws(PersistenceError) -> String {
    let start = position
    position += 1
    var text: [UInt8] = []
    while true {
      let begin = position
      while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { position += 1 }
      text += bytes[begin..<position]
      if skip("\"") { break }
      if skip("\\") { try readEscape(into: &text) } else { try refuseString(from: start) }
    }
    if let offset = UTF8Validation.firstInvalidOffset(in: text) {
      throw mistake("The string that begins here is no UTF-8 at its byte \(offset).", at: start)
    }
    return String(decoding: text, as: UTF8.self)
  }

  private func refuseString(from start: Int) throws(PersistenceError) {
    guard next != nil else { throw mistake("The string that begins here does not end.", at: start) }
    throw mistake("A control character is in a string.", recovery: "Write it with a backslash.")
  }

  private mutating func readEscape(into text: inout [UInt8]) throws(PersistenceError) {
    let mark = position - 1
    let byte = next
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(bytes[position - 1])
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "u"): text += String(try readScalar(from: mark)).utf8
    default: throw mistake("No character is written like this after a backslash.", at: mark)
    }
  }

  /// Reads the character of four digits, or of a surrogate pair of two times four digits.
  private mutating func readScalar(from mark: Int) throws(PersistenceError) -> Unicode.Scalar {
    let first = try readUnit(from: mark)
    if let scalar = Unicode.Scalar(first) { return scalar }
    if UTF16.isLeadSurrogate(first), skip("\\"), skip("u") {
      let second = try readUnit(from: mark)
      if UTF16.isTrailSurrogate(second), let scalar = Unicode.Scalar(Self.scalarValue(first, second)) { return scalar }
    }
    throw mistake("Half of a surrogate pair stands alone.", at: mark)
  }

  /// Returns the character of a surrogate pair.
  private static func scalarValue(_ lead: UInt16, _ trail: UInt16) -> UInt32 {
    0x1_0000 + (UInt32(lead - 0xD800) << 10 | UInt32(trail - 0xDC00))
  }

  private mutating func readUnit(from mark: Int) throws(PersistenceError) -> UInt16 {
    guard bytes.count - position >= 4 else { throw mistake("Four digits should come after \\u.", at: mark) }
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let digit = HexadecimalDigit.value(bytes[position]) else {
        throw mistake("Four digits should come after \\u.", at: mark)
      }
      unit = unit << 4 | UInt16(digit)
      position += 1
    }
    return unit
  }
}

// MARK: Numbers

extension JSONReader {
  /// Reads a number that begins at the current position.
  mutating func readNumber() throws(PersistenceError) -> ImportValue {
    let start = position
    _ = skip("-")
    if !skip("0") { try skipDigits(from: start) }
    let isWhole = next != UInt8(ascii: ".") && next != UInt8(ascii: "e") && next != UInt8(ascii: "E")
    if skip(".") { try skipDigits(from: start) }
    if skip("e") || skip("E") {
      _ = skip("+") || skip("-")
      try skipDigits(from: start)
    }
    if let byte = next, byte == UInt8(ascii: ".") || Self.isDigit(byte) {
      throw mistake("This is no number as JSON writes them.", at: start)
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    if isWhole, let integer = Int64(text) { return .scalar(.integer(integer)) }
    return .number(text)
  }

  private mutating func skipDigits(from start: Int) throws(PersistenceError) {
    let first = position
    while let byte = next, Self.isDigit(byte) { position += 1 }
    if position == first { throw mistake("This is no number as JSON writes them.", at: start) }
  }

  static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
