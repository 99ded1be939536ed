package import HeartwoodModel

/// In what order the records of a table are.
enum RecordOrder: Sendable, Equatable {
  /// In that of their rows.
  case rows
  /// In that of their numbers, which is that of their rows so far: what is read next may have lower ones than `last`.
  case rowsAndNumbers(last: Int64)
  /// In that of their numbers. The rows are in that in which the records were read.
  case numbers
}

extension NodeTable {
  /// Lets the records, of which there are none yet, be in the order of their numbers, in whatever order they are read.
  mutating func beginOrderByNumber() {
    order = .rowsAndNumbers(last: .min)
  }

  /// Takes note of the numbers of records that come behind those which are there. O(records) as long as these are in order.
  mutating func noteOrder(of inserted: [RowGroup]) {
    guard case .rowsAndNumbers(var last) = order else { return }
    for references in inserted.lazy.map(\.references) {
      for row in 0..<references.count {
        // Other names have no order.
        guard case .integer(let number) = references[row] else {
          order = .rows
          return
        }
        if number < last {
          order = .numbers
          return
        }
        last = number
      }
    }
    order = .rowsAndNumbers(last: last)
  }

  /// Whether rows are in another order than the records.
  var isOutOfOrder: Bool {
    if case .numbers = order { true } else { false }
  }

  /// A number that is less for a record that comes before another one of the table.
  package func place(of row: RowID) -> UInt64 {
    isOutOfOrder ? place(of: reference(row), in: row) : UInt64(row.rawValue)
  }

  /// The same of a record that is called `reference` and is in `row` in this version of the table or a later one.
  package func place(of reference: ReferenceID, in row: RowID) -> UInt64 {
    guard isOutOfOrder, case .integer(let number) = reference else { return UInt64(row.rawValue) }
    return UInt64(bitPattern: number) ^ 1 << 63
  }

  /// The same, and comparable with the places of records in other versions of the table.
  package func lastingPlace(of row: RowID) -> UInt64 {
    guard order != .rows, case .integer(let number) = reference(row) else { return UInt64(row.rawValue) }
    return UInt64(bitPattern: number) ^ 1 << 63
  }

  /// Whether a record comes before another one, whatever their values.
  func comes(_ left: RowID, before right: RowID) -> Bool {
    isOutOfOrder ? place(of: left) < place(of: right) : left.rawValue < right.rawValue
  }

  /// Rows, which are given from the first on, in the order of their records.
  func ordered(_ rows: [RowID]) -> [RowID] {
    guard isOutOfOrder else { return rows }
    return RadixSort.sorted(rows.map { RowSort.Entry(lead: place(of: $0), row: $0) }).map(\.row)
  }
}
