import HeartwoodModel

/// The objects of a context with their changes, to be evaluated one by one.
struct ContextSource: PredicateSource {
  let context: ManagedObjectContext

  func value(_ ordinal: Int, of subject: ManagedObject) -> PropertyValue { subject.value(at: ordinal) }

  func objectID(of subject: ManagedObject) -> ManagedObjectID? { subject.objectID }

  func subject(_ id: ManagedObjectID) -> ManagedObject? {
    context.objectIfPresent(id).flatMap { $0.isDeleted ? nil : $0 }
  }
}
