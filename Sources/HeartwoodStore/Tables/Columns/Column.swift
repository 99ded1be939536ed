/// The values of one property in one group of rows. It never changes, so groups share it.
package struct Column: Sendable {
  package let kind: ColumnKind
  package let rowCount: Int
  /// A bit for each row, set where it has a value; nil where every row has one.
  package let validity: BitSlice?
  /// For bytes and to-many: 4 bytes for each row and one more, where its bytes or references begin, and where the last one's end.
  package let offsets: ByteSlice?
  /// The values, one after another; empty for relationships.
  package let values: ByteSlice
  /// The references of a relationship.
  package let references: ReferenceColumn?
  /// The rows whose values could not be read; nil if all could, as nearly always.
  package let unreadable: UnreadableRows?
  /// The rows in the order of their values, for whoever needs it.
  package let order = ColumnOrder()

  /// The parts must fit the kind and the number of rows; ``ColumnCheck`` tells whether those of a file do.
  package init(
    kind: ColumnKind,
    rowCount: Int,
    validity: BitSlice? = nil,
    offsets: ByteSlice? = nil,
    values: ByteSlice = .empty,
    references: ReferenceColumn? = nil,
    unreadable: UnreadableRows? = nil
  ) {
    self.kind = kind
    self.rowCount = rowCount
    self.validity = validity
    self.offsets = offsets
    self.values = values
    self.references = references
    self.unreadable = unreadable
  }

  /// A column of a property that no store keeps.
  package static func absent(rowCount: Int) -> Column {
    Column(kind: .absent, rowCount: rowCount)
  }

  /// The same relationship with other references, as many as there are.
  package func with(references: ReferenceColumn) -> Column {
    Column(
      kind: kind,
      rowCount: rowCount,
      validity: validity,
      offsets: offsets,
      values: values,
      references: references
    )
  }

  /// Where the bytes or references of `row` begin and end.
  package func range(_ row: Int) -> Range<Int> {
    precondition(row >= 0 && row < rowCount, "The row is not in the table.")
    guard let offsets else { return 0..<0 }
    let start = Int(offsets.unsafeBase.loadUnaligned(fromByteOffset: row * 4, as: UInt32.self))
    let end = Int(offsets.unsafeBase.loadUnaligned(fromByteOffset: row * 4 + 4, as: UInt32.self))
    return start..<end
  }
}
