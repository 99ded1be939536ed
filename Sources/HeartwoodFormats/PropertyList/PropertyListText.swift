import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Reads the texts of the elements of a property list in XML.
enum PropertyListText {
  /// Returns the value of an element, or nil if its text is invalid.
  static func value(_ word: PropertyListElements.Word, _ text: UnsafeRawBufferPointer) -> MetadataValue? {
    let bytes = GrowableBytes()
    bytes.append(text)
    return scalar(word, bytes.unsafeMutableBytes)?.value
  }

  static func integer(_ text: UnsafeRawBufferPointer) -> Int64? {
    IntegerText.integer(trimmed(text))
  }

  static func real(_ text: UnsafeRawBufferPointer) -> Double? {
    let text = trimmed(text)
    if let number = ExactDecimalText.number(text) ?? FloatingPointText.number(text, Double.self) { return number }
    switch String(decoding: text, as: UTF8.self).lowercased() {
    case "nan": return .nan
    case "inf", "+inf", "infinity", "+infinity": return .infinity
    case "-inf", "-infinity": return -.infinity
    default: return nil
    }
  }

  /// Returns the seconds since 2001 for a date such as `2001-01-01T00:00:00Z`.
  static func date(_ text: UnsafeRawBufferPointer) -> Double? {
    var reader = DateTextReader()
    let text = trimmed(text)
    return text.last == UInt8(ascii: "Z") ? reader.seconds(text) : nil
  }

  private static func trimmed(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    func isSpace(_ byte: UInt8) -> Bool { byte <= UInt8(ascii: " ") }
    guard let first = text.firstIndex(where: { !isSpace($0) }), let last = text.lastIndex(where: { !isSpace($0) })
    else {
      return UnsafeRawBufferPointer(start: nil, count: 0)
    }
    return UnsafeRawBufferPointer(rebasing: text[first...last])
  }
}

extension PropertyListText {
  /// Returns the value of an element, in the memory of its text, which is changed by that.
  static func scalar(_ word: PropertyListElements.Word, _ text: UnsafeMutableRawBufferPointer) -> PropertyListScalar? {
    let bytes = UnsafeRawBufferPointer(text)
    switch word {
    case .string: return .text(bytes)
    case .true: return .boolean(true)
    case .false: return .boolean(false)
    case .integer: return integer(bytes).map(PropertyListScalar.integer)
    case .real: return real(bytes).map(PropertyListScalar.real)
    case .date: return date(bytes).map(PropertyListScalar.date)
    case .data: return Base64Text.decode(text).map { .data(UnsafeRawBufferPointer(rebasing: text[..<$0])) }
    case .dict, .array, .key: return nil
    }
  }
}

// MARK: PropertyListEscapes

/// Writes texts as XML holds them in property lists.
@_spi(CoreDataFiles)
public enum PropertyListEscapes {
  /// Returns whether XML can hold every character of the text.
  public static func canHold(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { canHold(UnsafeRawBufferPointer($0)) }
  }

  /// Returns whether XML can hold every character: those from U+0020 on except U+FFFE and U+FFFF, and tabs and line
  /// ends.
  static func canHold(_ text: UnsafeRawBufferPointer) -> Bool {
    for index in 0..<text.count {
      switch text[index] {
      case UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): continue
      case 0..<0x20: return false
      case 0xEF where text.count - index >= 3 && text[index + 1] == 0xBF && text[index + 2] >= 0xBE: return false
      default: continue
      }
    }
    return true
  }

  static func append(_ text: String, to buffer: inout TextBuffer) {
    var text = text
    text.withUTF8 { append(UnsafeRawBufferPointer($0), to: &buffer) }
  }

  /// Appends a text that XML can hold. A carriage return is written as a character reference, since a parser would
  /// replace it with a line feed.
  static func append(_ text: UnsafeRawBufferPointer, to buffer: inout TextBuffer) {
    var start = 0
    for index in 0..<text.count {
      guard let escape = escape(text[index]) else { continue }
      buffer.append(UnsafeRawBufferPointer(rebasing: text[start..<index]))
      buffer.append(escape)
      start = index + 1
    }
    buffer.append(UnsafeRawBufferPointer(rebasing: text[start...]))
  }

  @inline(__always)
  private static func escape(_ byte: UInt8) -> String? {
    switch byte {
    case UInt8(ascii: "&"): "&amp;"
    case UInt8(ascii: "<"): "&lt;"
    case UInt8(ascii: ">"): "&gt;"
    case UInt8(ascii: "\r"): "&#13;"
    default: nil
    }
  }
}

// MARK: PropertyListWrapping

/// Values of metadata that a property list cannot hold as they are: each is wrapped in a dictionary with one key for
/// its type.
enum PropertyListWrapping {
  private static let prefix = "Heartwood."
  /// Seconds since 2001, of a date that XML property lists would round.
  static let date = "Heartwood.date"
  /// UTF-8, of a string with characters that XML cannot hold.
  static let string = "Heartwood.string"
  /// A dictionary whose only key would be taken for one of these.
  static let dictionary = "Heartwood.dictionary"

  /// Returns whether a dictionary would be taken for a wrapping.
  static func needsWrapping(_ members: [String: MetadataValue]) -> Bool {
    members.count == 1 && members.keys.allSatisfy { $0.hasPrefix(prefix) }
  }

  /// Returns the value with all wrappings in it replaced by the wrapped values; nil if a wrapping is invalid.
  ///
  /// It proceeds from the outside in: the value in a wrapping of a dictionary is no wrapping itself, whatever it looks
  /// like.
  static func unwrapped(_ value: MetadataValue) -> MetadataValue? {
    switch value {
    case .array(let values):
      let plain = values.compactMap(unwrapped)
      return plain.count == values.count ? .array(plain) : nil
    case .dictionary(let members):
      return needsWrapping(members) ? content(members) : unwrapped(members)
    default: return value
    }
  }

  private static func unwrapped(_ members: [String: MetadataValue]) -> MetadataValue? {
    let plain = members.compactMapValues(unwrapped)
    return plain.count == members.count ? .dictionary(plain) : nil
  }

  private static func content(_ members: [String: MetadataValue]) -> MetadataValue? {
    switch members.first {
    case (date, .double(let seconds))?: .date(Date(timeIntervalSinceReferenceDate: seconds))
    case (string, .binary(let data))?: String(data: data, encoding: .utf8).map(MetadataValue.string)
    case (dictionary, .dictionary(let members))?: unwrapped(members)
    default: nil
    }
  }
}
