package import HeartwoodStore

extension CSVStore: FormKeepingStore {
  /// Names the dialect of the file in the layout: separators, quotes, ends of lines, header row and byte order mark.
  package static func options(
    _ options: StoreOptions,
    keepingFormOf file: StoreInput,
    _ setup: StoreSetup
  ) throws -> StoreOptions {
    let preamble = try CSVPreamble.read(file, schema: try CSVSchema(setup))
    var options = options
    var layout = options[.csvLayout] ?? Layout()
    layout.dialect = preamble.dialect.named
    options[.csvLayout] = layout
    return options
  }
}

extension CSVDialect {
  /// The same with all that an author of a layout can set.
  fileprivate var named: CSVStore.Dialect {
    var dialect = CSVStore.Dialect()
    dialect.separator = separator
    dialect.hasSpaceAfterSeparator = hasSpaceAfterSeparator
    dialect.quoting = quoting
    dialect.lineEnd = lineEnd
    dialect.hasHeader = hasHeader
    dialect.hasByteOrderMark = hasByteOrderMark
    dialect.endsLastLine = endsLastLine
    dialect.padsFirstLine = padsFirstLine
    return dialect
  }
}
