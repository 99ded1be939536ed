import HeartwoodFoundation
package import HeartwoodModel
import HeartwoodStore
import Logging

// MARK: Reading by ordinal

extension ManagedObject {
  package final func value(at ordinal: Int) -> PropertyValue {
    if case .fault = content { fireFault() }
    if case .changed(let changes) = content, let value = changes.value(at: ordinal) { return value }
    return committedValue(at: ordinal)
  }

  /// Returns the value that the object was read with.
  final func committedValue(at ordinal: Int) -> PropertyValue {
    let trait = binding.traits[ordinal]
    guard let group, !trait.isTransient else { return valueWithoutRecord(ordinal, trait) }
    return group.value(row: rowID.row, ordinal: ordinal, type: trait.attributeType, scopes: binding.scopes)
  }

  /// Returns a value of an object that has read no record. If reading has failed before, it is tried again.
  @inline(never)
  private final func valueWithoutRecord(_ ordinal: Int, _ trait: PropertyTrait) -> PropertyValue {
    guard state.contains(.unread), !trait.isTransient, readAgain() == nil, let group else { return trait.emptyValue }
    return group.value(row: rowID.row, ordinal: ordinal, type: trait.attributeType, scopes: binding.scopes)
  }
}

// MARK: Changing by ordinal

extension ManagedObject {
  /// Notes a new value of an attribute or a to-one relationship. A value that equals the stored one is no change, and
  /// changes of objects that are gone are dropped.
  package final func change(_ ordinal: Int, to value: PropertyValue) {
    guard isChangeable(ordinal) else { return }
    if case .fault = content {
      prepareUnreadForChange()
      if isLost(ordinal) { return }
    }
    let isCommitted = isCommitted(value, ordinal)
    if isCommitted, case .read = content { return }
    recordChange(ordinal)
    let changes = beginChange()
    changes.setValue(isCommitted ? nil : value, at: ordinal)
    let isAwaking = state.contains(.awaking)
    if isAwaking { changes.settle(ordinal) }
    // A new value that is to be saved implies that there are changes.
    if isCommitted || isAwaking { endChange(changes) } else { noteChange() }
  }

  /// Resets an attribute to the value that the object was read with.
  final func forgetChange(_ ordinal: Int) {
    guard isChangeable(ordinal), case .changed(let changes) = content, changes.value(at: ordinal) != nil else { return }
    recordChange(ordinal)
    changes.setValue(nil, at: ordinal)
    endChange(changes)
  }

  /// Notes a new value of any property.
  final func set(_ value: PropertyValue, at ordinal: Int) {
    if binding.traits[ordinal].isToMany {
      changeLinks(ordinal) { $0 = ObjectIDList(value.objectIDs) }
    } else {
      change(ordinal, to: value)
    }
  }

  /// Notes a new value that is not recorded for undo, since it follows from others.
  final func changeUnrecorded(_ ordinal: Int, to value: PropertyValue) {
    let changes = beginChange()
    changes.setValue(isCommitted(value, ordinal) ? nil : value, at: ordinal)
    endChange(changes)
  }

  /// Returns whether the object was read with `value`.
  @inline(__always)
  private final func isCommitted(_ value: PropertyValue, _ ordinal: Int) -> Bool {
    guard let views = committedViews else { return false }
    let type = withBinding { $0.traits[ordinal].isTransient ? nil : $0.traits[ordinal].attributeType }
    // The object retains the group for as long as its views are used, and the row is one of the group's.
    if let type {
      return views[ordinal].unsafeAttributeValue(rowID.row, type) == value
        && !(value.isEmptyData && committedUnreadable(at: ordinal) != nil)
    }
    return committedValue(at: ordinal) == value
  }

  /// Changes the destinations of a to-many relationship in place. If they then equal the stored ones, there is no
  /// change.
  final func changeLinks(_ ordinal: Int, _ body: (inout ObjectIDList) -> Void) {
    guard mayChange(ordinal) else { return }
    recordChange(ordinal)
    let changes = beginChange()
    var list = changes.takeLinks(at: ordinal) ?? ObjectIDList(committedValue(at: ordinal).objectIDs)
    body(&list)
    changes.setLinks(isCommitted(&list, ordinal) ? nil : list, at: ordinal)
    if state.contains(.awaking) { changes.settle(ordinal) }
    endChange(changes)
  }

  /// Returns whether a property can be changed, after reading the object's values if necessary. Changes of an object
  /// that is gone are dropped.
  final func mayChange(_ ordinal: Int) -> Bool {
    guard isChangeable(ordinal) else { return false }
    guard case .fault = content else { return true }
    prepareUnreadForChange()
    return !isLost(ordinal)
  }

  @inline(__always)
  private final func isChangeable(_ ordinal: Int) -> Bool {
    // A fault is read even without a context, and setting values while it awakes does not count as a change.
    if state.contains(.awaking) { return true }
    let isOpen = withBinding { !$0.isOrphaned && !$0.notes.isValidating }
    if isOpen, state.isDisjoint(with: [.detached, .deleted, .inaccessible, .unread]) { return true }
    return isChangeableAllTheSame(ordinal)
  }

  /// Returns whether an object in an unusual state can be changed. If it is gone, the dropped change is logged.
  @inline(never)
  private final func isChangeableAllTheSame(_ ordinal: Int) -> Bool {
    if isPresent, let context = managedObjectContext {
      ProgrammerError.check(
        !context.notes.isValidating,
        "An object cannot be changed while objects are validated. Change it in willSave()."
      )
      // It may be changed, although its values cannot be read for the time being.
      if state.contains(.unread) {
        prepareUnreadForChange()
        return !isLost(ordinal)
      }
    }
    logDroppedChange(ordinal)
    return false
  }

  /// Returns whether the record turned out to be gone when the object was read. Then its change is dropped.
  @inline(never)
  private final func isLost(_ ordinal: Int) -> Bool {
    guard state.contains(.inaccessible) else { return false }
    logDroppedChange(ordinal)
    return true
  }

  /// Makes the context record the value of a property before it changes.
  @inline(__always)
  private final func recordChange(_ ordinal: Int) {
    if state.contains(.awaking) { return }
    if withBinding(\.notes.isRecorded) { managedObjectContext?.recorder?.willChange(self, ordinal) }
  }

  /// Returns the changes of the object, and creates them if there are none yet.
  private final func beginChange() -> ObjectChanges {
    if case .changed(let changes) = content { return changes }
    let changes = makeChanges(group: group)
    content = .changed(changes)
    return changes
  }

  final func makeChanges(group: RowGroup?) -> ObjectChanges {
    ObjectChanges(group: group, values: Array(repeating: nil, count: binding.traits.count))
  }

  /// Notes in the context whether the object has changes.
  final func endChange(_ changes: ObjectChanges) {
    if changes.isOutdated, !hasPersistentChangedValues { changes.forgetOutdated() }
    if let group = changes.group, changes.isEmpty { content = .read(group) }
    // Awaking is no change of the object, and is not reported.
    if state.contains(.awaking), isInserted || changes.hasUnsettled == isUpdated { return }
    noteChange(changes)
  }

  /// - Parameter changes: determine whether there is something to save; nil if that is known.
  @inline(__always)
  private final func noteChange(_ changes: ObjectChanges? = nil) {
    if state.contains(.inserted) {
      withBinding { $0.noteChange(self) }
    } else if state.isDisjoint(with: [.deleted, .detached]) {
      let hasChanges = changes?.hasUnsettled ?? true
      if hasChanges == state.contains(.updated) {
        withBinding { $0.noteChange(self) }
      } else {
        managedObjectContext?.note(self, hasChanges: hasChanges)
      }
    }
  }

  /// Removes a change if the value equals the stored one.
  final func reconsider(_ ordinal: Int, _ changes: ObjectChanges) {
    guard group != nil, let value = changes.value(at: ordinal) else { return }
    if binding.traits[ordinal].isToMany {
      var list = ObjectIDList(value.objectIDs)
      if isCommitted(&list, ordinal) { changes.setLinks(nil, at: ordinal) }
    } else if committedValue(at: ordinal) == value, !value.isEmptyData || committedUnreadable(at: ordinal) == nil {
      changes.setValue(nil, at: ordinal)
    }
  }

  private final func isCommitted(_ list: inout ObjectIDList, _ ordinal: Int) -> Bool {
    guard let group, !binding.traits[ordinal].isTransient else { return list.count == 0 }
    // Most differences are found by the count, which is O(1); so filling a relationship object by object is O(objects).
    guard group.columns[ordinal].range(rowID.row).count == list.count else { return false }
    return list.isCommitted(committedValue(at: ordinal).objectIDs, isOrdered: binding.traits[ordinal].isOrdered)
  }
}

// MARK: Unreadable

// If a stored value cannot be read, such as large data in a missing file, this affects only that value: the object has
// all its others. The column contains empty data as a placeholder, which is never returned.

extension ManagedObject {
  /// Returns the reason why a property cannot be read; nil if it can, or if it has been set since.
  final func unreadable(at ordinal: Int) -> PersistenceError? {
    if case .fault = content { fireFault() }
    if case .changed(let changes) = content, changes.value(at: ordinal) != nil { return nil }
    return committedUnreadable(at: ordinal)
  }

  /// Returns the reason why the stored value of a property cannot be read; nil if it can.
  final func committedUnreadable(at ordinal: Int) -> PersistenceError? {
    guard let group, !binding.traits[ordinal].isTransient,
      var error = group.unreadable(row: rowID.row, ordinal: ordinal)
    else { return nil }
    error.context.objectIDs = [objectID]
    return error
  }

  /// - Throws: the reason why a value cannot be read.
  final func checkReadable(_ ordinals: some Sequence<Int>) throws(PersistenceError) {
    for ordinal in ordinals {
      if let error = unreadable(at: ordinal) { throw error }
    }
  }

  /// Returns a value, or no value if it cannot be read, which is noted.
  ///
  /// - Parameter value: the value at `ordinal` as read from the column or the changes.
  final func readable(_ value: PropertyValue, at ordinal: Int) -> PropertyValue {
    guard value.isEmptyData, let error = unreadable(at: ordinal) else { return value }
    noteUnreadable(error)
    return .null
  }

  /// Notes what a getter, which cannot throw, could not read.
  final func noteUnreadable(_ error: PersistenceError) {
    managedObjectContext?.noteReadFailure(error)
  }

  /// Resets a property to its value before a change. If that value could not be read, it is the stored one again.
  final func changeBack(_ ordinal: Int, to value: PropertyValue) {
    guard value.isEmptyData, committedUnreadable(at: ordinal) != nil else { return change(ordinal, to: value) }
    forgetChange(ordinal)
  }
}

extension PropertyValue {
  /// Whether it is the placeholder of a value that could not be read.
  var isEmptyData: Bool {
    if case .binary(let data) = self { data.isEmpty } else { false }
  }
}
