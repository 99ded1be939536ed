import HeartwoodFoundation
package import HeartwoodModel
package import HeartwoodStore

/// Formats records as comma-separated values, as in RFC 4180: a header, and one line per record, which ends with a line
/// feed.
///
/// The first field is the reference, `$id`, followed by the attributes and then the relationships in the order of the
/// model. Nil is an empty field, and an empty string is a pair of quotation marks.
package struct RecordFields: RecordFormatter {
  private let values: [ValueText]
  /// The line before the records.
  package let header: ByteSlice

  /// - Parameter entities: the entities of the model, needed for the names of entities in references that do not belong
  ///   to the destination of a relationship.
  package init(entity: EntityDescription, among entities: [EntityDescription] = []) {
    values = ValueText.all(of: entity, among: entities)
    let header = GrowableBytes()
    header.append(text: "$id")
    for value in values {
      header.append(ascii: ",")
      let name = GrowableBytes()
      name.append(text: value.name)
      header.append(field: UnsafeRawBufferPointer(name.unsafeMutableBytes))
    }
    header.append(ascii: "\n")
    self.header = header.sealed()
  }

  package func append(_ row: Int, of group: RowGroup, to output: GrowableBytes) {
    if group.references.layout == .uuid {
      output.append(textOf: group.references, at: row)
    } else {
      let text = GrowableBytes()
      text.append(textOf: group.references, at: row)
      output.append(field: UnsafeRawBufferPointer(text.unsafeMutableBytes))
    }
    for value in values {
      output.append(ascii: ",")
      if !value.isNull(row, in: group) { append(value, row, of: group, to: output) }
    }
    output.append(ascii: "\n")
  }

  private func append(_ value: ValueText, _ row: Int, of group: RowGroup, to output: GrowableBytes) {
    if let text = value.text(row, in: group) { return output.append(field: text) }
    switch value.shape(row, in: group) {
    case .literal, .plainText: value.append(row, of: group, to: output)
    case .freeText, .json:
      let text = GrowableBytes()
      value.append(row, of: group, to: text)
      output.append(field: UnsafeRawBufferPointer(text.unsafeMutableBytes))
    }
  }
}

extension GrowableBytes {
  /// Appends a field, in quotation marks if necessary.
  package func append(field text: String) {
    var text = text
    text.withUTF8 { append(field: UnsafeRawBufferPointer($0)) }
  }

  /// Appends a field, in quotation marks if necessary.
  fileprivate func append(field bytes: UnsafeRawBufferPointer) {
    guard Self.needsQuotes(bytes) else { return append(bytes) }
    append(ascii: "\"")
    var start = 0
    for (place, byte) in bytes.enumerated() where byte == UInt8(ascii: "\"") {
      append(UnsafeRawBufferPointer(rebasing: bytes[start...place]))
      start = place
    }
    append(UnsafeRawBufferPointer(rebasing: bytes[start...]))
    append(ascii: "\"")
  }

  /// Some readers drop spaces at the ends of a field without quotation marks.
  private static func needsQuotes(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let first = bytes.first, let last = bytes.last else { return true }
    if first <= UInt8(ascii: " ") || last <= UInt8(ascii: " ") { return true }
    return bytes.contains { byte in
      byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\n")
        || byte == UInt8(ascii: "\r")
    }
  }
}
