import HeartwoodModel
import HeartwoodStore

/// Puts the records of one entity together whose values come one by one, in any order, and not all of them.
final class RecordBuilder {
  let entity: EntityDescription
  private let builder: RowGroupBuilder
  private var groups: [RowGroup] = []
  /// How many records of the group are whole.
  private var rowCount = 0
  /// How many bytes have been read into the group, at most.
  private var byteCount = 0

  private static let typicalReferenceLength = 64

  init(_ entity: EntityDescription) {
    self.entity = entity
    builder = RowGroupBuilder(entity: entity)
  }

  /// Begins a record. False where there are more than a table holds.
  @inline(__always)
  func begin() -> Bool {
    if rowCount >= RowID.rowsPerGroup || byteCount > RowGroupBuilder.columnByteLimit {
      guard groups.count < RowID.maximumGroupCount else { return false }
      seal()
    }
    byteCount &+= Self.typicalReferenceLength
    return true
  }

  /// Whether the record that is being read has its reference.
  var hasReference: Bool { builder.references.count > rowCount }

  @inline(__always)
  func setReference(_ reference: ReferenceID) {
    builder.references.append(reference, entityOrdinal: entity.ordinal)
  }

  /// Whether the record that is being read has a value of the property already.
  @inline(__always)
  func hasValue(_ ordinal: Int) -> Bool {
    builder.columns[ordinal].rowCount > rowCount
  }

  /// The column to which the value of a property is to be appended.
  ///
  /// - Parameter byteCount: about how many bytes the value has.
  @inline(__always)
  func column(_ ordinal: Int, byteCount: Int) -> ColumnBuilder {
    self.byteCount &+= byteCount
    return builder.columns[ordinal]
  }

  /// Ends the record, which has a reference: what has not been set is nil or leads nowhere.
  @inline(__always)
  func end() {
    rowCount &+= 1
    for column in builder.columns where column.rowCount < rowCount { column.appendNull() }
  }

  private func seal() {
    groups.append(builder.sealed())
    rowCount = 0
    byteCount = 0
  }

  /// The groups of all records; this becomes empty.
  func finish() -> [RowGroup] {
    if rowCount > 0 { seal() }
    defer { groups = [] }
    return groups
  }
}
