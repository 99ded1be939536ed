import HeartwoodStore

/// Finds the registered objects of one entity by row, without keeping them alive.
///
/// Unsafe inside: an object that is in a slot takes itself out in its `deinit`, so what a slot has is alive, and an object takes
/// out nobody but itself. Every row is compared with the slots that there are.
final class ObjectSlots {
  private typealias Group = UnsafeMutableBufferPointer<Unmanaged<ManagedObject>?>
  // Exclusivity is checked by eye: no method calls another's code while it uses the slots.
  @exclusivity(unchecked) private var groups: ContiguousArray<Group> = []

  deinit {
    for group in groups { group.deallocate() }
  }
}

extension ObjectSlots {
  /// The object of `row`, or nil where none is registered.
  @inline(__always)
  subscript(row: RowID) -> ManagedObject? {
    guard row.group < groups.count, row.row < groups[row.group].count else { return nil }
    return groups[row.group][row.row]?.takeUnretainedValue()
  }

  /// Lets `row` lead to `object`.
  @inline(__always)
  func set(_ object: ManagedObject, at row: RowID) {
    if row.group >= groups.count || row.row >= groups[row.group].count {
      reserve(group: row.group, rowCount: row.row + 1)
    }
    groups[row.group][row.row] = Unmanaged.passUnretained(object)
  }

  /// Lets `row` lead nowhere if it leads to `object`.
  @inline(__always)
  func remove(_ object: ManagedObject, at row: RowID) {
    guard row.group < groups.count, row.row < groups[row.group].count,
      groups[row.group][row.row]?.toOpaque() == Unmanaged.passUnretained(object).toOpaque()
    else { return }
    groups[row.group][row.row] = nil
  }

  /// Makes room for the first `rowCount` rows of a group.
  func reserve(group ordinal: Int, rowCount: Int) {
    while groups.count <= ordinal { groups.append(Group(start: nil, count: 0)) }
    let old = groups[ordinal]
    guard old.count < rowCount else { return }
    let new = Group.allocate(capacity: max(rowCount, min(2 * old.count, RowID.rowsPerGroup)))
    let end = new.initialize(fromContentsOf: old)
    new[end...].initialize(repeating: nil)
    old.deallocate()
    groups[ordinal] = new
  }

  /// The objects that are registered at `row` or behind it.
  func objects(from row: RowID) -> [ManagedObject] {
    groups.indices.dropFirst(row.group).flatMap { ordinal in
      groups[ordinal].dropFirst(ordinal == row.group ? row.row : 0).compactMap { $0?.takeUnretainedValue() }
    }
  }

  /// All registered objects, in the order of their rows. O(rows).
  var objects: [ManagedObject] {
    groups.flatMap { group in group.compactMap { $0?.takeUnretainedValue() } }
  }
}
