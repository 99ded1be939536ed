import HeartwoodStore

/// The complete dialect of one file, in which nothing is undetermined.
struct CSVDialect: Sendable, Hashable {
  var separator: UInt8
  var hasSpaceAfterSeparator: Bool
  var quoting: CSVStore.Dialect.Quoting
  var lineEnd: CSVStore.Dialect.LineEnd
  var hasHeader: Bool
  var hasByteOrderMark: Bool
  var endsLastLine: Bool
  /// Whether the line with the identifier has as many separators as the others.
  var padsFirstLine: Bool

  /// Uses what `fixed` sets; for the rest, what `found` has detected in the file; and for all else, the defaults of new
  /// files.
  init(_ fixed: CSVStore.Dialect, found: CSVStore.Dialect = CSVStore.Dialect()) {
    separator = fixed.separator ?? found.separator ?? CSVFormat.comma
    hasSpaceAfterSeparator =
      fixed.hasSpaceAfterSeparator ?? found.hasSpaceAfterSeparator ?? (separator == CSVFormat.comma)
    quoting = fixed.quoting ?? found.quoting ?? .minimal
    lineEnd = fixed.lineEnd ?? found.lineEnd ?? .lineFeed
    hasHeader = fixed.hasHeader ?? found.hasHeader ?? false
    hasByteOrderMark = fixed.hasByteOrderMark ?? found.hasByteOrderMark ?? false
    endsLastLine = fixed.endsLastLine ?? found.endsLastLine ?? true
    padsFirstLine = fixed.padsFirstLine ?? found.padsFirstLine ?? false
  }
}

extension CSVDialect {
  var lineEndBytes: [UInt8] {
    switch lineEnd {
    case .lineFeed: [CSVFormat.lineFeed]
    case .carriageReturnLineFeed: [CSVFormat.carriageReturn, CSVFormat.lineFeed]
    }
  }

  var separatorBytes: [UInt8] { hasSpaceAfterSeparator ? [separator, CSVFormat.space] : [separator] }
}

// MARK: CSVDialectFinder

/// Detects the dialect of a file from its first lines.
struct CSVDialectFinder {
  private static let firstBlockSize = 1 << 13

  struct Finding {
    var dialect = CSVStore.Dialect()
    /// The offset of the first line that is not blank, after the one with the identifier.
    var recordsOffset: Int
    /// The offset of the line after the header row; nil if the first line is none.
    var header: Int?
  }

  let file: StoreInput
  let schema: CSVSchema
  let line: CSVIdentifierLine

  func find() throws(PersistenceError) -> Finding {
    var finding = Finding(recordsOffset: line.end)
    finding.dialect.lineEnd = line.lineEnd
    finding.dialect.hasByteOrderMark = line.markLength > 0
    finding.dialect.padsFirstLine = line.isPadded
    finding.dialect.endsLastLine = try file.bytes(from: file.size - 1, count: 1) == [CSVFormat.lineFeed]
    var size = Self.firstBlockSize
    while !(try examine(size, &finding)) { size *= 4 }
    return finding
  }

  /// Examines the first `size` bytes after the first line; returns whether they were sufficient.
  private func examine(_ size: Int, _ finding: inout Finding) throws(PersistenceError) -> Bool {
    let bytes = try file.bytes(from: line.end, count: size)
    let isWhole = line.end + bytes.count >= file.size || size > CSVFormat.maximumRecordLength
    let start = Self.skippingBlankLines(bytes, from: 0)
    finding.recordsOffset = line.end + start
    guard start < bytes.count else { return isWhole }
    let separator = schema.layout.dialect.separator ?? Self.separator(bytes, from: start, isWhole: isWhole, schema)
    guard let separator else { return false }
    finding.dialect.separator = separator
    let splitter = CSVFieldSplitter(separator: separator, dropsSpace: true, isWhole: isWhole)
    guard case .record(let first) = splitter.split(bytes, from: start) else { return isWhole }
    var record = first
    let isHeader = isHeader(first, bytes, splitter)
    finding.dialect.hasHeader = isHeader
    if isHeader { finding.header = line.end + first.end }
    if schema.layout.dialect.hasHeader ?? isHeader {
      let next = Self.skippingBlankLines(bytes, from: first.end)
      if next < bytes.count {
        guard case .record(let second) = splitter.split(bytes, from: next) else { return isWhole }
        record = second
      } else if !isWhole {
        return false
      }
    }
    finding.dialect.hasSpaceAfterSeparator = record.hasSpaceAfterSeparator
    finding.dialect.quoting = Self.isAllQuoted(record) ? .all : .minimal
    return true
  }

  /// Returns the separator in the first line; nil if more bytes are needed to detect it.
  private static func separator(_ bytes: [UInt8], from start: Int, isWhole: Bool, _ schema: CSVSchema) -> UInt8? {
    for separator in CSVFormat.detectableSeparators {
      let splitter = CSVFieldSplitter(separator: separator, dropsSpace: true, isWhole: isWhole)
      switch splitter.split(bytes, from: start) {
      case .incomplete: return nil
      case .record(let record) where record.fields.count == schema.columns.count: return separator
      case .record, .malformed: continue
      }
    }
    return CSVFormat.comma
  }

  private func isHeader(_ record: CSVFieldSplitter.Record, _ bytes: [UInt8], _ splitter: CSVFieldSplitter) -> Bool {
    guard record.fields.count == schema.columns.count else { return false }
    return zip(record.fields, schema.columns).allSatisfy { field, column in
      column.title.map { $0.lowercased() == splitter.text(field, in: bytes).lowercased() } ?? true
    }
  }

  private static func isAllQuoted(_ record: CSVFieldSplitter.Record) -> Bool {
    let filled = record.fields.filter { !$0.range.isEmpty }
    return !filled.isEmpty && filled.allSatisfy(\.isQuoted)
  }

  static func skippingBlankLines(_ bytes: [UInt8], from start: Int) -> Int {
    var position = start
    while position < bytes.count {
      if bytes[position] == CSVFormat.lineFeed {
        position += 1
      } else if bytes[position] == CSVFormat.carriageReturn, position + 1 < bytes.count,
        bytes[position + 1] == CSVFormat.lineFeed
      {
        position += 2
      } else {
        break
      }
    }
    return position
  }
}

// MARK: Other first records

extension CSVDialectFinder {
  /// Returns whether `dialect` would be detected in a file in which `line` is the first record.
  static func finds(_ dialect: CSVDialect, by line: [UInt8], schema: CSVSchema) -> Bool {
    var found = CSVStore.Dialect()
    // The header row stays, and the separator is detected in it.
    found.separator = dialect.hasHeader ? dialect.separator : separator(line, from: 0, isWhole: true, schema)
    let splitter = CSVFieldSplitter(separator: dialect.separator, dropsSpace: true, isWhole: true)
    if case .record(let record) = splitter.split(line, from: 0) {
      found.hasSpaceAfterSeparator = record.hasSpaceAfterSeparator
    }
    return CSVDialect(schema.layout.dialect, found: found).separatorBytes == dialect.separatorBytes
  }
}
