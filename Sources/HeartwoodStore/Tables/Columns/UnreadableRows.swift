/// The rows of a column whose values the store has and could not read, such as large data in a file that is missing.
///
/// The value is there, so the row is not null; what stands in the column for it is empty, and nobody may take it for the value.
package struct UnreadableRows: Sendable {
  /// In the order of the rows.
  private var errors: [(row: Int, error: PersistenceError)] = []

  /// Why the value in the first row cannot be read for which `isMeant` holds.
  func first(where isMeant: (Int) -> Bool) -> PersistenceError? { errors.first { isMeant($0.row) }?.error }

  /// Why the value in `row` cannot be read; nil if it can. O(log n).
  package subscript(row: Int) -> PersistenceError? {
    let place = place(of: row)
    return place < errors.count && errors[place].row == row ? errors[place].error : nil
  }

  /// The place of the first that is not before `row`.
  private func place(of row: Int) -> Int {
    var (low, high) = (0, errors.count)
    while low < high {
      let middle = (low + high) / 2
      if errors[middle].row < row { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Notes a row behind all that were noted.
  mutating func append(_ row: Int, _ error: PersistenceError) { errors.append((row, error)) }

  /// Notes those of `rows` that are unreadable in another column, as rows from `start` on.
  mutating func append(_ rows: Range<Int>, of other: UnreadableRows, at start: Int) {
    for (row, error) in other.errors[other.place(of: rows.lowerBound)...] {
      guard row < rows.upperBound else { return }
      errors.append((start + row - rows.lowerBound, error))
    }
  }

  var isEmpty: Bool { errors.isEmpty }
}
