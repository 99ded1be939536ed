import HeartwoodModel

extension NodeTable {
  /// Stops a debug build where the parts of the table do not fit together. O(rows); nothing in a release build.
  @inline(__always)
  package func _checkInvariants() {
    #if DEBUG
      for group in groups { group._checkInvariants(of: entity) }
      assert(count == groups.reduce(0) { $0 + $1.liveCount }, "The table counts other records than it has.")
      assert(groups.count <= RowID.maximumGroupCount, "The table has too many groups.")
    #endif
  }
}

extension RowGroup {
  #if DEBUG
    fileprivate func _checkInvariants(of entity: EntityDescription) {
      assert(columns.map(\.kind) == entity.properties.map { ColumnKind($0) }, "The columns are not the entity's.")
      for column in columns { assert(ColumnCheck.fault(in: column) == nil, ColumnCheck.fault(in: column) ?? "") }
      assert(ColumnCheck.fault(in: references) == nil, ColumnCheck.fault(in: references) ?? "")
      if case .each(let versions) = versions { assert(versions.count >= rowCount * 8, "There are too few versions.") }
      if let liveness {
        assert(liveness.bytes.count >= BitSlice.byteCount(rowCount), "There are too few liveness bits.")
      }
      assert(liveCount == liveRuns.reduce(0) { $0 + $1.count }, "The group counts other records than it has.")
    }
  #endif
}
