import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

@Suite struct UpsertTests {
  private let coordinator: PersistentStoreCoordinator

  init() throws {
    let model = try ManagedObjectModel(entities: [
      .entity(
        "Contact",
        unique: [["email"]],
        .attribute("email", .string, optional: true),
        .attribute("name", .string, optional: true),
        .attribute("age", .integer32, optional: true),
        .toMany("notes", "Remark", inverse: "contact")
      ),
      .entity("Remark", .attribute("text", .string, optional: true), .toOne("contact", "Contact", inverse: "notes")),
    ])
    coordinator = try PersistentStoreCoordinator(managedObjectModel: model, registry: .default)
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = ManagedObjectContext(coordinator)
    let contact = try insert(context, "a@b", "Ann")
    try contact.setPropertyValue(.integer(30), forKey: "age")
    _ = try remark("first", of: contact, context)
    try context.save()
  }

  @discardableResult
  private func insert(_ context: ManagedObjectContext, _ email: String, _ name: String) throws -> ManagedObject {
    let contact = try context.insert(entityName: "Contact")
    try contact.setPropertyValue(.string(email), forKey: "email")
    try contact.setPropertyValue(.string(name), forKey: "name")
    return contact
  }

  private func remark(
    _ text: String,
    of contact: ManagedObject,
    _ context: ManagedObjectContext
  ) throws -> ManagedObject {
    let remark = try context.insert(entityName: "Remark")
    try remark.setPropertyValue(.string(text), forKey: "text")
    try remark.setPropertyValue(.toOne(contact.objectID), forKey: "contact")
    return remark
  }

  /// Values can be read without the context.
  private func stored() throws -> [ManagedObject] {
    try ManagedObjectContext(coordinator).fetch(entityName: "Contact")
  }

  @Test func withoutAPolicyBothIDsAreTold() throws {
    let context = ManagedObjectContext(coordinator)
    let contact = try insert(context, "a@b", "Bob")
    let error = try #require(persistenceError { try context.save() })
    #expect(error.code == .constraintConflict)
    let conflict = try #require(error.context.constraintConflicts.first)
    #expect(conflict.objectID == contact.objectID)
    #expect(conflict.conflictingID == (try stored()[0].objectID))
    #expect(!error.message.contains("a@b"))
    #expect(contact.isInserted)
  }

  @Test func objectTrumpUpdatesTheRecordThatIsThere() throws {
    let context = ManagedObjectContext(coordinator)
    context.mergePolicy = .mergeByPropertyObjectTrump
    let before = try stored()[0].objectID
    let contact = try insert(context, "a@b", "Bob")
    let second = try remark("second", of: contact, context)
    try insert(context, "c@d", "Cid")
    try context.save()
    #expect(contact.isDeleted && !context.hasChanges)
    let all = try stored()
    #expect(all.count == 2)
    let updated = try #require(all.first { $0.objectID == before })
    #expect(try updated.propertyValue(forKey: "name") == .string("Bob"))
    #expect(try updated.propertyValue(forKey: "age") == .integer(30))
    #expect(try updated.propertyValue(forKey: "notes").objectIDs.count == 2)
    #expect(try second.propertyValue(forKey: "contact") == .toOne(before))
  }

  @Test func storeTrumpDropsTheNewObject() throws {
    let context = ManagedObjectContext(coordinator)
    context.mergePolicy = .mergeByPropertyStoreTrump
    let contact = try insert(context, "a@b", "Bob")
    let second = try remark("second", of: contact, context)
    try context.save()
    #expect(contact.isDeleted)
    #expect(try stored().map { try $0.propertyValue(forKey: "name") } == [.string("Ann")])
    #expect(try second.propertyValue(forKey: "contact") == .null)
  }

  @Test func newObjectsThatCollideBecomeOne() throws {
    let context = ManagedObjectContext(coordinator)
    context.mergePolicy = .mergeByPropertyObjectTrump
    try insert(context, "x", "1")
    try insert(context, "x", "2")
    try insert(context, "x", "3")
    try context.save()
    let names = try stored().map { try $0.propertyValue(forKey: "name") }
    #expect(names == [.string("Ann"), .string("3")])
  }

  @Test func aChangedObjectThatCollidesLosesThatChange() throws {
    let context = ManagedObjectContext(coordinator)
    let other = try insert(context, "c@d", "Cid")
    try context.save()
    try other.setPropertyValue(.string("a@b"), forKey: "email")
    try other.setPropertyValue(.string("Eve"), forKey: "name")
    context.mergePolicy = .mergeByPropertyObjectTrump
    #expect(persistenceError { try context.save() }?.code == .constraintConflict)
    context.mergePolicy = .mergeByPropertyStoreTrump
    try context.save()
    #expect(try other.propertyValue(forKey: "email") == .string("c@d"))
    #expect(try other.propertyValue(forKey: "name") == .string("Eve"))
  }

  @Test func allConflictsOfManyObjectsAreTold() throws {
    let context = ManagedObjectContext(coordinator)
    let contacts = try (0..<2_000).map { try insert(context, "\($0 / 2)", "Ann") }
    let error = try #require(persistenceError { try context.save() })
    // Each second object collides with the one before.
    let pairs = Set(error.context.constraintConflicts.map { [$0.conflictingID, $0.objectID] })
    #expect(pairs == Set((0..<1_000).map { [contacts[2 * $0].objectID, contacts[2 * $0 + 1].objectID] }))
    #expect(error.context.objectIDs.count == 2_000)
  }

  // MARK: Several constraints

  /// A context with a new object that collides with a third one and, by another constraint, with one that collides with a record.
  private func chain(_ policy: MergePolicy) throws -> ManagedObjectContext {
    let text = { (name: String) in PropertyDescription.attribute(name, .string, optional: true) }
    let account = EntityDefinition.entity(
      "Account",
      unique: [["username"], ["email"]],
      text("username"),
      text("email")
    )
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: ManagedObjectModel(entities: [account]),
      registry: .default
    )
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = ManagedObjectContext(coordinator)
    context.mergePolicy = policy
    try insert(context, username: "c", email: nil)
    try context.save()
    try insert(context, username: "c", email: "x")
    try insert(context, username: "a", email: "x")
    return context
  }

  private func insert(_ context: ManagedObjectContext, username: String, email: String?) throws {
    let account = try context.insert(entityName: "Account")
    try account.setPropertyValue(.string(username), forKey: "username")
    try account.setPropertyValue(email.map { .string($0) } ?? .null, forKey: "email")
  }

  /// What each record has.
  private func accounts(_ context: ManagedObjectContext) throws -> Set<[String]> {
    let accounts = try ManagedObjectContext(context.persistentStoreCoordinator).fetch(entityName: "Account")
    return Set(
      try accounts.map { account in
        try ["username", "email"].map { try account.value(forKey: $0) as? String ?? "none" }
      }
    )
  }

  @Test func noObjectIsDroppedForOneThatIsDroppedItself() throws {
    let context = try chain(.mergeByPropertyStoreTrump)
    try context.save()
    #expect(try accounts(context) == [["c", "none"], ["a", "x"]])
  }

  @Test func objectTrumpLosesNoValuesToAnObjectThatIsDropped() throws {
    let context = try chain(.mergeByPropertyObjectTrump)
    try context.save()
    // The record takes the email of the first one, by which the second one collides with it then.
    #expect(try accounts(context) == [["a", "x"]])
  }
}

/// Upserts of objects that others lead to, or that collide with several.
@Suite struct UpsertedLinkTests {
  private let coordinator: PersistentStoreCoordinator

  init() throws {
    let model = try ManagedObjectModel(entities: [
      .entity(
        "Contact",
        unique: [["email"], ["phone"]],
        .attribute("email", .string, optional: true),
        .attribute("phone", .string, optional: true),
        .toOne("boss", "Contact", inverse: nil)
      ),
      .entity(
        "Order",
        .toOne("contact", "Contact", inverse: nil, optional: false),
        .toMany("copies", "Contact", inverse: nil, ordered: true)
      ),
    ])
    coordinator = try PersistentStoreCoordinator(managedObjectModel: model, registry: .default)
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
  }

  private func contact(
    _ context: ManagedObjectContext,
    email: String? = nil,
    phone: String? = nil
  ) throws -> ManagedObject {
    let contact = try context.insert(entityName: "Contact")
    if let email { try contact.setPropertyValue(.string(email), forKey: "email") }
    if let phone { try contact.setPropertyValue(.string(phone), forKey: "phone") }
    return contact
  }

  @Test func whatLedToANewObjectLeadsToTheRecord() throws {
    let former = ManagedObjectContext(coordinator)
    let stored = try ["a@b", "c@d"].map { try contact(former, email: $0) }
    try former.save()
    let context = ManagedObjectContext(coordinator)
    let new = try ["a@b", "c@d"].map { try contact(context, email: $0) }
    try new[1].setPropertyValue(.toOne(new[0].objectID), forKey: "boss")
    let order = try context.insert(entityName: "Order")
    try order.setPropertyValue(.toOne(new[0].objectID), forKey: "contact")
    try order.setPropertyValue(.toMany([new[1].objectID, new[0].objectID]), forKey: "copies")
    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.save()
    let check = ManagedObjectContext(coordinator)
    #expect(try check.count(entityName: "Contact") == 2)
    let checked = try check.existingObject(with: order.objectID)
    #expect(try checked.propertyValue(forKey: "contact") == .toOne(stored[0].objectID))
    #expect(try checked.propertyValue(forKey: "copies") == .toMany([stored[1].objectID, stored[0].objectID]))
    let updated = try check.existingObject(with: stored[1].objectID)
    #expect(try updated.propertyValue(forKey: "boss") == .toOne(stored[0].objectID))
  }

  /// Nothing has changed in the context where the save fails.
  @Test func aNewObjectDoesNotUpdateTwo() throws {
    let former = ManagedObjectContext(coordinator)
    let stored = [try contact(former, email: "a@b"), try contact(former, phone: "1")]
    try former.save()
    let context = ManagedObjectContext(coordinator)
    let new = try contact(context, email: "a@b", phone: "1")
    context.mergePolicy = .mergeByPropertyObjectTrump
    #expect(persistenceError { try context.save() }?.code == .constraintConflict)
    #expect(context.insertedObjects == [new])
    #expect(context.updatedObjects.isEmpty)
    try new.setPropertyValue(.null, forKey: "phone")
    try context.save()
    #expect(try ManagedObjectContext(coordinator).count(entityName: "Contact") == stored.count)
  }
}
