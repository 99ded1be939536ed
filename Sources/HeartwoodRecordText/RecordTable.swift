import HeartwoodFoundation
package import HeartwoodModel
package import HeartwoodStore

/// Records as a table for people: a column for the reference, each attribute and each relationship. Nil is blank.
package struct RecordTable: RecordFormatter {
  private let values: [ValueText]
  private var layout: TextColumns

  /// Measures all records of `table`, so that every text fits. O(values), on all processors.
  ///
  /// - Parameters:
  ///   - entities: those of the model, by whose names references are told that are of other entities than a relationship's.
  ///   - width: how many cells a line may take; nil means as many as it needs.
  package init(_ table: NodeTable, among entities: [EntityDescription] = [], width: Int?) {
    let values = ValueText.all(of: table.entity, among: entities)
    self.values = values
    layout = TextColumns(
      [.init(title: "$id")] + values.map { .init(title: $0.name, isRightAligned: $0.isNumeric) }
    )
    let pieces = RecordPieces(table)
    for widths in Parallel.map(pieces.count, { Self.widths(of: pieces[$0], values) }) { layout.widen(to: widths) }
    if let width { layout.fit(into: width) }
  }

  /// The titles and the rule below them.
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

/// The columns of a table of text: their titles, how wide they are, and at which side their texts stand.
package struct TextColumns: Sendable {
  package struct Column: Sendable {
    var title: String
    var isRightAligned: Bool
    /// How many cells of a terminal the column takes.
    fileprivate(set) var width: Int

    package init(title: String, isRightAligned: Bool = false) {
      self.title = title
      self.isRightAligned = isRightAligned
      self.width = DisplayText.width(of: title)
    }
  }

  private static let gap = 2
  /// Columns are not made narrower than this.
  private static let minimumWidth = 6

  private(set) var columns: [Column]

  package init(_ columns: [Column]) {
    self.columns = columns
  }

  /// Makes each column at least as wide as `widths` says.
  mutating func widen(to widths: [Int]) {
    for (index, width) in widths.enumerated() { columns[index].width = max(columns[index].width, width) }
  }

  /// Makes each column at least as wide as the widest of its cells.
  package mutating func widen(to lines: [[String]]) {
    for line in lines { widen(to: line.map { DisplayText.width(of: $0) }) }
  }

  /// Makes the widest columns narrower until a line takes no more than `width` cells, or all are as narrow as can be.
  package mutating func fit(into width: Int) {
    let room = width - Self.gap * (columns.count - 1)
    var limit = columns.map(\.width).max() ?? 0
    while limit > Self.minimumWidth, columns.reduce(0, { $0 + min($1.width, limit) }) > room { limit -= 1 }
    for index in columns.indices { columns[index].width = min(columns[index].width, limit) }
  }
}

extension TextColumns {
  /// Appends the titles and a rule below them.
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
  /// - Parameter fill: appends the text of the column with an index to a buffer.
  func appendLine(to output: GrowableBytes, _ fill: (Int, GrowableBytes) -> Void) {
    let cell = GrowableBytes()
    var owed = 0
    for (index, column) in columns.enumerated() {
      cell.removeAll()
      fill(index, cell)
      let text = UnsafeRawBufferPointer(cell.unsafeMutableBytes)
      let room = column.width - min(column.width, DisplayText.width(of: text))
      // Blanks are owed until a text follows, so that no line ends in them.
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
