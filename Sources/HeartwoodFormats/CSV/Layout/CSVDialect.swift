import HeartwoodStore

/// How the text of one file is written, with nothing left open.
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

  /// What `fixed` sets; for the rest, what `found` says of the file; and for the rest of that, what new files have.
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
