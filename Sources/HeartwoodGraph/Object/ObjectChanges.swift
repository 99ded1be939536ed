import HeartwoodModel

/// What differs between an object and the record that it was read from.
final class ObjectChanges {
  /// The id of an object that no store has yet.
  let temporaryID: ManagedObjectID?
  /// The new values, indexed by property ordinal; nil for what is as it was. A new object has all its values here.
  private(set) var values: [PropertyValue?]

  init(temporaryID: ManagedObjectID?, values: [PropertyValue?]) {
    self.temporaryID = temporaryID
    self.values = values
  }

  func setValue(_ value: PropertyValue?, at ordinal: Int) {
    values[ordinal] = value
  }

  /// The ordinals of the properties that have a new value.
  var ordinals: [Int] { values.indices.filter { values[$0] != nil } }
}
