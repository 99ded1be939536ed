import HeartwoodFoundation
package import HeartwoodModel
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
    let text = RecordText([table]) { _ in self }
    for number in 0..<text.batchCount {
      for piece in text.batch(number) { try sink(piece) }
    }
  }

  fileprivate func text(of piece: RecordPieces.Piece) -> ByteSlice {
    let output = GrowableBytes(capacity: piece.rows.count * 128)
    for row in piece.rows { append(row, of: piece.group, to: output) }
    return output.sealed()
  }
}

// MARK: RecordText

/// The text of the records of tables, in batches of which each can be made by itself.
package struct RecordText: Sendable {
  private struct Part: Sendable {
    let formatter: any RecordFormatter
    let piece: RecordPieces.Piece
  }

  private let parts: [Part]
  private let batches: [Range<Int>]

  /// - Parameter formatter: returns the formatter for the records of an entity.
  package init(_ tables: [NodeTable], _ formatter: (EntityDescription) -> any RecordFormatter) {
    parts = tables.flatMap { table in
      let formatter = formatter(table.entity)
      return RecordPieces(table).pieces.map { Part(formatter: formatter, piece: $0) }
    }
    batches = Self.batches(parts)
  }

  /// Returns batches that are large enough to occupy all processors, however small the parts are.
  private static func batches(_ parts: [Part]) -> [Range<Int>] {
    let wanted = RecordPieces.rowLimit * Parallel.powerOfTwoProcessorCount * 2
    var (batches, start, rowCount): ([Range<Int>], Int, Int) = ([], 0, 0)
    for (place, part) in parts.enumerated() {
      rowCount += part.piece.rows.count
      guard rowCount >= wanted || place == parts.count - 1 else { continue }
      batches.append(start..<(place + 1))
      (start, rowCount) = (place + 1, 0)
    }
    return batches
  }

  /// The number of batches.
  package var batchCount: Int { batches.count }

  /// Returns the text of a batch, in pieces. It is made on all processors.
  package func batch(_ number: Int) -> [ByteSlice] {
    let batch = batches[number]
    return Parallel.map(batch.count) { place in
      let part = parts[batch.lowerBound + place]
      return part.formatter.text(of: part.piece)
    }
  }
}

/// The records of a table, divided into pieces of consecutive rows.
struct RecordPieces: Sendable {
  struct Piece: Sendable {
    let group: RowGroup
    let rows: Range<Int>
  }

  static let rowLimit = 8192
  let pieces: [Piece]

  init(_ table: NodeTable) {
    pieces = table.groups.flatMap { group in
      group.liveRuns.flatMap { run in
        stride(from: run.lowerBound, to: run.upperBound, by: Self.rowLimit).map { start in
          Piece(group: group, rows: start..<min(start + Self.rowLimit, run.upperBound))
        }
      }
    }
  }
}
