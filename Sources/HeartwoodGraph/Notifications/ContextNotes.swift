/// What objects ask their context, and note, each time that they change.
///
/// It is apart from the context so that a change need not hold the context, which may go on another thread meanwhile.
///
/// That no one else has access while it is used is checked by eye, since no code of others runs then.
final class ContextNotes {
  /// Grows with each change of an object.
  @exclusivity(unchecked) var changeNumber: UInt64 = 0
  /// The objects that were changed since they were told that they will be saved; nil while no save begins.
  @exclusivity(unchecked) var disturbed: ObjectList?
  /// Whether objects are asked whether they are fit to be saved.
  @exclusivity(unchecked) var isValidating = false
  /// Whether values that change are recorded, to be undone.
  @exclusivity(unchecked) var isRecorded = false
  /// Whether there may be listeners to changes of objects.
  @exclusivity(unchecked) var notesChangeEvents = false

  /// Notes that an object is not what it was.
  @inline(__always)
  func note(_ object: ManagedObject) {
    changeNumber &+= 1
    disturbed?.append(object)
  }
}

extension ManagedObjectContext {
  var changeNumber: UInt64 {
    get { notes.changeNumber }
    set { notes.changeNumber = newValue }
  }

  var disturbed: ObjectList? {
    get { notes.disturbed }
    _modify { yield &notes.disturbed }
  }

  var isValidating: Bool { notes.isValidating }

  var notesChangeEvents: Bool {
    get { notes.notesChangeEvents }
    set { notes.notesChangeEvents = newValue }
  }
}

extension EntityBinding {
  /// Notes that an object is not what it was, which has changes already or is new.
  @inline(__always)
  func noteChange(_ object: ManagedObject) {
    if notes.notesChangeEvents { context?.noteChange(object) } else { notes.note(object) }
  }
}
