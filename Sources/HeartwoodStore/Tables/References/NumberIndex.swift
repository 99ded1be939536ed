/// Finds the row of a reference that is a number, where all are and lie close together, as the keys of a database do: a slot for each number
/// from the least to the greatest, with its row.
///
/// Nothing is hashed and no reference is compared, and it is made several times as fast as an index by hash.
struct NumberIndex: Sendable {
  /// Up to so many slots a row: as much memory as an index by hash takes.
  private static let greatestSlotsPerRow = 4
  private static let emptySlot = UInt32.max

  private let least: Int64
  private let slotCount: UInt64
  /// The rows, 4 bytes each.
  private let slots: ByteSlice

  /// Indexes the rows of `parts`; nil where the references are no numbers that lie close together. O(rows).
  init?(_ parts: [IndexedRows]) throws(ReferenceIndex.Duplicate) {
    guard let bounds = Self.bounds(parts) else { return nil }
    let span = UInt64(bitPattern: bounds.greatest &- bounds.least)
    let rowCount = parts.reduce(0) { $0 + $1.rows.count }
    guard span < UInt64(rowCount * Self.greatestSlotsPerRow) else { return nil }
    least = bounds.least
    slotCount = span + 1
    let memory = GrowableBytes(capacity: Int(slotCount) * 4)
    memory.append(repeating: 0xFF, count: Int(slotCount) * 4)
    if let duplicate = Self.fill(memory.unsafeMutableBytes, parts, from: bounds.least) { throw duplicate }
    slots = memory.sealed()
  }

  /// The least and the greatest number; nil where there is none, or where something else is among them.
  private static func bounds(_ parts: [IndexedRows]) -> (least: Int64, greatest: Int64)? {
    guard parts.allSatisfy({ $0.references.layout == .integer }) else { return nil }
    var bounds: (least: Int64, greatest: Int64)?
    for part in parts {
      forEachNumber(part) { number, _ in
        let known = bounds ?? (number, number)
        bounds = (min(known.least, number), max(known.greatest, number))
      }
    }
    return bounds
  }

  private static func forEachNumber(_ part: IndexedRows, _ body: (Int64, RowID) -> Void) {
    for row in part.rows where part.liveness?[row] ?? true {
      body(part.references.number(row), RowID(group: part.group, row: row))
    }
  }

  /// Returns the duplicate that comes first, where there is one. Each number is at most as far from the least as there are slots.
  private static func fill(
    _ slots: UnsafeMutableRawBufferPointer,
    _ parts: [IndexedRows],
    from least: Int64
  ) -> ReferenceIndex.Duplicate? {
    var duplicate: ReferenceIndex.Duplicate?
    for part in parts {
      forEachNumber(part) { number, row in
        let offset = Int(number &- least) &* 4
        let other = slots.load(fromByteOffset: offset, as: UInt32.self)
        if other == emptySlot {
          slots.storeBytes(of: row.rawValue, toByteOffset: offset, as: UInt32.self)
        } else if duplicate == nil {
          duplicate = .init(first: RowID(rawValue: other), second: row)
        }
      }
    }
    return duplicate
  }

  /// The row of `number`. O(1).
  @inline(__always)
  func row(of number: Int64) -> RowID? {
    // A number below the least comes out as a very great one.
    let slot = UInt64(bitPattern: number &- least)
    guard slot < slotCount else { return nil }
    let row = slots.unsafeBase.load(fromByteOffset: Int(slot) &* 4, as: UInt32.self)
    return row == Self.emptySlot ? nil : RowID(rawValue: row)
  }
}
