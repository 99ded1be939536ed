/// The place of a record in its table: a group and a row in it. It stays the same for as long as the table lives, also when
/// other rows come and go.
@usableFromInline
package struct RowID: Sendable, Hashable {
  package static let rowsPerGroup = 1 << 16

  @usableFromInline
  package let rawValue: UInt32

  @inlinable @inline(__always)
  package init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  @inlinable @inline(__always)
  package init(group: Int, row: Int) {
    self.rawValue = UInt32(truncatingIfNeeded: group &<< 16 | row)
  }

  @inlinable @inline(__always)
  package var group: Int { Int(rawValue &>> 16) }

  @inlinable @inline(__always)
  package var row: Int { Int(rawValue & 0xFFFF) }

  /// A place where no table has a row.
  package static let none = RowID(rawValue: .max)

  /// The greatest number of groups that a table has.
  package static let maximumGroupCount = 1 << 16
}
