import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Builds records of one entity whose values come one by one, in any order, and possibly not all of them.
///
/// An unsafe place: the columns are accessed without counting references to them. They exist as long as the builder,
/// which never replaces them.
final class RecordBuilder {
  private let entity: EntityDescription
  private let entityOrdinal: Int
  private let builder: RowGroupBuilder
  /// The columns of ``builder``.
  private let columns: ContiguousArray<Unmanaged<ColumnBuilder>>
  private let references: Unmanaged<ReferenceColumnBuilder>
  private var groups: [RowGroup] = []
  /// The rows of records that are left out.
  private var abandoned: [RowID] = []
  // Exclusivity is checked by eye: no method calls another's code while it changes one of these.
  /// How many records of the group are whole.
  @exclusivity(unchecked) private var rowCount = 0
  /// How many bytes have been read into the group, at most.
  @exclusivity(unchecked) private var byteCount = 0

  private static let typicalReferenceLength = 64

  init(_ entity: EntityDescription) {
    self.entity = entity
    entityOrdinal = entity.ordinal
    builder = RowGroupBuilder(entity: entity)
    columns = ContiguousArray(builder.columns.map { Unmanaged.passUnretained($0) })
    references = Unmanaged.passUnretained(builder.references)
  }

  /// Returns the column of a property, valid as long as this object exists.
  func unsafeColumn(_ ordinal: Int) -> Unmanaged<ColumnBuilder> { columns[ordinal] }

  /// Returns whether the current record has a value in the column already.
  @inline(__always)
  func hasValue(in column: Unmanaged<ColumnBuilder>) -> Bool {
    column._withUnsafeGuaranteedRef { $0.rowCount > rowCount }
  }

  /// Counts a value of about `byteCount` bytes that is appended to a column.
  @inline(__always)
  func note(byteCount: Int) {
    self.byteCount &+= byteCount
  }

  /// Begins a record. Returns false if there would be more than a table holds.
  @inline(__always)
  func begin() -> Bool {
    if rowCount >= RowID.rowsPerGroup || byteCount > RowGroupBuilder.columnByteLimit {
      guard groups.count < RowID.maximumGroupCount else { return false }
      seal()
    }
    byteCount &+= Self.typicalReferenceLength
    return true
  }

  /// Whether the current record has its reference.
  var hasReference: Bool { builder.references.count > rowCount }

  @inline(__always)
  func setReference(_ reference: ReferenceID) {
    references._withUnsafeGuaranteedRef { $0.append(reference, entityOrdinal: entityOrdinal) }
  }

  /// Sets the reference to a UUID: the fast form of ``setReference(_:)``.
  @inline(__always)
  func setReference(uuid: uuid_t) {
    references._withUnsafeGuaranteedRef { $0.append(uuid: uuid, entityOrdinal: entityOrdinal) }
  }

  /// Returns whether the current record has a value of the property already.
  @inline(__always)
  func hasValue(_ ordinal: Int) -> Bool {
    builder.columns[ordinal].rowCount > rowCount
  }

  /// Returns the column to which the value of a property is to be appended.
  ///
  /// - Parameter byteCount: the approximate size of the value in bytes.
  @inline(__always)
  func column(_ ordinal: Int, byteCount: Int) -> ColumnBuilder {
    self.byteCount &+= byteCount
    return builder.columns[ordinal]
  }

  /// Ends the record, which must have a reference: attributes that have not been set are nil, and relationships are
  /// empty.
  @inline(__always)
  func end() {
    rowCount &+= 1
    columns.withUnsafeBufferPointer { columns in
      for column in columns {
        column._withUnsafeGuaranteedRef { if $0.rowCount < rowCount { $0.appendNull() } }
      }
    }
  }

  /// Abandons the current record: its row stays until the groups are finished, and is removed from them.
  func abandon() {
    guard columns.contains(where: hasValue) || hasReference else { return }
    if !hasReference { setReference(.integer(0)) }
    end()
    abandoned.append(RowID(group: groups.count, row: rowCount - 1))
  }

  private func seal() {
    groups.append(builder.sealed())
    rowCount = 0
    byteCount = 0
  }

  /// Returns the groups of all records; this becomes empty.
  func finish() -> [RowGroup] {
    if rowCount > 0 { seal() }
    defer { (groups, abandoned) = ([], []) }
    return abandoned.isEmpty ? groups : NodeTable(entity: entity, groups: groups).groups(without: abandoned)
  }
}
