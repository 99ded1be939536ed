import HeartwoodFoundation
import HeartwoodStore

/// A record of a table: the texts of its fields, and the line in which it begins.
struct TableRow {
  let line: Int
  var fields: [String] = []

  /// Whether no field has text, as in the rows that spreadsheets leave below a table.
  var isEmpty: Bool { fields.allSatisfy(\.isEmpty) }
}

/// Reads the records of a table that a spreadsheet or a database has exported: text with a separator between the fields
/// and a line for each record.
///
/// A field in quotation marks may contain separators, line breaks, and quotation marks written twice. White space around
/// a field without them is dropped. Rows without any text are skipped.
struct TableReader {
  private static let quote = UInt8(ascii: "\"")
  private static let lineFeed = UInt8(ascii: "\n")
  private static let carriageReturn = UInt8(ascii: "\r")

  /// The name of the file in errors.
  let path: String
  private let bytes: [UInt8]
  let separator: UInt8
  private var position = 0
  /// The line at `position`, counted from 1.
  private(set) var line = 1

  /// - Parameter separator: the separator; nil to take that of the first line.
  init(_ bytes: [UInt8], path: String, separator: UInt8?) throws {
    self.path = path
    self.bytes = bytes
    let named = Self.namedSeparator(bytes)
    if let chosen = separator ?? named {
      self.separator = chosen
    } else {
      self.separator = try Self.likelySeparator(bytes, path)
    }
    if named != nil { skipLine() }
  }

  /// Skips a whole line, such as a heading above the table.
  mutating func skipLine() {
    while position < bytes.count, !isLineEnd(bytes[position]) { position += 1 }
    skipLineEnd()
  }

  /// Returns the next record that has any text; nil at the end of the file.
  mutating func next() throws -> TableRow? {
    while position < bytes.count {
      let row = try record()
      if !row.isEmpty { return row }
    }
    return nil
  }

  private mutating func record() throws -> TableRow {
    var row = TableRow(line: line)
    while true {
      row.fields.append(try field())
      guard position < bytes.count, bytes[position] == separator else { break }
      position += 1
    }
    skipLineEnd()
    return row
  }

  private mutating func field() throws -> String {
    skipSpaces()
    if position < bytes.count, bytes[position] == Self.quote { return try quotedField() }
    let start = position
    while position < bytes.count, bytes[position] != separator, !isLineEnd(bytes[position]) { position += 1 }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    return String(text.reversed().drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace))
  }

  private mutating func quotedField() throws -> String {
    let start = line
    var text: [UInt8] = []
    position += 1
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      if byte != Self.quote {
        if byte == Self.lineFeed { line += 1 }
        text.append(byte)
      } else if position < bytes.count, bytes[position] == Self.quote {
        text.append(byte)
        position += 1
      } else {
        skipSpaces()
        guard position == bytes.count || bytes[position] == separator || isLineEnd(bytes[position]) else {
          throw ToolError(
            at: "\(path):\(line)",
            "Text follows a closing quotation mark. Write a quotation mark inside a field twice."
          )
        }
        return String(decoding: text, as: UTF8.self)
      }
    }
    throw ToolError(
      at: "\(path):\(start)",
      "A field begins with a quotation mark in this line, and has no closing one. Add it, or write the mark twice inside quotation marks."
    )
  }

  private func isLineEnd(_ byte: UInt8) -> Bool { byte == Self.lineFeed || byte == Self.carriageReturn }

  private mutating func skipSpaces() {
    while position < bytes.count, bytes[position] == UInt8(ascii: " ") { position += 1 }
  }

  private mutating func skipLineEnd() {
    guard position < bytes.count else { return }
    let isPair =
      bytes[position] == Self.carriageReturn && position + 1 < bytes.count && bytes[position + 1] == Self.lineFeed
    position += isPair ? 2 : 1
    line += 1
  }
}

// MARK: Separators

extension TableReader {
  /// The separators that are looked for in the first line.
  private static let likely = [",", ";", "\t", "|"].compactMap { ($0 as Character).asciiValue }
  private static let names = ["comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"]

  /// Returns the separator that an argument names, or nil if it names none.
  static func separator(named name: String) -> UInt8? {
    let text = names[name] ?? name
    guard let byte = text.utf8.first, text.utf8.count == 1, byte < 0x80, byte != quote, byte != lineFeed,
      byte != carriageReturn, byte != UInt8(ascii: " ")
    else { return nil }
    return byte
  }

  /// Returns the separator in a first line such as `sep=;`, which Excel reads and writes.
  private static func namedSeparator(_ bytes: [UInt8]) -> UInt8? {
    let line = String(decoding: bytes.prefix(8).prefix { $0 != lineFeed && $0 != carriageReturn }, as: UTF8.self)
    guard line.lowercased().hasPrefix("sep="), line.utf8.count == 5 else { return nil }
    return line.utf8.last
  }

  /// Returns the separator that is most frequent in the first line, outside of quotation marks.
  private static func likelySeparator(_ bytes: [UInt8], _ path: String) throws -> UInt8 {
    var counts = [UInt8: Int]()
    var isQuoted = false
    for byte in bytes {
      if byte == quote { isQuoted.toggle() }
      if isQuoted { continue }
      if byte == lineFeed || byte == carriageReturn { break }
      if likely.contains(byte) { counts[byte, default: 0] += 1 }
    }
    guard let most = counts.values.max() else { return UInt8(ascii: ",") }
    let winners = likely.filter { counts[$0] == most }
    guard winners.count == 1 else {
      throw ToolError(
        at: "\(path):1",
        "The line does not show which character separates the columns. Give it with --separator comma, semicolon, tab or pipe."
      )
    }
    return winners[0]
  }
}
