import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Writes records as lines: all of them, or the changed ones into a copy of the file that is replaced.
struct CSVWriter {
  /// An estimate of the length of a line, to reserve memory.
  private static let typicalLineLength = 100

  let schema: CSVSchema
  let dialect: CSVDialect

  /// Writes a new file, and returns the part before its records.
  func write(_ table: NodeTable, identifier: UUID, to output: StoreOutput) throws -> CSVPreamble {
    let mark = dialect.hasByteOrderMark ? CSVFormat.byteOrderMark : []
    let firstLines = [CSVIdentifierLine.text(of: identifier) + padding] + (dialect.hasHeader ? [header] : [])
    let text = firstLines.flatMap { Array($0.utf8) + dialect.lineEndBytes }
    try output.write(mark)
    var lines = CSVLineOutput(output, dialect: dialect)
    try lines.write(lines: text)
    try write(RowRun.all(of: table), to: &lines)
    try lines.finish()
    return CSVPreamble(
      identifier: identifier,
      dialect: dialect,
      markLength: mark.count,
      dataOffset: mark.count + text.count
    )
  }

  private var padding: String {
    // Other separators are not read as padding.
    guard dialect.padsFirstLine, CSVFormat.detectableSeparators.contains(dialect.separator) else { return "" }
    return String(repeating: Character(Unicode.Scalar(dialect.separator)), count: max(0, schema.columns.count - 1))
  }

  private var header: String {
    let separators = CSVFormat.separatorsTried(before: dialect.separator) + [dialect.separator]
    let titles = schema.columns.map { column in
      let title = column.title ?? ""
      let isPlain = title.utf8.allSatisfy { byte in
        !separators.contains(byte) && byte != CSVFormat.quote && !CSVFormat.isWhiteSpace(byte)
      }
      guard dialect.quoting == .all || !isPlain else { return title }
      return "\"" + title.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
    return titles.joined(separator: String(decoding: dialect.separatorBytes, as: UTF8.self))
  }

  /// Writes the rows of `runs`, formatted on all processors.
  func write(_ runs: [RowRun], to lines: inout CSVLineOutput) throws {
    let blocks = RowRun.blocks(of: runs, typicalLength: Self.typicalLineLength)
    let formatter = self
    try Parallel.forEach(blocks.count) { index in
      formatter.text(of: blocks[index])
    } consume: { text in
      try lines.write(lines: text.unsafeBytes)
    }
  }

  private func text(of run: RowRun) -> ByteSlice {
    var formatter = CSVRowFormatter(group: run.group, schema: schema, dialect: dialect)
    var buffer = TextBuffer(capacity: run.rows.count * Self.typicalLineLength)
    formatter.append(run.rows, to: &buffer)
    return buffer.sealed()
  }
}
