import HeartwoodStore

/// Finds the fields of records in a window, eight bytes at a time.
///
/// An unsafe place: it reads no byte beyond the window's padding, because the padding is line feeds, at which every
/// scan but the one for a closing quote stops; that one has the end as a parameter.
struct CSVTokenizer {
  enum Outcome {
    case batchFull
    /// The next row begins at or after the limit.
    case limitReached
    /// The row does not end in the window.
    case incomplete
    case fault(CSVFault)
  }

  private let columnCount: Int
  private let separator: UInt8
  private let dropsSpace: Bool
  private let separatorWord: UInt64
  /// The shortcuts by column; empty if every byte has to be examined.
  var shortcuts: [CSVShortcut]
  /// The highest bits of bytes that are not ASCII, of all words of a row that have been examined.
  private var highBits: UInt64 = 0
  private var isDoubtful = false

  init(dialect: CSVDialect, columnCount: Int, shortcuts: [CSVShortcut]) {
    self.columnCount = columnCount
    self.shortcuts = shortcuts
    separator = dialect.separator
    dropsSpace = dialect.hasSpaceAfterSeparator
    separatorWord = CSVWord.repeated(dialect.separator)
  }

  /// Returns whether a row that was examined since the last call may have bytes that are not UTF-8.
  mutating func takeDoubt() -> Bool {
    defer { isDoubtful = false }
    return isDoubtful
  }

  /// Appends the rows that begin at `position` or later and before `limit`. Afterwards `position` is the beginning of
  /// the first row that was not appended.
  mutating func tokenize(
    _ window: CSVWindow,
    from position: inout Int,
    before limit: Int,
    into batch: CSVBatch
  ) -> Outcome {
    let text = UnsafeRawPointer(window.base)
    while position < limit {
      let first = text.load(fromByteOffset: position, as: UInt8.self)
      if first <= CSVFormat.carriageReturn, let next = endOfBlankLine(text, at: position, window.count) {
        position = next
        continue
      }
      guard batch.rowCount < CSVBatch.capacity else { return .batchFull }
      let row = batch.fields + batch.rowCount &* columnCount
      switch splitRow(text, window.count, from: position, into: row, batch) {
      case .next(let next):
        batch.rowCount &+= 1
        if highBits & CSVWord.highestBits != 0 {
          checkUTF8(UnsafeRawBufferPointer(start: text + position, count: next &- position))
        }
        position = next
      case .stopped(let reason, let offset):
        return stop(window, rowStart: position, offset: offset, reason: reason)
      }
    }
    return .limitReached
  }

  private func endOfBlankLine(_ text: UnsafeRawPointer, at position: Int, _ count: Int) -> Int? {
    let first = text.load(fromByteOffset: position, as: UInt8.self)
    if first == CSVFormat.lineFeed { return position < count ? position + 1 : nil }
    guard first == CSVFormat.carriageReturn, position + 1 < count,
      text.load(fromByteOffset: position + 1, as: UInt8.self) == CSVFormat.lineFeed
    else { return nil }
    return position + 2
  }

  @inline(never)
  private mutating func checkUTF8(_ row: UnsafeRawBufferPointer) {
    highBits = 0
    if UTF8Validation.firstInvalidOffset(in: row) != nil { isDoubtful = true }
  }

  private mutating func stop(_ window: CSVWindow, rowStart: Int, offset: Int, reason: Stop) -> Outcome {
    isDoubtful = true
    if reason.mayNeedMore, !window.reachesEnd { return .incomplete }
    let isRow = if case .fieldCount = reason { true } else { false }
    return .fault(
      CSVFault(
        offset: window.fileOffset + (isRow ? rowStart : offset),
        reason: reason.text(columnCount: columnCount),
        recovery: reason.recovery
      )
    )
  }
}

// MARK: Rows

extension CSVTokenizer {
  private enum RowEnd {
    case next(Int)
    case stopped(Stop, at: Int)
  }

  /// The reason why a row cannot be read.
  private enum Stop {
    case endOfText
    case openQuote
    case strayQuote
    case textAfterQuote
    case strayReturn(isLast: Bool)
    case fieldCount(Int)

    /// Whether the row may be valid with the bytes that follow.
    var mayNeedMore: Bool {
      switch self {
      case .endOfText, .openQuote, .strayReturn(isLast: true): true
      default: false
      }
    }

    func text(columnCount: Int) -> String {
      switch self {
      case .endOfText: "The record has no end."
      case .openQuote: "The quote that begins the field has no closing quote."
      case .strayQuote: "There is a quote in a field that does not begin with one."
      case .textAfterQuote: "Something follows the closing quote of the field."
      case .strayReturn: "There is a carriage return without a line feed outside of quotes."
      case .fieldCount(let found):
        "The record has \(found) \(found == 1 ? "field" : "fields") where \(columnCount) are expected."
      }
    }

    var recovery: PersistenceError.Recovery? {
      switch self {
      case .strayQuote: "Put the whole field in quotes, and write each quote in it twice."
      case .textAfterQuote: "Write each quote inside a field twice."
      case .strayReturn: "Put the field in quotes, or end the line properly."
      case .endOfText, .openQuote, .fieldCount: nil
      }
    }
  }

  @inline(__always)
  private mutating func splitRow(
    _ text: UnsafeRawPointer,
    _ count: Int,
    from start: Int,
    into row: UnsafeMutablePointer<CSVField>,
    _ batch: CSVBatch
  ) -> RowEnd {
    var (position, column) = (start, 0)
    while true {
      if dropsSpace, column > 0, text.load(fromByteOffset: position, as: UInt8.self) == CSVFormat.space {
        position &+= 1
      }
      let end: Int
      let field: CSVField
      if text.load(fromByteOffset: position, as: UInt8.self) == CSVFormat.quote {
        guard let quoted = quotedField(text, count, from: position) else { return .stopped(.openQuote, at: position) }
        field = quoted
        end = quoted.end &+ 1
        if quoted.hasEscapes { batch.hasEscapes = true }
      } else {
        end = shortcut(text, position, column) ?? endOfField(text, from: position)
        field = CSVField(start: position, end: end)
      }
      if column < columnCount { row[column] = field }
      column &+= 1
      let byte = text.load(fromByteOffset: end, as: UInt8.self)
      if byte == separator {
        position = end &+ 1
      } else if byte == CSVFormat.lineFeed, end < count {
        return column == columnCount ? .next(end &+ 1) : .stopped(.fieldCount(column), at: start)
      } else {
        return endOfRow(text, count, at: end, column, isQuoted: field.isQuoted)
      }
    }
  }

  /// Handles a row that does not end with a plain line feed.
  private func endOfRow(_ text: UnsafeRawPointer, _ count: Int, at end: Int, _ columns: Int, isQuoted: Bool) -> RowEnd {
    guard end < count else { return .stopped(.endOfText, at: end) }
    let byte = text.load(fromByteOffset: end, as: UInt8.self)
    guard byte == CSVFormat.carriageReturn else { return .stopped(isQuoted ? .textAfterQuote : .strayQuote, at: end) }
    guard end + 1 < count, text.load(fromByteOffset: end + 1, as: UInt8.self) == CSVFormat.lineFeed else {
      return .stopped(.strayReturn(isLast: end + 1 >= count), at: end)
    }
    return columns == columnCount ? .next(end + 2) : .stopped(.fieldCount(columns), at: end)
  }
}

// MARK: Fields

extension CSVTokenizer {
  @inline(__always)
  private func shortcut(_ text: UnsafeRawPointer, _ start: Int, _ column: Int) -> Int? {
    column < shortcuts.count ? shortcuts[column].end(text, start, separator: separator) : nil
  }

  /// Returns the first separator, quote or line end from `start` on.
  @inline(__always)
  private mutating func endOfField(_ text: UnsafeRawPointer, from start: Int) -> Int {
    var position = start
    while true {
      let word = text.loadUnaligned(fromByteOffset: position, as: UInt64.self)
      highBits |= word
      let found = CSVWord.specials(word, separator: separatorWord)
      if found != 0 { return position &+ found.trailingZeroBitCount &>> 3 }
      position &+= 8
    }
  }

  /// Returns the field whose opening quote is at `start`; nil if no closing quote has been found after it.
  private mutating func quotedField(_ text: UnsafeRawPointer, _ count: Int, from start: Int) -> CSVField? {
    var position = start + 1
    var hasEscapes = false
    while let quote = firstQuote(text, count, from: position) {
      // After the last byte another quote may follow.
      guard quote + 1 < count else { return nil }
      guard text.load(fromByteOffset: quote + 1, as: UInt8.self) == CSVFormat.quote else {
        return CSVField(quotedStart: start + 1, end: quote, hasEscapes: hasEscapes)
      }
      hasEscapes = true
      position = quote + 2
    }
    return nil
  }

  private mutating func firstQuote(_ text: UnsafeRawPointer, _ count: Int, from start: Int) -> Int? {
    var position = start
    while position < count {
      let word = text.loadUnaligned(fromByteOffset: position, as: UInt64.self)
      highBits |= word
      let found = CSVWord.quotes(word)
      if found != 0 {
        let quote = position + found.trailingZeroBitCount / 8
        return quote < count ? quote : nil
      }
      position += 8
    }
    return nil
  }
}
