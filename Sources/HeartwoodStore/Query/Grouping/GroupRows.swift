/// Some rows of one group of a table, with the number of the record group that each belongs to.
struct GroupRows: Sendable {
  private(set) var group: RowGroup
  /// The place of the group in its table.
  private(set) var ordinal: Int
  private(set) var rows: [Int32]
  /// For each of the rows, in the same order.
  var codes: [UInt32]

  init(_ group: RowGroup, ordinal: Int, _ rows: [Int32]) {
    self.group = group
    self.ordinal = ordinal
    self.rows = rows
    self.codes = Array(repeating: 0, count: rows.count)
  }

  /// Takes other rows, in the memory that these have.
  mutating func replace(_ group: RowGroup, ordinal: Int, _ bitmap: RowBitmap) {
    self.group = group
    self.ordinal = ordinal
    rows.removeAll(keepingCapacity: true)
    rows.reserveCapacity(group.rowCount)
    bitmap.forEach { rows.append(Int32(truncatingIfNeeded: $0)) }
    if codes.count > rows.count { codes.removeLast(codes.count - rows.count) }
    if codes.count < rows.count { codes.append(contentsOf: repeatElement(0, count: rows.count - codes.count)) }
    codes.withUnsafeMutableBufferPointer { $0.update(repeating: 0) }
  }

  var count: Int { rows.count }

  /// Writes the codes that `body` gives for the rows.
  @inline(__always)
  mutating func setCodes(_ body: (_ row: Int) -> UInt32) {
    rows.withUnsafeBufferPointer { rows in
      codes.withUnsafeMutableBufferPointer { codes in
        for index in 0..<rows.count { codes[index] = body(Int(rows[index])) }
      }
    }
  }

  /// Calls `body` with the code and the row of each row that has a value of the property.
  @inline(__always)
  func forEachValue(of ordinal: Int, _ body: (_ code: Int, _ row: Int) -> Void) {
    let view = group.unsafeViews[ordinal]
    rows.withUnsafeBufferPointer { rows in
      codes.withUnsafeBufferPointer { codes in
        for index in 0..<rows.count {
          let row = Int(rows[index])
          if !view.unsafeIsNull(row) { body(Int(codes[index]), row) }
        }
      }
    }
  }
}
