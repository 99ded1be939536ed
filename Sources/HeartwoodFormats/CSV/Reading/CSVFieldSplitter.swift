/// Splits one record into fields: the plain way, for the first lines of a file and for single records.
struct CSVFieldSplitter {
  struct Field {
    /// The bytes of the field, quotes included.
    var range: Range<Int>
    var isQuoted: Bool
  }

  struct Record {
    var fields: [Field]
    /// Where the line begins.
    var start: Int
    /// Where the next line begins.
    var end: Int
    /// Whether the first separator is followed by a space; nil where there is no separator.
    var hasSpaceAfterSeparator: Bool?
  }

  enum Outcome {
    case record(Record)
    /// The bytes end before the record does.
    case incomplete
    case malformed
  }

  let separator: UInt8
  let dropsSpace: Bool
  /// Whether nothing follows the bytes, so that the last line needs no end.
  let isWhole: Bool

  /// The record that begins at `start`.
  func split(_ bytes: [UInt8], from start: Int) -> Outcome {
    var record = Record(fields: [], start: start, end: start)
    var position = start
    while true {
      if !record.fields.isEmpty {
        guard position < bytes.count || isWhole else { return .incomplete }
        let isSpace = position < bytes.count && bytes[position] == CSVFormat.space
        if record.hasSpaceAfterSeparator == nil { record.hasSpaceAfterSeparator = isSpace }
        if dropsSpace, isSpace { position += 1 }
      }
      guard let end = endOfField(bytes, from: position) else { return isWhole ? .malformed : .incomplete }
      record.fields.append(
        Field(range: position..<end, isQuoted: position < end && bytes[position] == CSVFormat.quote)
      )
      if end < bytes.count, bytes[end] == separator {
        position = end + 1
        continue
      }
      guard let next = endOfLine(bytes, at: end) else {
        return end + 1 >= bytes.count && !isWhole ? .incomplete : .malformed
      }
      record.end = next
      return .record(record)
    }
  }

  /// The place behind the last byte of a field, or nil where the bytes end in quotes.
  private func endOfField(_ bytes: [UInt8], from start: Int) -> Int? {
    var position = start
    if position < bytes.count, bytes[position] == CSVFormat.quote {
      position += 1
      while true {
        guard let quote = bytes[position...].firstIndex(of: CSVFormat.quote) else { return nil }
        position = quote + 1
        guard position < bytes.count, bytes[position] == CSVFormat.quote else { return position }
        position += 1
      }
    }
    let isEnd = { (byte: UInt8) in
      byte == separator || byte == CSVFormat.lineFeed || byte == CSVFormat.carriageReturn || byte == CSVFormat.quote
    }
    return bytes[position...].firstIndex(where: isEnd) ?? bytes.count
  }

  /// The place behind the line end at `position`, or nil where there is none.
  private func endOfLine(_ bytes: [UInt8], at position: Int) -> Int? {
    guard position < bytes.count else { return isWhole ? position : nil }
    if bytes[position] == CSVFormat.lineFeed { return position + 1 }
    guard bytes[position] == CSVFormat.carriageReturn, position + 1 < bytes.count,
      bytes[position + 1] == CSVFormat.lineFeed
    else { return nil }
    return position + 2
  }

  /// The text of a field without its quotes.
  func text(_ field: Field, in bytes: [UInt8]) -> String {
    let raw = String(decoding: bytes[field.range], as: UTF8.self)
    guard field.isQuoted else { return raw }
    var text = ""
    var isEscaped = false
    for character in raw.unicodeScalars.dropFirst().dropLast() {
      isEscaped = character == "\"" && !isEscaped
      if !isEscaped { text.unicodeScalars.append(character) }
    }
    return text
  }
}
