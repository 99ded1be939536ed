import HeartwoodModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The order of the values of one column, which indexes and sorts have in common.
///
/// To-one relationships have one too, so that they can be found: by the bytes of the names of the objects that they lead to.
///
/// It reads through pointers into the column: whoever uses it holds the column, and gives rows of it that have a value.
struct ValueOrder {
  private let leads: SortTerm.Leads
  private let view: ColumnView
  private let references: ReferenceColumn?

  init(_ column: Column) {
    view = ColumnView(column)
    references = column.references
    leads = SortTerm.Leads(view: view, kind: column.kind, flip: 0)
  }

  func isNull(_ row: Int) -> Bool { view.unsafeIsNull(row) }

  /// A number that is less where the row comes first.
  func lead(_ row: Int) -> UInt64 {
    references.map { SortTerm.Leads.prefix($0.unsafeName(row)) } ?? leads.value(view, row)
  }

  /// Whether rows with the same number have the same value.
  var isLeadExact: Bool {
    switch view.kind {
    case .bits, .int16, .int32, .int64, .float, .double: true
    case .absent, .bytes, .decimal, .uuid, .toOne, .toMany: false
    }
  }

  /// Below 0 where the row `left` comes first, 0 where both have the same value.
  func compare(_ left: Int, _ right: Int) -> Int {
    if let references {
      let order = ByteOrder.compare(references.unsafeName(left), references.unsafeName(right))
      return order != 0 ? order : references.entityOrdinal(left) - references.entityOrdinal(right)
    }
    switch view.kind {
    case .bytes: return ByteOrder.compare(view.unsafeBytes(left), view.unsafeBytes(right))
    case .uuid: return ByteOrder.compare(view.unsafeUUIDBytes(left), view.unsafeUUIDBytes(right))
    case .decimal: return PackedDecimal.compare(view.unsafePackedDecimal(left), view.unsafePackedDecimal(right))
    default:
      let (first, second) = (lead(left), lead(right))
      return first < second ? -1 : first == second ? 0 : 1
    }
  }
}

extension ReferenceColumn {
  /// The bytes of the name at `index`, valid as long as the column is held.
  func unsafeName(_ index: Int) -> UnsafeRawBufferPointer {
    guard let width = layout.width else { return bytes(index) }
    precondition(index >= 0 && index < count, "The row is not in the table.")
    return UnsafeRawBufferPointer(start: values.unsafeBase + index * width, count: width)
  }

  /// The bytes that `reference` has in the column; nil where there can be none of its kind.
  func nameBytes(of reference: ReferenceID) -> [UInt8]? {
    let (kind, bytes): (Layout, [UInt8]) =
      switch reference {
      case .integer(let number): (.integer, withUnsafeBytes(of: number) { Array($0) })
      case .uuid(let uuid): (.uuid, withUnsafeBytes(of: uuid.uuid) { Array($0) })
      case .string(let text): (.string, Array(text.utf8))
      }
    if layout == .mixed { return [kind.rawValue] + bytes }
    return kind == layout ? bytes : nil
  }
}
