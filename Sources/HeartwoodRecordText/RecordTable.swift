import HeartwoodFoundation
package import HeartwoodModel
package import HeartwoodStore

/// Formats records as a table for people, with a column for the reference, each attribute and each relationship. Nil is
/// blank.
package struct RecordTable: RecordFormatter {
  private let values: [ValueText]
  private var layout: TextColumns

  /// Measures all records of `table`, so that every text fits. O(values), on all processors.
  ///
  /// - Parameters:
  ///   - entities: the entities of the model, needed for the names of entities in references that do not belong to the
  ///     destination of a relationship.
  ///   - width: the maximum width of a line, in cells of a terminal; nil for no limit.
  package init(_ table: NodeTable, among entities: [EntityDescription] = [], width: Int?) {
    let values = ValueText.all(of: table.entity, among: entities)
    self.values = values
    layout = TextColumns(
      [.init(title: "$id")] + values.map { .init(title: $0.name, isRightAligned: $0.isNumeric) }
    )
    let pieces = RecordPieces(table).pieces
    for widths in Parallel.map(pieces.count, { Self.widths(of: pieces[$0], values) }) { layout.widen(to: widths) }
    if let width { layout.fit(into: width) }
  }

  /// The titles, and a rule below them.
  package var header: ByteSlice {
    let output = GrowableBytes()
    layout.appendHeader(to: output)
    return output.sealed()
  }

  package func append(_ row: Int, of group: RowGroup, to output: GrowableBytes) {
    layout.appendLine(to: output) { Self.append(column: $0, row, of: group, values, to: $1) }
  }

  private static func append(
    column: Int,
    _ row: Int,
    of group: RowGroup,
    _ values: [ValueText],
    to cell: GrowableBytes
  ) {
    guard column > 0 else { return cell.append(textOf: group.references, at: row) }
    let value = values[column - 1]
    if !value.isNull(row, in: group) { value.append(row, of: group, to: cell) }
  }

  private static func widths(of piece: RecordPieces.Piece, _ values: [ValueText]) -> [Int] {
    var widths = [Int](repeating: 0, count: values.count + 1)
    let cell = GrowableBytes()
    for row in piece.rows {
      for column in widths.indices {
        cell.removeAll()
        append(column: column, row, of: piece.group, values, to: cell)
        let width = DisplayText.width(of: UnsafeRawBufferPointer(cell.unsafeMutableBytes))
        widths[column] = max(widths[column], width)
      }
    }
    return widths
  }
}

// MARK: Columns

/// The columns of a text table, with their titles, widths and alignments.
package struct TextColumns: Sendable {
  package struct Column: Sendable {
    var title: String
    var isRightAligned: Bool
    /// The width of the column, in cells of a terminal.
    fileprivate(set) var width: Int

    package init(title: String, isRightAligned: Bool = false) {
      self.title = title
      self.isRightAligned = isRightAligned
      self.width = DisplayText.width(of: title)
    }
  }

  private static let gap = 2
  /// The width below which no column is narrowed.
  private static let minimumWidth = 6

  private(set) var columns: [Column]

  package init(_ columns: [Column]) {
    self.columns = columns
  }

  /// Widens each column to at least its width in `widths`.
  mutating func widen(to widths: [Int]) {
    for (index, width) in widths.enumerated() { columns[index].width = max(columns[index].width, width) }
  }

  /// Widens each column to at least the width of its widest cell.
  package mutating func widen(to lines: [[String]]) {
    for line in lines { widen(to: line.map { DisplayText.width(of: $0) }) }
  }

  /// Narrows the widest columns until a line has at most `width` cells, or all columns have the minimum width.
  package mutating func fit(into width: Int) {
    let room = width - Self.gap * (columns.count - 1)
    var limit = columns.map(\.width).max() ?? 0
    while limit > Self.minimumWidth, columns.reduce(0, { $0 + min($1.width, limit) }) > room { limit -= 1 }
    for index in columns.indices { columns[index].width = min(columns[index].width, limit) }
  }
}

extension TextColumns {
  /// Appends the titles, and a rule below them.
  package func appendHeader(to output: GrowableBytes) {
    append(columns.map(\.title), to: output)
    append(columns.map { String(repeating: "-", count: $0.width) }, to: output)
  }

  /// Appends a line of `cells`, one for each column.
  package func append(_ cells: [String], to output: GrowableBytes) {
    appendLine(to: output) { index, cell in cell.append(text: cells[index]) }
  }

  /// Appends a line.
  ///
  /// - Parameter fill: appends the text of the column at an index to a buffer.
  func appendLine(to output: GrowableBytes, _ fill: (Int, GrowableBytes) -> Void) {
    let cell = GrowableBytes()
    var owed = 0
    for (index, column) in columns.enumerated() {
      cell.removeAll()
      fill(index, cell)
      let text = UnsafeRawBufferPointer(cell.unsafeMutableBytes)
      let room = column.width - min(column.width, DisplayText.width(of: text))
      // Spaces are written only before a text, so that no line ends with them.
      if text.isEmpty {
        owed += column.width + Self.gap
        continue
      }
      output.append(repeating: UInt8(ascii: " "), count: owed + (column.isRightAligned ? room : 0))
      let used = DisplayText.append(text, limit: column.width, to: output)
      owed = Self.gap + (column.isRightAligned ? 0 : column.width - used)
    }
    output.append(ascii: "\n")
  }
}
