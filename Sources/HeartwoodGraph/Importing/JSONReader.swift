import HeartwoodModel
public import HeartwoodStore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Reads JSON (RFC 8259) as values to be imported, the elements of a large array one after the other.
///
/// Foundation's decoders need to be told the type of each number before they read it; here numbers stay as they are written.
struct JSONReader {
  let bytes: [UInt8]
  var position = 0

  init(_ data: Data) {
    bytes = Array(data)
    // A byte order mark.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
  }

  /// The byte that is next; nil at the end.
  var next: UInt8? { position < bytes.count ? bytes[position] : nil }
}

extension ImportValue {
  /// The value that JSON says. Of members with the same name the last one counts.
  ///
  /// - Throws: ``PersistenceError/Code/fileMalformed`` with the line, the column and the byte of the mistake;
  ///   ``PersistenceError/Code/valueUnsupported`` where it is deeper than ``greatestDepth``.
  public init(json data: Data) throws(PersistenceError) {
    var reader = JSONReader(data)
    self = try reader.readValue(depth: 0)
    try reader.readEnd()
  }
}

// MARK: Values

extension JSONReader {
  /// Reads one value and what space is around it.
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

  /// Makes sure that nothing comes any more.
  mutating func readEnd() throws(PersistenceError) {
    skipSpace()
    if next != nil { throw mistake("The value has ended, and something comes after it.") }
  }
}

// MARK: The elements of the whole

extension JSONReader {
  /// Whether the whole is an array, whose elements are read by ``readElement(isFirst:)`` from here on.
  mutating func beginArray() -> Bool {
    skipSpace()
    guard skip("[") else { return false }
    skipSpace()
    return true
  }

  /// The next element of the array; nil at its end, which is that of the text.
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

  /// Skips a character, if it is next.
  mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  /// The error of a mistake at the position, or at another.
  func mistake(
    _ problem: String,
    _ code: PersistenceError.Code = .fileMalformed,
    recovery: PersistenceError.Recovery? = nil,
    at offset: Int? = nil
  ) -> PersistenceError {
    let offset = offset ?? position
    let before = bytes[..<offset]
    let lineStart = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
    // Bytes that continue a character are no column of their own.
    let column = bytes[lineStart..<offset].count { $0 & 0xC0 != 0x80 } + 1
    let context = PersistenceError.Context(
      line: before.count { $0 == 0x0A } + 1,
      column: column,
      byteOffset: offset
    )
    return PersistenceError(code, "This is no JSON. " + problem, recovery: recovery, context: context)
  }
}
