import HeartwoodModel
import HeartwoodStore

/// Records that were read together are mostly looked at together: what one of them leads to is read with what the others lead to, and
/// not record by record.
extension EntityBinding {
  /// So many records before and behind one are near it.
  private static let reach = 128
  /// So many ids are enough to be read at once.
  private static let greatestCount = 4096

  /// The ids to which a relationship leads from the records that lie near `row`.
  func ids(relatedFromNear row: RowID, at ordinal: Int) -> [ManagedObjectID] {
    guard let group = liveGroup(of: row) else { return [] }
    var ids: [ManagedObjectID] = []
    for other in max(0, row.row - Self.reach)..<min(group.rowCount, row.row + Self.reach) where group.isLive(other) {
      ids += group.value(row: other, ordinal: ordinal, type: nil, scopes: scopes).objectIDs
      if ids.count >= Self.greatestCount { break }
    }
    return ids
  }
}
