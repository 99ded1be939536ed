import HeartwoodModel

/// What makes one list of ids of another: a run of ids that another run takes the place of.
struct ListEdit {
  private let start: Int
  /// The ids of the run that was there before.
  let before: [ManagedObjectID]
  private let after: [ManagedObjectID]
  /// The count of the whole list after the edit.
  private let countAfter: Int

  /// What makes `after` of `before`. O(n).
  init(from before: [ManagedObjectID], to after: [ManagedObjectID]) {
    let limit = min(before.count, after.count)
    var start = 0
    while start < limit, before[start] == after[start] { start += 1 }
    var tail = 0
    while tail < limit - start, before[before.count - 1 - tail] == after[after.count - 1 - tail] { tail += 1 }
    self.start = start
    self.before = Array(before[start..<before.count - tail])
    self.after = Array(after[start..<after.count - tail])
    self.countAfter = after.count
  }

  private init(_ edit: ListEdit, _ transform: (ManagedObjectID) -> ManagedObjectID?) {
    start = edit.start
    before = edit.before.compactMap(transform)
    after = edit.after.compactMap(transform)
    countAfter = edit.countAfter
  }
}

extension ListEdit {
  /// Whether both lists are the same; in one without an order, whether they have the same ids.
  func isEmpty(isOrdered: Bool) -> Bool {
    if before.count != after.count { return false }
    return before.isEmpty || (!isOrdered && Set(before) == Set(after))
  }

  /// The ids that came or went, or changed their places.
  var ids: [ManagedObjectID] { before + after }

  /// The same edit with other ids.
  func map(_ transform: (ManagedObjectID) -> ManagedObjectID) -> ListEdit { ListEdit(self, transform) }

  /// Whether `list` is as the edit left it.
  func isExpected(in list: ObjectIDList, isOrdered: Bool) -> Bool {
    guard isOrdered else {
      let kept = Set(after)
      return after.allSatisfy(list.contains) && !before.contains { list.contains($0) && !kept.contains($0) }
    }
    guard list.count == countAfter else { return false }
    return list.ids[start...].starts(with: after)
  }

  /// Takes the edit back, with `before` as the run that was there before: as many of its ids as can come back.
  func revert(_ list: inout ObjectIDList, to before: [ManagedObjectID], isOrdered: Bool) {
    if isOrdered, isExpected(in: list, isOrdered: true) {
      var ids = list.ids
      ids.replaceSubrange(start..<start + after.count, with: before)
      list = ObjectIDList(ids)
    } else {
      for id in Set(after).subtracting(before) { list.remove(id) }
      for id in before { list.append(id) }
    }
  }
}
