import HeartwoodFoundation
package import HeartwoodStore

/// Writes records as text, directly from the columns of a table.
package protocol RecordFormatter: Sendable {
  /// Appends the record in `row` of `group`, and its line ending.
  func append(_ row: Int, of group: RowGroup, to output: GrowableBytes)
}

extension RecordFormatter {
  /// Writes all records of `table` in order. The text is made on all processors, several thousand records at a time, so
  /// that memory use does not grow with the table.
  ///
  /// - Parameter sink: receives the text in pieces. An error that it throws ends the writing.
  package func write(_ table: NodeTable, to sink: (ByteSlice) throws -> Void) throws {
    let pieces = RecordPieces(table)
    let batchCount = Parallel.powerOfTwoProcessorCount * 2
    var start = 0
    while start < pieces.count {
      let batch = start..<min(start + batchCount, pieces.count)
      for text in Parallel.map(batch.count, { text(of: pieces[batch.lowerBound + $0]) }) { try sink(text) }
      start = batch.upperBound
    }
  }

  private func text(of piece: RecordPieces.Piece) -> ByteSlice {
    let output = GrowableBytes(capacity: piece.rows.count * 128)
    for row in piece.rows { append(row, of: piece.group, to: output) }
    return output.sealed()
  }
}

/// The records of a table, divided into pieces of consecutive rows.
struct RecordPieces: Sendable {
  struct Piece: Sendable {
    let group: RowGroup
    let rows: Range<Int>
  }

  private static let rowLimit = 8192
  private let pieces: [Piece]

  init(_ table: NodeTable) {
    pieces = table.groups.flatMap { group in
      group.liveRuns.flatMap { run in
        stride(from: run.lowerBound, to: run.upperBound, by: Self.rowLimit).map { start in
          Piece(group: group, rows: start..<min(start + Self.rowLimit, run.upperBound))
        }
      }
    }
  }

  var count: Int { pieces.count }
  subscript(index: Int) -> Piece { pieces[index] }
}
