import HeartwoodFoundation
import HeartwoodStore

/// Reads property lists, binary or XML, into values.
@_spi(CoreDataFiles)
public struct ArchiveReader {
  /// The number of bytes that texts, data and keys may take in any case, and for each byte of the file: each is copied
  /// wherever it occurs.
  private static let leastBytes = 64 << 20
  private static let expansion = 4

  private var remaining = ArchiveValue.mostValues
  private var remainingBytes: Int

  private init(byteCount: Int) {
    remainingBytes = max(Self.leastBytes, byteCount * Self.expansion)
  }

  /// Reads a property list in either form.
  ///
  /// - Throws: ``ArchiveError`` for bytes that are none, and for values that are nested too deeply or are too many.
  public static func value(of bytes: [UInt8]) throws(ArchiveError) -> ArchiveValue {
    var reader = ArchiveReader(byteCount: bytes.count)
    if bytes.starts(with: PropertyListFormat.binaryMagic) { return try reader.binaryValue(bytes) }
    let root: XMLElement
    do {
      root = try XMLTreeParser.parse(bytes)
    } catch {
      throw ArchiveError(
        message: "It is neither a binary property list nor one in XML: \(error.message)",
        line: error.line
      )
    }
    guard root.name == "plist", let element = root.children.first, root.children.count == 1 else {
      throw ArchiveError(message: "The XML is not a property list with one value in it.", line: root.line)
    }
    return try reader.value(element)
  }

  private mutating func count(depth: Int) throws(ArchiveError) {
    remaining -= 1
    guard remaining > 0, depth < ArchiveValue.deepestNesting else {
      throw ArchiveError(message: "The values are nested too deep, or are too many.")
    }
  }

  /// Counts the bytes that are about to be copied.
  private mutating func count(_ scalar: PropertyListScalar, at offset: Int) throws(ArchiveError) {
    switch scalar {
    case .text, .wideText, .data: remainingBytes -= scalar.byteCount
    case .boolean, .integer, .real, .date: return
    }
    guard remainingBytes > 0 else {
      throw ArchiveError(message: "The values take far more memory than the file has bytes.", offset: offset)
    }
  }
}

// MARK: Binary

extension ArchiveReader {
  private mutating func binaryValue(_ bytes: [UInt8]) throws(ArchiveError) -> ArchiveValue {
    do {
      let list = try BinaryPropertyList(ByteSlice(bytes.withUnsafeBytes { ByteRegion.copying($0) }))
      return try value(list.root, of: list, depth: 0)
    } catch let fault as PropertyListFault {
      throw ArchiveError(message: "\(fault.reason)", offset: fault.offset)
    } catch let error as ArchiveError {
      throw error
    } catch {
      throw ArchiveError(message: "\(error)")
    }
  }

  private mutating func value(_ number: Int, of list: BinaryPropertyList, depth: Int) throws -> ArchiveValue {
    try count(depth: depth)
    if let mark = try list.archiveMark(number) { return mark }
    switch try list.object(number) {
    case .scalar(let scalar): return try value(scalar, at: try list.offset(number))
    case .array(let references):
      var values: [ArchiveValue] = []
      for index in 0..<references.count { values.append(try value(references[index], of: list, depth: depth + 1)) }
      return .array(values)
    case .dictionary(let keys, let references):
      var members: [String: ArchiveValue] = [:]
      for index in 0..<keys.count {
        let key = try key(keys[index], of: list)
        members[key] = try value(references[index], of: list, depth: depth + 1)
      }
      return .dictionary(members)
    }
  }

  private mutating func key(_ number: Int, of list: BinaryPropertyList) throws -> String {
    if let scalar = try list.scalar(number) { try count(scalar, at: try list.offset(number)) }
    guard let key = try list.key(number) else { throw ArchiveError(message: "A key is not text.") }
    return key
  }

  private mutating func value(_ scalar: PropertyListScalar, at offset: Int) throws(ArchiveError) -> ArchiveValue {
    try count(scalar, at: offset)
    guard let value = ArchiveValue(scalar) else {
      throw ArchiveError(message: "The text is not UTF-16.", offset: offset)
    }
    return value
  }
}

extension ArchiveValue {
  /// Copies the value from the bytes of a file; nil if it is text that is not UTF-16.
  init?(_ scalar: PropertyListScalar) {
    switch scalar {
    case .boolean(let flag): self = .boolean(flag)
    case .integer(let number): self = .integer(number)
    case .real(let number): self = .real(number)
    case .date(let seconds): self = .date(Date(timeIntervalSinceReferenceDate: seconds))
    case .data(let bytes): self = .data(Data(bytes))
    case .text, .wideText:
      guard let text = scalar.string else { return nil }
      self = .string(text)
    }
  }
}

extension BinaryPropertyList {
  private static let nullMarker: UInt8 = 0x00
  private static let referenceMarker: UInt8 = 0x80

  /// Returns the value of an object that only archives have: a null, or a reference; nil for another object.
  func archiveMark(_ number: Int) throws(PropertyListFault) -> ArchiveValue? {
    // The offset of an object is before the trailer, so that a width of at most 16 bytes after it is in the slice.
    let (offset, bytes) = (try offset(number), slice.unsafeBytes)
    if bytes[offset] == Self.nullMarker { return .null }
    guard bytes[offset] & 0xF0 == Self.referenceMarker else { return nil }
    let width = Int(bytes[offset] & 0x0F) + 1
    let target = bytes[(offset + 1)...].prefix(width).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    guard width <= 8, let target = Int(exactly: target) else {
      throw PropertyListFault(offset: offset, reason: "A reference points to an object that does not exist.")
    }
    return .reference(target)
  }
}

// MARK: XML

extension ArchiveReader {
  private static let referenceKey = "CF$UID"

  private mutating func value(_ element: XMLElement, depth: Int = 0) throws(ArchiveError) -> ArchiveValue {
    try count(depth: depth)
    switch element.name {
    case "string": return .string(element.text)
    case "true": return .boolean(true)
    case "false": return .boolean(false)
    case "integer": return .integer(try parsed(element) { Int64($0) })
    case "real": return .real(try parsed(element) { Double($0) })
    // try?: nil is thrown as a malformed element.
    case "date": return .date(try parsed(element) { try? Date($0, strategy: .iso8601) })
    case "data": return .data(try parsed(element) { Data(base64Encoded: $0, options: .ignoreUnknownCharacters) })
    case "array":
      var values: [ArchiveValue] = []
      for child in element.children { values.append(try value(child, depth: depth + 1)) }
      return .array(values)
    case "dict": return try dictionary(element, depth: depth)
    default: throw ArchiveError(message: "“\(element.name)” is not a value of a property list.", line: element.line)
    }
  }

  private mutating func dictionary(_ element: XMLElement, depth: Int) throws(ArchiveError) -> ArchiveValue {
    var members: [String: ArchiveValue] = [:]
    var rest = element.children[...]
    while let key = rest.popFirst() {
      guard key.name == "key", let child = rest.popFirst() else {
        throw ArchiveError(message: "A dictionary has a key without a value, or the reverse.", line: key.line)
      }
      members[key.text] = try value(child, depth: depth + 1)
    }
    if members.count == 1, case .integer(let number) = members[Self.referenceKey], let target = Int(exactly: number) {
      return .reference(target)
    }
    return .dictionary(members)
  }

  private func parsed<Value>(_ element: XMLElement, _ parse: (String) -> Value?) throws(ArchiveError) -> Value {
    let start = element.text.drop(while: \.isWhitespace)
    let text = start.reversed().drop(while: \.isWhitespace).reversed()
    guard let value = parse(String(text)) else {
      throw ArchiveError(message: "The text of “\(element.name)” is not a valid value.", line: element.line)
    }
    return value
  }
}
