import HeartwoodModel
import HeartwoodStore

/// Versions of one record, held against each other.
extension EntityBinding {
  /// The version that a change of a record counts as based on, which was read from a row of `group`: in a child context the newest one
  /// where that has the same values, since a parent puts records together anew.
  func baseVersion(_ row: RowID, readFrom group: RowGroup) -> UInt64 {
    let version = group.versions[row.row]
    guard rowsMayMove, let newest = liveGroup(of: row), newest !== group,
      hasSameValues(row.row, of: group, row.row, of: newest)
    else { return version }
    return newest.versions[row.row]
  }

  /// Whether one version of a row came after another; in a child context, where they are put together anew, whether they differ.
  func isLater(_ row: RowID, in group: RowGroup, than former: RowGroup) -> Bool {
    let (version, formerVersion) = (group.versions[row.row], former.versions[row.row])
    if !rowsMayMove { return version > formerVersion }
    return version != formerVersion && !hasSameValues(row.row, of: group, row.row, of: former)
  }

  /// Whether a record has the same values in two versions of its row.
  ///
  /// - Parameter newID: what the first version's ids are today where those are others.
  func hasSameValues(
    _ row: Int,
    of group: RowGroup,
    _ otherRow: Int,
    of other: RowGroup,
    renamed newID: ((ManagedObjectID) -> ManagedObjectID?)? = nil
  ) -> Bool {
    traits.indices.allSatisfy { hasSameValue(at: $0, row, of: group, otherRow, of: other, renamed: newID) }
  }

  /// The properties of which a record has other values in two versions of its row.
  func ordinalsOfOtherValues(
    _ row: Int,
    of group: RowGroup,
    _ otherRow: Int,
    of other: RowGroup,
    renamed newID: ((ManagedObjectID) -> ManagedObjectID?)? = nil
  ) -> [Int] {
    traits.indices.filter { !hasSameValue(at: $0, row, of: group, otherRow, of: other, renamed: newID) }
  }

  /// Whether a record has the same value of a property in two versions of its row.
  private func hasSameValue(
    at ordinal: Int,
    _ row: Int,
    of group: RowGroup,
    _ otherRow: Int,
    of other: RowGroup,
    renamed newID: ((ManagedObjectID) -> ManagedObjectID?)? = nil
  ) -> Bool {
    let type = traits[ordinal].attributeType
    let value = group.value(row: row, ordinal: ordinal, type: type, scopes: scopes)
    return traits[ordinal].areSame(
      newID.map { newID in value.map { newID($0) ?? $0 } } ?? value,
      other.value(row: otherRow, ordinal: ordinal, type: type, scopes: scopes)
    )
  }
}
