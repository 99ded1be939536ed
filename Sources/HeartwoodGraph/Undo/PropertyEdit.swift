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
