import HeartwoodModel

/// How an object was before the current event.
struct ObjectImage {
  let object: ManagedObject
  /// Whether the context had the object.
  let wasPresent: Bool
  /// Whether the event has made the object: then its properties were nothing before.
  let isNew: Bool
  /// The properties that the event has touched, by ordinal.
  var properties: [Int: PropertyImage] = [:]
}

/// How a property was before the current event.
struct PropertyImage {
  let value: PropertyValue
  /// Whether the value needed no saving.
  let isSettled: Bool
}
