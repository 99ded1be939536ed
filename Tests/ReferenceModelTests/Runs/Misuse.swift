import HeartwoodStore

/// What must not be done to an object, and is refused without a change.
enum Misuse: CaseIterable {
  case unknownProperty
  case wrongType
  /// A relationship to an object of an entity that it does not lead to.
  case wrongEntity
  /// A relationship to an object of another context.
  case foreignObject
  /// A relationship to a deleted object.
  case deletedObject
}

extension Misuse {
  var expectedCode: PersistenceError.Code {
    switch self {
    case .unknownProperty: .propertyUnknown
    case .wrongType, .wrongEntity: .valueTypeMismatch
    case .foreignObject, .deletedObject: .objectNotFound
    }
  }
}

extension Misuse {
  /// Whether it takes a relationship and another object.
  var isOfRelationship: Bool { self != .unknownProperty && self != .wrongType }
}
