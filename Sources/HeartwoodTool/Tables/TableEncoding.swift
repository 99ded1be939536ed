import ArgumentParser
import HeartwoodFoundation
import HeartwoodSQLite
import HeartwoodStore

/// The encoding of a table's text.
enum TableEncoding: String, ExpressibleByArgument, CaseIterable {
  case utf8 = "utf-8"
  case utf16 = "utf-16"
  case windows1252 = "windows-1252"
  case latin1 = "iso-8859-1"

  static let utf8Mark: [UInt8] = [0xEF, 0xBB, 0xBF]
  private static let littleEndianMark: [UInt8] = [0xFF, 0xFE]
  private static let bigEndianMark: [UInt8] = [0xFE, 0xFF]

  /// Returns the text as UTF-8, without a byte order mark.
  ///
  /// - Parameter encoding: the encoding that the user gives; nil for that of the byte order mark, or else UTF-8.
  static func utf8Text(_ bytes: [UInt8], as encoding: TableEncoding?, path: String) throws -> [UInt8] {
    if SQLiteStore.recognizes(prefix: bytes) { throw databaseError(path) }
    let text: [UInt8]
    switch encoding ?? marked(bytes) {
    case .utf8: text = try checked(bytes.starts(with: utf8Mark) ? Array(bytes.dropFirst(utf8Mark.count)) : bytes, path)
    case .utf16: text = try transcoded(bytes, path)
    case .windows1252: text = decoded(bytes, highCharacters: Windows1252.characters)
    case .latin1: text = decoded(bytes, highCharacters: [])
    }
    guard let zero = text.firstIndex(of: 0) else { return text }
    throw ToolError(
      at: place(of: zero, in: text, path),
      "There is a zero byte, which no table has. If the text is UTF-16, give --encoding utf-16."
    )
  }

  private static func databaseError(_ path: String) -> ToolError {
    ToolError(
      at: path,
      """
      It is an SQLite database, and not a table of text. If Core Data has made it, heartwood convert reads it. \
      Otherwise export a table first: sqlite3 -header -csv \(path) 'SELECT * FROM …' > table.csv
      """
    )
  }

  private static func marked(_ bytes: [UInt8]) -> TableEncoding {
    bytes.starts(with: littleEndianMark) || bytes.starts(with: bigEndianMark) ? .utf16 : .utf8
  }

  private static func checked(_ bytes: [UInt8], _ path: String) throws -> [UInt8] {
    guard let offset = UTF8Validation.firstInvalidOffset(in: bytes) else { return bytes }
    throw ToolError(
      at: place(of: offset, in: bytes, path),
      "The text is not UTF-8. Programs on Windows often write windows-1252: give --encoding windows-1252, or save the table as UTF-8."
    )
  }

  private static func transcoded(_ bytes: [UInt8], _ path: String) throws -> [UInt8] {
    let isBigEndian = bytes.starts(with: bigEndianMark)
    let body = isBigEndian || bytes.starts(with: littleEndianMark) ? bytes.dropFirst(2) : bytes[...]
    var units: [UInt16] = []
    units.reserveCapacity(body.count / 2)
    var index = body.startIndex
    while index + 1 < body.endIndex {
      let pair = isBigEndian ? (body[index], body[index + 1]) : (body[index + 1], body[index])
      units.append(UInt16(pair.0) << 8 | UInt16(pair.1))
      index += 2
    }
    var text: [UInt8] = []
    text.reserveCapacity(units.count)
    let isMalformed = transcode(
      units.makeIterator(),
      from: UTF16.self,
      to: UTF8.self,
      stoppingOnError: true,
      into: { text.append($0) }
    )
    guard !isMalformed, body.count.isMultiple(of: 2) else {
      throw ToolError(at: place(of: text.count, in: text, path), "The text is not UTF-16. Save the table as UTF-8.")
    }
    return text
  }

  /// Decodes text in which each byte is a character: those from 0x80 are in `highCharacters`, or else have the number of
  /// the byte.
  private static func decoded(_ bytes: [UInt8], highCharacters: [UInt32]) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count)
    for byte in bytes {
      if byte < 0x80 {
        text.append(byte)
        continue
      }
      let index = Int(byte) - 0x80
      let number = highCharacters.indices.contains(index) ? highCharacters[index] : UInt32(byte)
      text += Unicode.Scalar(number).map { Array(String(Character($0)).utf8) } ?? []
    }
    return text
  }

  private static func place(of offset: Int, in bytes: [UInt8], _ path: String) -> String {
    "\(path):\(bytes[..<offset].reduce(1) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 })"
  }
}

/// The characters in which windows-1252 differs from ISO 8859-1.
private enum Windows1252 {
  /// The characters of the bytes 0x80 to 0x9F. Five bytes stand for no character, and keep their number.
  static let characters: [UInt32] = [
    0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D, 0x017D,
    0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,
    0x017E, 0x0178,
  ]
}
