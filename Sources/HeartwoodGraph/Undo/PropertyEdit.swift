import HeartwoodModel

/// The change of one property of an object by an event.
struct PropertyEdit {
  let object: ManagedObject
  let ordinal: Int
  private var change: Change
  /// Whether the former value needed no saving.
  private let wasSettled: Bool

  private enum Change {
    case value(before: PropertyValue, after: PropertyValue)
    case list(ListEdit)
  }

  /// Creates the edit from `image` to the present value; nil if it is the same.
  init?(_ object: ManagedObject, _ ordinal: Int, since image: PropertyImage) {
    self.object = object
    self.ordinal = ordinal
    self.wasSettled = image.isSettled
    let value = object.value(at: ordinal)
    let trait = object.binding.traits[ordinal]
    if trait.isToMany {
      let edit = ListEdit(from: image.value.objectIDs, to: value.objectIDs)
      if edit.isEmpty(isOrdered: trait.isOrdered) { return nil }
      change = .list(edit)
    } else {
      if value == image.value { return nil }
      change = .value(before: image.value, after: value)
    }
  }
}

extension PropertyEdit {
  /// The objects that reverting the edit adds or removes, whatever the present value is.
  var movedIDs: [ManagedObjectID] {
    switch change {
    case .value(let before, let after): before.objectIDs + after.objectIDs + object.value(at: ordinal).objectIDs
    case .list(let edit): edit.ids
    }
  }

  /// The ids in the edit.
  var ids: [ManagedObjectID] {
    switch change {
    case .value(let before, let after): before.objectIDs + after.objectIDs
    case .list(let edit): edit.ids
    }
  }

  /// Returns the same edit with other ids.
  func map(_ transform: (ManagedObjectID) -> ManagedObjectID) -> PropertyEdit {
    var edit = self
    switch change {
    case .value(let before, let after): edit.change = .value(before: before.map(transform), after: after.map(transform))
    case .list(let list): edit.change = .list(list.map(transform))
    }
    return edit
  }

  private var isOrdered: Bool { object.binding.traits[ordinal].isOrdered }

  /// Whether the property is as the edit left it. Attributes always count as such: nothing depends on them.
  var isExpected: Bool {
    switch change {
    case .value(_, let after):
      object.binding.traits[ordinal].attributeType != nil || object.value(at: ordinal) == after
    case .list(let edit):
      edit.isExpected(in: ObjectIDList(object.value(at: ordinal).objectIDs), isOrdered: isOrdered)
    }
  }

  /// Reverts the edit, whatever the other end of a relationship refers to; that end has an edit of its own. Objects for
  /// which `mayLead` returns false are left out.
  func revert(mayLead: (ManagedObjectID) -> Bool) {
    switch change {
    case .value(let before, _):
      object.changeBack(ordinal, to: before.objectIDs.allSatisfy(mayLead) ? before : .null)
    case .list(let edit):
      let ids = edit.before.filter(mayLead)
      object.changeLinks(ordinal) { edit.revert(&$0, to: ids, isOrdered: isOrdered) }
    }
    if wasSettled { object.settle(ordinal) }
  }
}

extension PropertyValue {
  /// Returns the value with other ids.
  func map(_ transform: (ManagedObjectID) -> ManagedObjectID) -> PropertyValue {
    switch self {
    case .toOne(let id): .toOne(transform(id))
    case .toMany(let ids): .toMany(ids.map(transform))
    default: self
    }
  }
}

// MARK: ListEdit

/// The difference between two lists of ids: a run of ids that replaces another run.
struct ListEdit {
  private let start: Int
  /// The ids of the former run.
  let before: [ManagedObjectID]
  private let after: [ManagedObjectID]
  /// The count of the whole list after the edit.
  private let countAfter: Int

  /// Creates the edit from `before` to `after`. O(n).
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
  /// Returns whether both lists are the same; for an unordered relationship, whether they have the same ids.
  func isEmpty(isOrdered: Bool) -> Bool {
    if before.count != after.count { return false }
    return before.isEmpty || (!isOrdered && Set(before) == Set(after))
  }

  /// The ids that were added, removed, or moved.
  var ids: [ManagedObjectID] { before + after }

  /// Returns the same edit with other ids.
  func map(_ transform: (ManagedObjectID) -> ManagedObjectID) -> ListEdit { ListEdit(self, transform) }

  /// Returns whether `list` is as the edit left it.
  func isExpected(in list: ObjectIDList, isOrdered: Bool) -> Bool {
    guard isOrdered else {
      let kept = Set(after)
      return after.allSatisfy(list.contains) && !before.contains { list.contains($0) && !kept.contains($0) }
    }
    guard list.count == countAfter else { return false }
    return list.ids[start...].starts(with: after)
  }

  /// Reverts the edit, with `before` as the former run: as many of its ids as can be restored.
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
