import HeartwoodModel
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Whether the values of a group of rows mean something: what is read is held against it before it is believed, and what is
/// written, before it is written. So no file is ever written that would be refused.
struct ColumnMeaning: Sendable {
  /// Indexed by property ordinal.
  let rules: [ColumnRule]

  init(of entity: EntityDescription, in model: ManagedObjectModel) {
    rules = ColumnRule.rules(for: entity, of: model)
  }

  /// What is wrong with the values of the property with `ordinal`, or nil. O(bytes of the column).
  func fault(in column: Column, ordinal: Int) -> ColumnFault? {
    if let fault = ColumnShape.fault(in: column) { return fault }
    if let what = ColumnCheck.fault(in: column) { return ColumnFault(what, in: column.firstPart) }
    switch rules[ordinal] {
    case .anyBytes: return nil
    case .text: return TextMeaning.fault(in: column.values, offsets: column.offsets)
    case .uri: return TextMeaning.fault(in: column.values, offsets: column.offsets) ?? uriFault(column)
    case .decimal: return decimalFault(column)
    case .references(let allowed):
      guard let references = column.references else { return nil }
      return ReferenceMeaning(references, validity: column.validity, allowedEntities: allowed).fault()
    }
  }

  /// What is wrong with what records are called, or nil. O(bytes).
  static func fault(in references: ReferenceColumn) -> ColumnFault? {
    if let fault = ColumnShape.fault(in: references) { return fault }
    if let what = ColumnCheck.fault(in: references) { return ColumnFault(what, in: references.values) }
    return ReferenceMeaning(references, validity: nil, allowedEntities: nil).fault()
  }

  /// What is wrong with the versions of rows, or nil. O(rows).
  static func fault(in versions: VersionColumn, rowCount: Int) -> ColumnFault? {
    guard case .each(let bytes) = versions else { return nil }
    guard bytes.count == rowCount * 8 else { return ColumnFault("there are too few versions", in: bytes) }
    // Half of the numbers are kept free, so that no version overflows when it is raised.
    let row = (0..<rowCount).first { !(1...UInt64(Int64.max)).contains(versions[$0]) }
    return row.map { ColumnFault("a version is out of range", in: bytes, at: $0 * 8) }
  }

  private func uriFault(_ column: Column) -> ColumnFault? {
    for row in 0..<column.rowCount where column.validity?[row] ?? true {
      let range = column.range(row)
      let text = String(decoding: column.values.unsafeBytes[range], as: UTF8.self)
      if URL(string: text) == nil { return ColumnFault("a text is no URI", in: column.values, at: range.lowerBound) }
    }
    return nil
  }

  private func decimalFault(_ column: Column) -> ColumnFault? {
    for row in 0..<column.rowCount where column.validity?[row] ?? true {
      let place = row * PackedDecimal.width
      let packed = column.values.unsafeBytes.loadUnaligned(fromByteOffset: place, as: PackedDecimal.self)
      if !packed.isCanonical { return ColumnFault("bytes are no decimal number", in: column.values, at: place) }
    }
    return nil
  }
}

extension Column {
  /// The bytes that lie first in a file.
  fileprivate var firstPart: ByteSlice {
    validity?.bytes ?? offsets ?? references?.offsets ?? references?.values ?? values
  }
}
