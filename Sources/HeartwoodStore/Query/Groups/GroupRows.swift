/// Some rows of one group of a table, with the number of the record group that each belongs to.
struct GroupRows {
  let group: RowGroup
  /// The place of the group in its table.
  let ordinal: Int
  let rows: [Int32]
  /// For each of the rows, in the same order.
  var codes: [UInt32]

  init(_ group: RowGroup, ordinal: Int, _ bitmap: RowBitmap) {
    var rows: [Int32] = []
    rows.reserveCapacity(bitmap.count)
    bitmap.forEach { rows.append(Int32(truncatingIfNeeded: $0)) }
    self.init(group, ordinal: ordinal, rows)
  }

  init(_ group: RowGroup, ordinal: Int, _ rows: [Int32]) {
    self.group = group
    self.ordinal = ordinal
    self.rows = rows
    self.codes = Array(repeating: 0, count: rows.count)
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
