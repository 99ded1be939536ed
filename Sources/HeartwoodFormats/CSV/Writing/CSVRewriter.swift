import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Writes a file again in which the lines of records that did not change keep their bytes.
///
/// The lines of the old file are the records of the old table, in order: rows are only added after the others, and rows
/// of deleted records have no line.
///
/// A reader detects the separator of all records in the first one. So if deletions make another record the first one,
/// and its line would show another separator, that line is written again.
struct CSVRewriter {
  /// A record whose line changes.
  private struct Edit {
    /// The number of the record in the old file.
    var index: Int
    /// The present row of the record; nil if it has been deleted.
    var row: RowID?
  }

  let writer: CSVWriter
  let old: NodeTable
  let new: NodeTable
  let file: StoreInput
  let preamble: CSVPreamble
  /// The store's identifier, which may differ from the one in the file.
  let identifier: UUID

  /// Writes the file, and returns the part before its records.
  func write(to output: StoreOutput) throws -> CSVPreamble {
    let mark = writer.dialect.hasByteOrderMark ? CSVFormat.byteOrderMark : []
    try output.write(mark)
    var lines = CSVLineOutput(output, dialect: writer.dialect)
    try writePreamble(to: output, &lines)
    // Measured, since the file that is replaced may end before the end of the line before its records.
    let recordsOffset = lines.nextLineOffset
    try writeOldRecords(to: &lines)
    try writer.write(newRuns, to: &lines)
    try lines.finish()
    return CSVPreamble(
      identifier: identifier,
      dialect: preamble.dialect,
      markLength: mark.count,
      dataOffset: recordsOffset
    )
  }

  private func writePreamble(to output: StoreOutput, _ lines: inout CSVLineOutput) throws {
    let start = preamble.markLength
    if identifier == preamble.identifier { return try lines.copy(start..<dataOffset, of: file) }
    let first = CSVIdentifierLine.text(of: identifier)
    let rest = (start + first.utf8.count)..<dataOffset
    if rest.isEmpty { return try lines.write(lines: Array(first.utf8) + writer.dialect.lineEndBytes) }
    try output.write(first)
    try lines.copy(rest, of: file)
  }

  /// The offset of the records. A file without any may end before the end of the line before them.
  private var dataOffset: Int { min(preamble.dataOffset, file.size) }

  private func writeOldRecords(to lines: inout CSVLineOutput) throws {
    var scanner = CSVRecordScanner(file: file, from: dataOffset)
    var position = dataOffset
    for edit in try edits() {
      guard let range = try scanner.record(edit.index) else { throw differs }
      try lines.copy(position..<range.lowerBound, of: file)
      if let row = edit.row { try writeLine(row, over: range, to: &lines) }
      position = range.upperBound
    }
    try lines.copy(position..<file.size, of: file)
  }

  /// The file is the one that was loaded, so this does not happen unless another process is writing to it.
  private var differs: PersistenceError {
    PersistenceError(
      .fileChangedOnDisk,
      "The file has fewer records than were loaded from it; nothing was written over it.",
      recovery: .openAgain,
      context: .init(path: file.path, storeType: .csv)
    )
  }

  private func writeLine(_ row: RowID, over range: Range<Int>, to lines: inout CSVLineOutput) throws {
    var formatter = CSVRowFormatter(group: new.groups[row.group], schema: writer.schema, dialect: writer.dialect)
    var buffer = TextBuffer(capacity: range.count)
    formatter.appendRow(row.row, kept: try keptFields(of: range), to: &buffer)
    buffer.append(writer.dialect.lineEndBytes)
    try lines.write(lines: buffer.bytes)
  }

  /// Returns the text of the fields that do not belong to the model.
  private func keptFields(of range: Range<Int>) throws(PersistenceError) -> [Int: [UInt8]] {
    let columns = writer.schema.columns.indices.filter { writer.schema.columns[$0].content == .ignored }
    guard !columns.isEmpty else { return [:] }
    let bytes = try file.bytes(from: range.lowerBound, count: range.count)
    let splitter = CSVFieldSplitter(
      separator: preamble.dialect.separator,
      dropsSpace: preamble.dialect.hasSpaceAfterSeparator,
      isWhole: true
    )
    guard case .record(let record) = splitter.split(bytes, from: 0), record.fields.count == writer.schema.columns.count
    else { throw differs }
    return Dictionary(uniqueKeysWithValues: columns.map { ($0, Array(bytes[record.fields[$0].range])) })
  }
}

// MARK: Differences

extension CSVRewriter {
  private func edits() throws(PersistenceError) -> [Edit] {
    var edits = changes
    let deleted = edits.enumerated().prefix { $0.element.row == nil && $0.element.index == $0.offset }.count
    guard deleted > 0, edits.dropFirst(deleted).first?.index != deleted, let row = firstOldRow else { return edits }
    var scanner = CSVRecordScanner(file: file, from: dataOffset)
    guard let range = try scanner.record(deleted) else { throw differs }
    let line = try file.bytes(from: range.lowerBound, count: range.count)
    if !CSVDialectFinder.finds(writer.dialect, by: line, schema: writer.schema) {
      edits.insert(Edit(index: deleted, row: row), at: deleted)
    }
    return edits
  }

  /// The present row of the first old record that is left; nil if all have been deleted.
  private var firstOldRow: RowID? {
    for (ordinal, group) in old.groups.enumerated() {
      guard let row = new.groups[ordinal].liveRuns.first?.lowerBound else { continue }
      return row < group.rowCount ? RowID(group: ordinal, row: row) : nil
    }
    return nil
  }

  /// The records that have changed.
  private var changes: [Edit] {
    var edits: [Edit] = []
    var index = 0
    for (ordinal, group) in old.groups.enumerated() {
      let current = new.groups[ordinal]
      guard current !== group else {
        index += group.liveCount
        continue
      }
      for row in 0..<group.rowCount where group.isLive(row) {
        if !current.isLive(row) {
          edits.append(Edit(index: index, row: nil))
        } else if current.versions[row] != group.versions[row] {
          edits.append(Edit(index: index, row: RowID(group: ordinal, row: row)))
        }
        index += 1
      }
    }
    return edits
  }

  /// The rows that the old table does not have.
  private var newRuns: [RowRun] {
    new.groups.enumerated().flatMap { ordinal, group in
      let first = ordinal < old.groups.count ? old.groups[ordinal].rowCount : 0
      return group.liveRuns.compactMap { run in
        run.upperBound > first ? RowRun(group: group, rows: max(first, run.lowerBound)..<run.upperBound) : nil
      }
    }
  }
}
