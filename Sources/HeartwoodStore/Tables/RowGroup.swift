package import HeartwoodModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Up to 65,536 records of one entity, column by column. It never changes: an update makes a new group that shares the columns
/// that stayed the same.
///
/// `@unchecked Sendable`: ``unsafeViews`` points to memory that is written in `init` only and freed in `deinit`; the columns that
/// the views point into are held as long as the group is.
@usableFromInline
package final class RowGroup: @unchecked Sendable {
  @usableFromInline
  package let rowCount: Int
  package let references: ReferenceColumn
  package let versions: VersionColumn
  /// The columns, indexed by property ordinal.
  package let columns: [Column]
  /// A bit for each row, set where the record has not been deleted; nil where all are there.
  @usableFromInline
  package let liveness: BitSlice?
  /// How many rows are records that have not been deleted.
  package let liveCount: Int
  /// Views of the columns, indexed by property ordinal, valid as long as the group is held.
  @usableFromInline
  package let unsafeViews: UnsafePointer<ColumnView>
  /// The names of the records where all are UUIDs, as long as the group is held.
  private let unsafeUUIDs: ColumnView?

  package init(references: ReferenceColumn, versions: VersionColumn, columns: [Column], liveness: BitSlice? = nil) {
    precondition(references.count <= RowID.rowsPerGroup, "A group has too many rows.")
    precondition(columns.allSatisfy { $0.rowCount == references.count }, "The columns differ in length.")
    self.rowCount = references.count
    self.references = references
    self.versions = versions
    self.columns = columns
    self.liveness = liveness
    self.liveCount = liveness?.setBitCount(references.count) ?? references.count
    let views = UnsafeMutablePointer<ColumnView>.allocate(capacity: max(1, columns.count))
    for (ordinal, column) in columns.enumerated() { (views + ordinal).initialize(to: ColumnView(column)) }
    self.unsafeViews = UnsafePointer(views)
    self.unsafeUUIDs = references.unsafeUUIDs
  }

  deinit {
    unsafeViews.deallocate()
  }
}

extension RowGroup {
  /// Whether the record in `row` has not been deleted.
  @inlinable @inline(__always)
  package func isLive(_ row: Int) -> Bool { liveness?[row] ?? true }

  /// The rows of records that have not been deleted, as runs of neighbours.
  package var liveRuns: [Range<Int>] {
    if let liveness { return liveness.setRuns(rowCount) }
    return rowCount > 0 ? [0..<rowCount] : []
  }

  /// What the store calls the record in `row`, without counting references to the column.
  package func reference(_ row: Int) -> ReferenceID {
    guard let unsafeUUIDs else { return references[row] }
    precondition(row >= 0 && row < rowCount, "The row is not in the table.")
    return .uuid(unsafeUUIDs.unsafeUUID(row))
  }

  /// Why the value of a property in `row` cannot be read; nil if it can.
  package func unreadable(row: Int, ordinal: Int) -> PersistenceError? { columns[ordinal].unreadable?[row] }

  /// The value of a property in `row`. One that cannot be read is empty: ask ``unreadable(row:ordinal:)`` about text and data that are.
  ///
  /// - Parameter scopes: what object ids are made with, indexed by entity ordinal.
  package func value(row: Int, ordinal: Int, type: AttributeType?, scopes: [ObjectIDScope]) -> PropertyValue {
    precondition(row >= 0 && row < rowCount && columns.indices.contains(ordinal), "The row is not in the table.")
    guard let type else { return columns[ordinal].relationshipValue(row: row, scopes: scopes) }
    return unsafeViews[ordinal].unsafeAttributeValue(row, type)
  }
}

extension Column {
  /// The value in `row`.
  ///
  /// - Parameters:
  ///   - type: the type of an attribute; nil for a relationship.
  ///   - scopes: what object ids are made with, indexed by entity ordinal.
  package func value(row: Int, type: AttributeType?, scopes: [ObjectIDScope]) -> PropertyValue {
    precondition(row >= 0 && row < rowCount, "The row is not in the table.")
    guard let type else { return relationshipValue(row: row, scopes: scopes) }
    return withExtendedLifetime(self) { ColumnView(self).unsafeAttributeValue(row, type) }
  }

  fileprivate func relationshipValue(row: Int, scopes: [ObjectIDScope]) -> PropertyValue {
    guard let references else { return .null }
    func id(_ index: Int) -> ManagedObjectID? {
      let ordinal = references.entityOrdinal(index)
      return scopes.indices.contains(ordinal)
        ? ManagedObjectID(scope: scopes[ordinal], reference: references[index]) : nil
    }
    if kind == .toMany { return .toMany(range(row).compactMap(id)) }
    guard validity?[row] ?? true else { return .null }
    return id(row).map(PropertyValue.toOne) ?? .null
  }
}

extension ColumnView {
  /// The value in `row`, which is one of the column's, and is not checked to be.
  package func unsafeAttributeValue(_ row: Int, _ type: AttributeType) -> PropertyValue {
    if unsafeIsNull(row) { return .null }
    switch type {
    case .integer16, .integer32, .integer64: return .integer(unsafeInteger(row))
    case .decimal: return .decimal(unsafeDecimal(row))
    case .double: return .double(unsafeDouble(row))
    case .float: return .float(unsafeFloat(row))
    case .string: return .string(unsafeString(row))
    case .boolean: return .boolean(unsafeBoolean(row))
    case .date: return .date(Date(timeIntervalSinceReferenceDate: unsafeDouble(row)))
    case .binary, .transformable: return .binary(Data(unsafeBytes(row)))
    case .uuid: return .uuid(unsafeUUID(row))
    case .uri: return URL(string: unsafeString(row)).map(PropertyValue.uri) ?? .null
    case .undefined: return .null
    }
  }
}
