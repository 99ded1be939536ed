import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Writes property lists as XML elements, each on a line of its own.
struct PropertyListTextWriter {
  /// The number of bytes of data in a line.
  private static let dataLine = 57

  let indent: String
  /// The indent of each line of data; nil means that of the element.
  let dataIndent: String?
  /// The depth of the next element.
  var depth: Int

  // MARK: Values

  mutating func append(_ value: MetadataValue, to buffer: inout TextBuffer) {
    switch value {
    case .string(let text): append(string: text, to: &buffer)
    case .integer(let number): line("<integer>\(number)</integer>", to: &buffer)
    case .double(let number): line("<real>\(Self.text(of: number))</real>", to: &buffer)
    case .boolean(let flag): line(flag ? "<true/>" : "<false/>", to: &buffer)
    case .date(let date): append(date: date.timeIntervalSinceReferenceDate, to: &buffer)
    case .binary(let data): data.withUnsafeBytes { append(data: $0, to: &buffer) }
    case .array(let values): append(values, to: &buffer)
    case .dictionary(let members): append(members, to: &buffer)
    }
  }

  private mutating func append(_ values: [MetadataValue], to buffer: inout TextBuffer) {
    if values.isEmpty { return line("<array></array>", to: &buffer) }
    line("<array>", to: &buffer)
    depth += 1
    for value in values { append(value, to: &buffer) }
    depth -= 1
    line("</array>", to: &buffer)
  }

  private mutating func append(_ members: [String: MetadataValue], to buffer: inout TextBuffer) {
    if PropertyListWrapping.needsWrapping(members) {
      return wrap(PropertyListWrapping.dictionary, to: &buffer) { $0.appendMembers(members, to: &$1) }
    }
    appendMembers(members, to: &buffer)
  }

  private mutating func appendMembers(_ members: [String: MetadataValue], to buffer: inout TextBuffer) {
    if members.isEmpty { return line("<dict></dict>", to: &buffer) }
    line("<dict>", to: &buffer)
    depth += 1
    for (key, value) in members.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
      append(key: key, to: &buffer)
      append(value, to: &buffer)
    }
    depth -= 1
    line("</dict>", to: &buffer)
  }

  func append(key: String, to buffer: inout TextBuffer) {
    appendIndent(to: &buffer)
    buffer.append("<key>")
    PropertyListEscapes.append(key, to: &buffer)
    buffer.append("</key>\n")
  }

  private mutating func append(string: String, to buffer: inout TextBuffer) {
    guard PropertyListEscapes.canHold(string) else {
      return wrap(PropertyListWrapping.string, to: &buffer) { writer, buffer in
        Array(string.utf8).withUnsafeBytes { writer.append(data: $0, to: &buffer) }
      }
    }
    appendIndent(to: &buffer)
    buffer.append("<string>")
    PropertyListEscapes.append(string, to: &buffer)
    buffer.append("</string>\n")
  }

  private mutating func append(date seconds: Double, to buffer: inout TextBuffer) {
    if let text = Self.text(ofDate: seconds) { return line("<date>\(text)</date>", to: &buffer) }
    wrap(PropertyListWrapping.date, to: &buffer) { writer, buffer in
      writer.line("<real>\(Self.text(of: seconds))</real>", to: &buffer)
    }
  }

  private mutating func wrap(
    _ key: String,
    to buffer: inout TextBuffer,
    _ body: (inout PropertyListTextWriter, inout TextBuffer) -> Void
  ) {
    line("<dict>", to: &buffer)
    depth += 1
    append(key: key, to: &buffer)
    body(&self, &buffer)
    depth -= 1
    line("</dict>", to: &buffer)
  }

  func append(data: UnsafeRawBufferPointer, to buffer: inout TextBuffer) {
    line("<data>", to: &buffer)
    for start in stride(from: 0, to: data.count, by: Self.dataLine) {
      appendDataIndent(to: &buffer)
      Base64Text.append(UnsafeRawBufferPointer(rebasing: data[start...].prefix(Self.dataLine)), to: &buffer)
      buffer.append(UInt8(ascii: "\n"))
    }
    appendDataIndent(to: &buffer)
    buffer.append("</data>\n")
  }

  // MARK: Lines

  func line(_ text: String, to buffer: inout TextBuffer) {
    appendIndent(to: &buffer)
    buffer.append(text)
    buffer.append(UInt8(ascii: "\n"))
  }

  private func appendIndent(to buffer: inout TextBuffer) {
    for _ in 0..<depth { buffer.append(indent) }
  }

  private func appendDataIndent(to buffer: inout TextBuffer) {
    if let dataIndent { buffer.append(dataIndent) } else { appendIndent(to: &buffer) }
  }

  // MARK: Texts

  /// Returns the shortest text; infinities and NaN have the form that Apple's tools use.
  static func text<Number: BinaryFloatingPoint & LosslessStringConvertible>(of number: Number) -> String {
    if number.isNaN { return "nan" }
    if number.isInfinite { return number < 0 ? "-infinity" : "+infinity" }
    return number.description
  }

  /// Returns the text of a date, or nil if no text preserves it: XML property lists have whole seconds of the years 1
  /// to 9999.
  static func text(ofDate seconds: Double) -> String? {
    guard seconds == seconds.rounded(.down), !(seconds == 0 && seconds.sign == .minus) else { return nil }
    return DateText.iso8601(seconds)
  }
}

// MARK: Validation

extension PropertyListTextWriter {
  /// Checks that keys can be written.
  ///
  /// - Throws: ``PersistenceError/Code/valueUnsupported``.
  static func validate(_ value: MetadataValue, storeType: StoreType, depth: Int = 0) throws(PersistenceError) {
    guard depth <= greatestDepth else {
      let problem = "The metadata is nested more than \(greatestDepth) deep."
      throw unsupported(problem, recovery: "Make it flatter.", storeType)
    }
    switch value {
    case .array(let values): for value in values { try validate(value, storeType: storeType, depth: depth + 1) }
    case .dictionary(let members):
      for (key, value) in members {
        guard PropertyListEscapes.canHold(key) else {
          throw unsupported(
            "The key \(key.debugDescription) of the metadata has characters that XML cannot hold.",
            recovery: "Choose another.",
            storeType
          )
        }
        try validate(value, storeType: storeType, depth: depth + 1)
      }
    default: break
    }
  }

  /// Less than the depth that a reader accepts by default, together with the elements around the metadata and around
  /// wrapped values.
  static let greatestDepth = 24

  private static func unsupported(
    _ problem: String,
    recovery: PersistenceError.Recovery,
    _ storeType: StoreType
  ) -> PersistenceError {
    PersistenceError(.valueUnsupported, problem, recovery: recovery, context: .init(storeType: storeType))
  }
}
