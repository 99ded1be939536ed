import HeartwoodModel
import HeartwoodStore
import Synchronization

/// What a context would do to the records of one entity, had it been saved.
struct PendingRecords: Sendable {
  /// New values of a record, by property ordinal.
  struct Update: Sendable {
    let reference: ReferenceID
    let values: [(ordinal: Int, value: PropertyValue)]
  }

  /// The new records, with values for all properties.
  var inserted: [NodeTable.NewRow] = []
  var updated: [Update] = []
  var deleted: [ReferenceID] = []
}

extension PendingRecords {
  /// The records that are new, change or go.
  var references: [ReferenceID] { inserted.map(\.reference) + updated.map(\.reference) + deleted }

  /// The records that change values of properties of `ordinals`, or go.
  func references(changingAt ordinals: Set<Int>) -> [ReferenceID] {
    deleted + updated.filter { $0.values.contains { ordinals.contains($0.ordinal) } }.map(\.reference)
  }

  /// Makes the changes in `table`, as far as that does not have them yet: the store may have been saved a moment ago, by the same
  /// context or by another. The records that change get a version that no others have.
  func apply(to table: inout NodeTable, version: UInt64) throws(PersistenceError) {
    var updates: [NodeTable.RowUpdate] = []
    var insertions: [NodeTable.NewRow] = []
    for new in inserted {
      if let row = try table.row(of: new.reference) {
        updates.append(.init(row: row, values: persistentValues(new.values, of: table.entity)))
      } else {
        insertions.append(new)
      }
    }
    for update in updated {
      if let row = try table.row(of: update.reference) { updates.append(.init(row: row, values: update.values)) }
    }
    var deletions: [RowID] = []
    for reference in deleted {
      if let row = try table.row(of: reference) { deletions.append(row) }
    }
    table.update(updates)
    table.delete(deletions)
    let rows = updates.map(\.row) + Array(table.insertUnsaved(insertions))
    table.setVersion(version, of: rows)
  }

  private func persistentValues(
    _ values: [PropertyValue],
    of entity: EntityDescription
  ) -> [(ordinal: Int, value: PropertyValue)] {
    values.enumerated().compactMap { ordinal, value in
      entity.traits[ordinal].isTransient ? nil : (ordinal, value)
    }
  }
}

/// The versions of records that no store has: no two changes in a process get the same, and no store reaches them.
///
/// Records with the same version have the same values, so a version tells whether a record is as it was read. The reverse does not
/// hold: a record gets another version when it is put together anew.
enum StagedVersion {
  private static let last = Atomic<UInt64>(1 << 63)

  static func next() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }
}
