import HeartwoodStore

/// Finds where the records of a file begin and end, one after another. The file has been read before, so its quotes match.
struct CSVRecordScanner {
  private static let blockSize = 1 << 20

  private let file: StoreInput
  private var block: [UInt8] = []
  /// Where the block begins in the file.
  private var blockOffset: Int
  /// The next byte to look at, in the block.
  private var position = 0
  /// The number of the record that ``next()`` returns.
  private var nextIndex = 0

  init(file: StoreInput, from offset: Int) {
    self.file = file
    self.blockOffset = offset
  }

  /// The record with the number `index`, which is not less than the last one asked for and one; line end included.
  mutating func record(_ index: Int) throws(PersistenceError) -> Range<Int>? {
    while nextIndex < index, try next() != nil {}
    return try next()
  }

  /// The next record, line end included, or nil where there is none. Blank lines are none.
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

  /// Goes behind the next quote or line feed and returns which it was; nil where the file ends.
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
