import HeartwoodStore

/// Finds the registered objects of one entity by row.
///
/// It owns the objects, so that an application may release its last reference on any thread: that only decrements a
/// count. An object that is owned only here counts as gone. It is released in the isolation of its context: when its
/// row is looked up, or by ``tidy(andLookAt:)``.
///
/// Unsafe inside: every row is checked against the existing slots.
final class ObjectSlots {
  private typealias Group = UnsafeMutableBufferPointer<ManagedObject?>
  // Exclusivity is checked by review: no method runs foreign code, such as a deinit, while it uses the slots.
  @exclusivity(unchecked) private var groups: ContiguousArray<Group> = []
  /// The row at which tidying continues.
  private var hand = RowID(group: 0, row: 0)
  /// How many objects were added since the slots were last tidied.
  @exclusivity(unchecked) private var newCount = 0

  deinit {
    for group in groups {
      group.deinitialize()
      group.deallocate()
    }
  }
}

extension ObjectSlots {
  /// The object of `row`, or nil if none is registered or it is no longer referenced elsewhere.
  @inline(__always)
  subscript(row: RowID) -> ManagedObject? {
    guard row.group < groups.count else { return nil }
    let group = groups[row.group]
    guard row.row < group.count, group[row.row] != nil else { return nil }
    if isKnownUniquelyReferenced(&group[row.row]) {
      release(row)
      return nil
    }
    return group[row.row]
  }

  @inline(never)
  private func release(_ row: RowID) {
    let object = groups[row.group][row.row].take()
    withExtendedLifetime(object) {}
  }

  /// Puts `object` into the slot of `row`, and retains it.
  @inline(__always)
  func set(_ object: ManagedObject, at row: RowID) {
    if row.group >= groups.count || row.row >= groups[row.group].count {
      reserve(group: row.group, rowCount: row.row + 1)
    }
    newCount &+= 1
    let group = groups[row.group]
    let former = group[row.row].take()
    group.initializeElement(at: row.row, to: object)
    withExtendedLifetime(former) {}
  }

  /// Puts a new object into the slot of `row`, which the caller has found to be empty.
  @inline(__always)
  func insert(_ object: ManagedObject, at row: RowID) {
    if row.group >= groups.count || row.row >= groups[row.group].count {
      reserve(group: row.group, rowCount: row.row + 1)
    }
    newCount &+= 1
    groups[row.group].initializeElement(at: row.row, to: object)
  }

  /// Empties the slot of `row` if `object` is in it.
  func remove(_ object: ManagedObject, at row: RowID) {
    guard row.group < groups.count, row.row < groups[row.group].count, groups[row.group][row.row] === object
    else { return }
    groups[row.group][row.row] = nil
  }

  /// Makes room for the first `rowCount` rows of a group.
  func reserve(group ordinal: Int, rowCount: Int) {
    while groups.count <= ordinal { groups.append(Group(start: nil, count: 0)) }
    let old = groups[ordinal]
    guard old.count < rowCount else { return }
    let new = Group.allocate(capacity: max(rowCount, min(2 * old.count, RowID.rowsPerGroup)))
    let end = new.moveInitialize(fromContentsOf: old)
    new[end...].initialize(repeating: nil)
    old.deallocate()
    groups[ordinal] = new
  }

  /// All objects that are referenced elsewhere, in the order of their rows. O(rows).
  var objects: [ManagedObject] {
    groups.flatMap { group in
      group.indices.compactMap { group[$0] == nil || isKnownUniquelyReferenced(&group[$0]) ? nil : group[$0] }
    }
  }

  /// Calls `body` with each object of a group, even if it is referenced only here. `body` must not use the slots.
  /// O(rows of the group).
  func forEachObject(inGroup ordinal: Int, _ body: (ManagedObject) -> Void) {
    guard ordinal < groups.count else { return }
    for case let object? in groups[ordinal] { body(object) }
  }

  /// Empties the slots from `row` on, and returns the objects that are referenced elsewhere.
  func takeObjects(from row: RowID) -> [ManagedObject] {
    var taken: [ManagedObject] = []
    for ordinal in groups.indices.dropFirst(row.group) {
      let group = groups[ordinal]
      for row in group.indices.dropFirst(ordinal == row.group ? row.row : 0) {
        if let object = group[row].take() { taken.append(object) }
      }
    }
    // Objects that are not referenced elsewhere are released when no slot is in use.
    return taken.indices.filter { !isKnownUniquelyReferenced(&taken[$0]) }.map { taken[$0] }
  }
}

// MARK: Tidying

extension ObjectSlots {
  /// Releases objects that are no longer referenced elsewhere. It checks two slots for each object that was added since
  /// the last time, so that there are never many more unreferenced objects than referenced ones.
  ///
  /// - Parameter more: how many additional slots it checks.
  func tidy(andLookAt more: Int) {
    let count = more + 2 * newCount
    if count == 0 { return }
    newCount = 0
    // They are released when no slot is in use: their deinit may be foreign code.
    withExtendedLifetime(takeUnused(atMost: count)) {}
  }

  /// Releases all objects that are no longer referenced elsewhere. O(rows).
  func tidyAll() { tidy(andLookAt: groups.reduce(0) { $0 + $1.count }) }

  private func takeUnused(atMost count: Int) -> [ManagedObject] {
    var unused: [ManagedObject] = []
    var (ordinal, row, left) = (hand.group, hand.row, min(count, groups.reduce(0) { $0 + $1.count }))
    while left > 0 {
      if ordinal >= groups.count { (ordinal, row) = (0, 0) }
      let group = groups[ordinal]
      let end = min(group.count, row + left)
      for row in row..<max(row, end) where group[row] != nil && isKnownUniquelyReferenced(&group[row]) {
        if let object = group[row].take() { unused.append(object) }
      }
      left -= max(0, end - row)
      row = end
      if row >= group.count { (ordinal, row) = (ordinal + 1, 0) }
    }
    hand = RowID(group: ordinal, row: row)
    return unused
  }

  /// Empties all slots, and calls `body` with each object before it is released.
  func empty(_ body: (ManagedObject) -> Void) {
    let former = groups
    groups = []
    for group in former {
      for case let object? in group { body(object) }
      group.deinitialize()
      group.deallocate()
    }
  }
}
