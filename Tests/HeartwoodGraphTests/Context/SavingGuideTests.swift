import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

/// The code of the article "Saving and conflicts": it says what is here, word for word.
@Suite struct SavingGuideTests {
  final class Doctor: ManagedObject {
    static let isOnCallKey = AttributeKey<Bool>("isOnCall")

    var isOnCall: Bool {
      get { self[Self.isOnCallKey] }
      set { self[Self.isOnCallKey] = newValue }
    }
  }

  private func coordinator() throws -> PersistentStoreCoordinator {
    let contact = EntityDefinition.entity(
      "Contact",
      unique: [["email"], ["country", "number"]],
      .attribute("email", .string),
      .attribute("country", .string, optional: true),
      .attribute("number", .string, optional: true)
    )
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: try ManagedObjectModel(
        entities: [contact, .entity("Doctor", .attribute("isOnCall", .boolean, default: .boolean(true)))]
      ),
      registry: .default,
      objectClasses: [Doctor.self]
    )
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    return coordinator
  }

  @Test func conflictsAreTold() throws {
    let coordinator = try coordinator()
    let (context, faster) = (ManagedObjectContext(coordinator), ManagedObjectContext(coordinator))
    let doctor = try context.insert(Doctor.self)
    try context.save()
    try #require(try faster.existingObject(with: doctor.objectID) as? Doctor).isOnCall = false
    try faster.save()
    doctor.isOnCall = false
    do {
      try context.save()
    } catch let error as PersistenceError where error.code == .saveConflict {
      for conflict in error.context.mergeConflicts {
        // The values as they were read, as the context would save them, and as the store has them.
        let snapshots = [conflict.cachedSnapshot, conflict.objectSnapshot, conflict.persistedSnapshot]
        print(conflict.objectID, snapshots.map { $0?.values ?? [] })
      }
    }
    #expect(context.hasChanges)
    context.mergePolicy = MergePolicy { conflict in
      conflict.objectID.entity.name == "Draft" ? .takeObject : .mergePreferringStored
    }
    try context.save()
    #expect(!context.hasChanges)
  }

  @Test func whatIsDependedOnIsCompared() throws {
    let coordinator = try coordinator()
    let (context, faster) = (ManagedObjectContext(coordinator), ManagedObjectContext(coordinator))
    let (doctor, other) = (try context.insert(Doctor.self), try context.insert(Doctor.self))
    try context.save()
    try #require(try faster.existingObject(with: other.objectID) as? Doctor).isOnCall = false
    try faster.save()
    let error = persistenceError {
      if other.isOnCall {
        doctor.isOnCall = false
        context.detectConflicts(for: other)
        try context.save()
      }
    }
    #expect(error?.code == .saveConflict)
  }

  @Test func uniqueValuesAreUnique() throws {
    let context = ManagedObjectContext(try coordinator())
    for _ in 0..<2 { try context.insert(entityName: "Contact").setValue("a@example.org", forKey: "email") }
    #expect(persistenceError { try context.save() }?.code == .constraintConflict)
  }
}
