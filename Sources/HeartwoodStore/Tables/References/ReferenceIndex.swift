import HeartwoodModel

/// Finds the row of a reference. It never changes once it is made.
struct ReferenceIndex: Sendable {
  private enum Kind {
    case byNumber(NumberIndex)
    case byHash(HashIndex)
  }

  private let kind: Kind

  /// Two rows of the same reference.
  struct Duplicate: Error, Sendable {
    let first: RowID
    let second: RowID
  }

  /// Indexes the rows of `parts`, which are groups that follow each other. O(rows), on all processors.
  init(_ parts: [IndexedRows]) throws(Duplicate) {
    if let numbers = try NumberIndex(parts) {
      kind = .byNumber(numbers)
    } else {
      kind = .byHash(try HashIndex(parts))
    }
  }

  /// The row of `reference` among the rows indexed, live or not. O(1) expected.
  ///
  /// - Parameter groups: those of the table, in any later version.
  @inline(__always)
  func row(of reference: ReferenceID, in groups: [RowGroup]) -> RowID? {
    switch kind {
    case .byNumber(let index):
      if case .integer(let number) = reference { index.row(of: number) } else { nil }
    case .byHash(let index): index.row(of: reference, in: groups)
    }
  }
}

/// Rows of one group that an index is made of.
struct IndexedRows: Sendable {
  /// The place of the group in its table.
  let group: Int
  let rows: Range<Int>
  let references: ReferenceColumn
  /// Deleted rows are left out.
  let liveness: BitSlice?
}
