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

  /// The value that the object was read with.
  final func committedValue(at ordinal: Int) -> PropertyValue {
    let trait = binding.traits[ordinal]
    guard let group, !trait.isTransient else { return valueWithoutRecord(ordinal, trait) }
    return group.value(row: rowID.row, ordinal: ordinal, type: trait.attributeType, scopes: binding.scopes)
  }

  /// The value of an object that has read no record. One that could not is tried again.
  @inline(never)
  private final func valueWithoutRecord(_ ordinal: Int, _ trait: PropertyTrait) -> PropertyValue {
    guard state.contains(.unread), !trait.isTransient, readAgain() == nil, let group else { return trait.emptyValue }
    return group.value(row: rowID.row, ordinal: ordinal, type: trait.attributeType, scopes: binding.scopes)
  }
}

// MARK: Changing by ordinal

extension ManagedObject {
  /// Notes a new value of an attribute or a to-one relationship. One that is as the store has it is no change, and a change of an object
  /// that is gone is dropped.
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
    // A new value that is to be saved leaves no doubt that there are changes.
    if isCommitted || isAwaking { endChange(changes) } else { noteChange() }
  }

  /// Lets an attribute have the value that the object was read with, whatever that is.
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

  /// Notes a new value that cannot be undone, as it follows from others.
  final func changeUnrecorded(_ ordinal: Int, to value: PropertyValue) {
    let changes = beginChange()
    changes.setValue(isCommitted(value, ordinal) ? nil : value, at: ordinal)
    endChange(changes)
  }

  /// Whether the object was read with `value`.
  @inline(__always)
  private final func isCommitted(_ value: PropertyValue, _ ordinal: Int) -> Bool {
    guard let views = committedViews else { return false }
    let type = withBinding { $0.traits[ordinal].isTransient ? nil : $0.traits[ordinal].attributeType }
    // The object holds the group for as long as its views are used, and the row is one of the group's.
    if let type {
      return views[ordinal].unsafeAttributeValue(rowID.row, type) == value
        && !(value.isEmptyData && committedUnreadable(at: ordinal) != nil)
    }
    return committedValue(at: ordinal) == value
  }

  /// Changes the objects of a to-many relationship in place. Where they are as the store has them, there is no change.
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

  /// Whether a property can be changed, once the object has read its values. A change of an object that is gone is dropped.
  final func mayChange(_ ordinal: Int) -> Bool {
    guard isChangeable(ordinal) else { return false }
    guard case .fault = content else { return true }
    prepareUnreadForChange()
    return !isLost(ordinal)
  }

  @inline(__always)
  private final func isChangeable(_ ordinal: Int) -> Bool {
    // A fault fires without a context too, and what awakes it notes no change there.
    if state.contains(.awaking) { return true }
    let isOpen = withBinding { !$0.isOrphaned && !$0.notes.isValidating }
    if isOpen, state.isDisjoint(with: [.detached, .deleted, .inaccessible, .unread]) { return true }
    return isChangeableAllTheSame(ordinal)
  }

  /// Whether an object can be changed that is not simply there. If it is gone, this notes that a change is dropped.
  @inline(never)
  private final func isChangeableAllTheSame(_ ordinal: Int) -> Bool {
    if isPresent, let context = managedObjectContext {
      ProgrammerError.check(
        !context.notes.isValidating,
        "An object cannot be changed while objects are validated. Change it in willSave()."
      )
      // It may be changed, though its values cannot be read for the time being.
      if state.contains(.unread) {
        prepareUnreadForChange()
        return !isLost(ordinal)
      }
    }
    logDroppedChange(ordinal)
    return false
  }

  /// Whether the object turned out to be gone when it wanted to read its values. A change of it is dropped then.
  @inline(never)
  private final func isLost(_ ordinal: Int) -> Bool {
    guard state.contains(.inaccessible) else { return false }
    logDroppedChange(ordinal)
    return true
  }

  /// Lets the context note the value that a property has before it changes, and that it does.
  @inline(__always)
  private final func recordChange(_ ordinal: Int) {
    if state.contains(.awaking) { return }
    if withBinding(\.notes.isRecorded) { managedObjectContext?.recorder?.willChange(self, ordinal) }
  }

  /// The changes of the object, which it has from now on.
  private final func beginChange() -> ObjectChanges {
    if case .changed(let changes) = content { return changes }
    let changes = makeChanges(group: group)
    content = .changed(changes)
    return changes
  }

  final func makeChanges(group: RowGroup?) -> ObjectChanges {
    ObjectChanges(group: group, values: Array(repeating: nil, count: binding.traits.count))
  }

  /// Lets the context know whether the object has changes.
  final func endChange(_ changes: ObjectChanges) {
    if changes.isOutdated, !hasPersistentChangedValues { changes.forgetOutdated() }
    if let group = changes.group, changes.isEmpty { content = .read(group) }
    // That an object awakes is no change of it, and nobody is told.
    if state.contains(.awaking), isInserted || changes.hasUnsettled == isUpdated { return }
    noteChange(changes)
  }

  /// - Parameter changes: what tells whether there is something to save; nil where that is known.
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

  /// Forgets a change that is as the store has it.
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
    // Most changes are told by the count, which is O(1); so filling a relationship object by object is O(objects).
    guard group.columns[ordinal].range(rowID.row).count == list.count else { return false }
    return list.isCommitted(committedValue(at: ordinal).objectIDs, isOrdered: binding.traits[ordinal].isOrdered)
  }
}

// MARK: Unreadable

// A value that a store has and cannot read, such as large data in a file that is missing, costs that value alone: the object is there with all
// its others. In its column stands empty data, which is never given for it.

extension ManagedObject {
  /// Why the value that the object has for a property cannot be read; nil if it can, or if it has been set since.
  final func unreadable(at ordinal: Int) -> PersistenceError? {
    if case .fault = content { fireFault() }
    if case .changed(let changes) = content, changes.value(at: ordinal) != nil { return nil }
    return committedUnreadable(at: ordinal)
  }

  /// Why the value that the object was read with cannot be read; nil if it can.
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

  /// A value, or none if it is one that cannot be read, which is noted then.
  ///
  /// - Parameter value: what is known of the value at `ordinal`.
  final func readable(_ value: PropertyValue, at ordinal: Int) -> PropertyValue {
    guard value.isEmptyData, let error = unreadable(at: ordinal) else { return value }
    noteUnreadable(error)
    return .null
  }

  /// Says what a getter could not read that cannot throw.
  final func noteUnreadable(_ error: PersistenceError) {
    managedObjectContext?.noteReadFailure(error)
  }

  /// Lets a property have the value that it had before a change. Where that could not be read, it is the stored one again.
  final func changeBack(_ ordinal: Int, to value: PropertyValue) {
    guard value.isEmptyData, committedUnreadable(at: ordinal) != nil else { return change(ordinal, to: value) }
    forgetChange(ordinal)
  }
}

extension PropertyValue {
  /// Whether it is what stands where a value could not be read.
  var isEmptyData: Bool {
    if case .binary(let data) = self { data.isEmpty } else { false }
  }
}
