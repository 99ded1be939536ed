import HeartwoodModel

/// What an event did to one property of an object.
struct PropertyEdit {
  let object: ManagedObject
  let ordinal: Int
  private var change: Change
  /// Whether the value before needed no saving.
  private let wasSettled: Bool

  private enum Change {
    case value(before: PropertyValue, after: PropertyValue)
    case list(ListEdit)
  }

  /// What made the value of today of `image`; nil where it is the same.
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
  /// The objects that reverting the edit lets come or go, whatever the property is now.
  var movedIDs: [ManagedObjectID] {
    switch change {
    case .value(let before, let after): before.objectIDs + after.objectIDs + object.value(at: ordinal).objectIDs
    case .list(let edit): edit.ids
    }
  }

  /// The ids that the edit names.
  var ids: [ManagedObjectID] {
    switch change {
    case .value(let before, let after): before.objectIDs + after.objectIDs
    case .list(let edit): edit.ids
    }
  }

  /// The same edit with other ids.
  func map(_ transform: (ManagedObjectID) -> ManagedObjectID) -> PropertyEdit {
    var edit = self
    switch change {
    case .value(let before, let after): edit.change = .value(before: before.map(transform), after: after.map(transform))
    case .list(let list): edit.change = .list(list.map(transform))
    }
    return edit
  }

  private var isOrdered: Bool { object.binding.traits[ordinal].isOrdered }

  /// Whether the property is as the edit left it. Attributes count as such: nothing depends on them.
  var isExpected: Bool {
    switch change {
    case .value(_, let after):
      object.binding.traits[ordinal].attributeType != nil || object.value(at: ordinal) == after
    case .list(let edit):
      edit.isExpected(in: ObjectIDList(object.value(at: ordinal).objectIDs), isOrdered: isOrdered)
    }
  }

  /// Takes the edit back, whatever the other end of a relationship says; that has an edit of its own. Objects for which `mayLead`
  /// is false stay out.
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
  /// The value with other ids.
  func map(_ transform: (ManagedObjectID) -> ManagedObjectID) -> PropertyValue {
    switch self {
    case .toOne(let id): .toOne(transform(id))
    case .toMany(let ids): .toMany(ids.map(transform))
    default: self
    }
  }
}

// MARK: ListEdit

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
