import HeartwoodStore

/// Finds the bounds of the records of a file, one after another. The file has been read before, so its quotes match.
struct CSVRecordScanner {
  private static let blockSize = 1 << 20

  private let file: StoreInput
  private var block: [UInt8] = []
  /// The offset of the block in the file.
  private var blockOffset: Int
  /// The place of the next byte in the block.
  private var position = 0
  /// The number of the record that ``next()`` returns.
  private var nextIndex = 0

  init(file: StoreInput, from offset: Int) {
    self.file = file
    self.blockOffset = offset
  }

  /// Returns the record with the number `index`, line end included. Numbers must ascend from one call to the next.
  mutating func record(_ index: Int) throws(PersistenceError) -> Range<Int>? {
    while nextIndex < index, try next() != nil {}
    return try next()
  }

  /// Returns the next record, line end included, or nil if there is none. Blank lines are skipped.
  mutating func next() throws(PersistenceError) -> Range<Int>? {
    nextIndex += 1
    while true {
      let start = blockOffset + position
      var isQuoted = false
      var isBlank = true
      while let byte = try takeLine(&isQuoted, &isBlank) {
        guard byte == CSVFormat.lineFeed, !isQuoted else { continue }
        break
      }
      let end = blockOffset + position
      guard end > start else { return nil }
      if !isBlank { return start..<end }
    }
  }

  /// Moves past the next quote or line feed and returns which it was; nil at the end of the file.
  private mutating func takeLine(_ isQuoted: inout Bool, _ isBlank: inout Bool) throws(PersistenceError) -> UInt8? {
    while true {
      if position == block.count, try !advance() { return nil }
      let start = position
      let found = block.withUnsafeBytes { Self.quoteOrLineFeed($0, from: start) }
      position = found ?? block.count
      if isBlank { isBlank = block[start..<position].allSatisfy { $0 == CSVFormat.carriageReturn } }
      guard found != nil else { continue }
      let byte = block[position]
      position += 1
      if byte == CSVFormat.quote {
        isQuoted.toggle()
        isBlank = false
      }
      return byte
    }
  }

  private mutating func advance() throws(PersistenceError) -> Bool {
    blockOffset += block.count
    position = 0
    block = try file.bytes(from: blockOffset, count: Self.blockSize)
    return !block.isEmpty
  }

  private static func quoteOrLineFeed(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
    var position = start
    while bytes.count - position >= 8 {
      let word = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
      let found = CSVWord.quotesAndLineFeeds(word)
      if found != 0 { return position + found.trailingZeroBitCount / 8 }
      position += 8
    }
    while position < bytes.count {
      if bytes[position] == CSVFormat.quote || bytes[position] == CSVFormat.lineFeed { return position }
      position += 1
    }
    return nil
  }
}

// MARK: CSVFieldSplitter

/// Splits one record into fields: the simple way, for the first lines of a file and for single records.
struct CSVFieldSplitter {
  struct Field {
    /// The bytes of the field, quotes included.
    var range: Range<Int>
    var isQuoted: Bool
  }

  struct Record {
    var fields: [Field]
    /// The beginning of the line.
    var start: Int
    /// The beginning of the next line.
    var end: Int
    /// Whether the first separator is followed by a space; nil if there is no separator.
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
  /// Whether the bytes extend to the end of the file, so that the last line needs no end.
  let isWhole: Bool

  /// Splits the record that begins at `start`.
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

  /// Returns the place after the last byte of a field, or nil if the bytes end in quotes.
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

  /// Returns the place after the line end at `position`, or nil if there is none.
  private func endOfLine(_ bytes: [UInt8], at position: Int) -> Int? {
    guard position < bytes.count else { return isWhole ? position : nil }
    if bytes[position] == CSVFormat.lineFeed { return position + 1 }
    guard bytes[position] == CSVFormat.carriageReturn, position + 1 < bytes.count,
      bytes[position + 1] == CSVFormat.lineFeed
    else { return nil }
    return position + 2
  }

  /// Returns the text of a field without its quotes.
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

// MARK: CSVEscapes

/// Quotes in quoted fields, which are written twice.
enum CSVEscapes {
  /// Replaces two quotes with one, and returns how many bytes are left; quotes fill the rest, so that the bytes remain
  /// valid UTF-8.
  static func remove(_ text: UnsafeMutableRawBufferPointer) -> Int {
    var (target, source) = (0, 0)
    while source < text.count {
      text[target] = text[source]
      source += text[source] == CSVFormat.quote ? 2 : 1
      target += 1
    }
    for index in target..<text.count { text[index] = CSVFormat.quote }
    return target
  }
}
