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
