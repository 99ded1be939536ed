/// What a managed object is at the moment, beside its values.
struct ObjectState: OptionSet {
  let rawValue: UInt16

  static let inserted = ObjectState(rawValue: 1)
  static let updated = ObjectState(rawValue: 2)
  static let deleted = ObjectState(rawValue: 4)
  /// The context has let the object go: its deletion was saved, its insertion was undone, or the context was reset.
  static let detached = ObjectState(rawValue: 8)
  /// The record was gone when the object wanted to read it.
  static let inaccessible = ObjectState(rawValue: 16)
  /// What is set now is not a change: the object is in ``ManagedObject/awakeFromFetch()``.
  static let awaking = ObjectState(rawValue: 32)
  /// The binding finds the object by its row.
  static let registered = ObjectState(rawValue: 64)
  /// An undo has taken the object's insertion back.
  static let uninserted = ObjectState(rawValue: 128)
  /// The binding holds the object, and the object does not hold the binding.
  static let held = ObjectState(rawValue: 512)
  /// The deletion of the object is under way: it is in ``ManagedObject/prepareForDeletion()``.
  static let deleting = ObjectState(rawValue: 256)
  /// The record could not be read yet: nobody knows whether it is there.
  static let unread = ObjectState(rawValue: 1024)
}
