import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

/// How objects are had, refreshed and watched, and what a closed coordinator says.
@Suite struct ObjectAccessTests {
  @Test(arguments: TestStoreKind.allCases)
  func objectWithAnID(_ kind: TestStoreKind) throws {
    let stack = try TestStack(kind)
    let context = stack.context()
    let ann = try context.person("Ann")
    #expect(context.object(with: ann.objectID) === ann)
    try context.save()
    let other = stack.context()
    let same = try #require(other.object(with: ann.objectID) as? Person)
    #expect(same.isFault)
    #expect(same.name == "Ann")
    #expect(other.object(with: ann.objectID) === same)
    other.delete(same)
    try other.save()
    let gone = try #require(stack.context().object(with: ann.objectID) as? Person)
    #expect(gone.isDeleted)
    #expect(gone.objectID == ann.objectID)
    #expect(try gone.propertyValue(forKey: "name") == .null)
    #expect(gone.spouse == nil)
  }

  @Test func objectOfAnotherContextsTemporaryID() throws {
    let stack = try TestStack()
    let first = stack.context()
    let id = try first.person("Ann").objectID
    #expect(stack.context().object(with: id).isDeleted)
    #expect(!first.object(with: id).isDeleted)
  }

  @Test(arguments: TestStoreKind.allCases)
  func allObjectsAreRefreshed(_ kind: TestStoreKind) throws {
    let stack = try TestStack(kind)
    let context = stack.context()
    let people = try ["Ann", "Bob", "Cid"].map { try context.person($0) }
    try context.save()
    let other = stack.context()
    for person in try other.fetch(Person.self) { person.name += " changed" }
    try other.save()
    people[0].mentor = people[2]
    let dan = try context.person("Dan")
    #expect(people.map(\.name) == ["Ann", "Bob", "Cid"])
    context.refreshAllObjects()
    #expect(people.map(\.name) == ["Ann changed", "Bob changed", "Cid changed"])
    #expect(people[0].mentor === people[2])
    #expect(dan.isInserted)
    try context.save()
    #expect(try stack.context().count(entityName: "Person") == 4)
  }

  @Test func watchedObjectsAreCompared() throws {
    let stack = try TestStack()
    let context = stack.context()
    let ann = try context.person("Ann")
    let bob = try context.person("Bob")
    try context.save()
    let other = stack.context()
    try #require(try other.existingObject(with: ann.objectID) as? Person).name = "Anna"
    try other.save()
    bob.name = "Bobby"
    context.detectConflicts(for: ann)
    let error = persistenceError { try context.save() }
    #expect(error?.code == .saveConflict)
    #expect(error?.context.objectIDs == [ann.objectID])
    context.refresh(ann, mergeChanges: false)
    #expect(ann.name == "Anna")
    try context.save()
    // It was for one save.
    try #require(try other.existingObject(with: ann.objectID) as? Person).name = "Annabel"
    try other.save()
    bob.name = "Bob"
    try context.save()
  }

  @Test func contextsOfAClosedCoordinatorSaySo() async throws {
    let stack = try TestStack()
    let context = stack.context()
    let ann = try context.person("Ann")
    try context.save()
    let background = BackgroundContext(stack.coordinator)
    stack.coordinator.close()
    stack.coordinator.close()
    #expect(stack.coordinator.isClosed)
    #expect(ann.name == "Ann")
    ann.name = "Anna"
    #expect(persistenceError { try context.save() }?.code == .coordinatorClosed)
    #expect(persistenceError { _ = try context.fetch(Person.self) }?.code == .coordinatorClosed)
    #expect(persistenceError { _ = try context.count(entityName: "Person") }?.code == .coordinatorClosed)
    #expect(persistenceError { _ = try context.insert(Person.self) }?.code == .coordinatorClosed)
    #expect(persistenceError { _ = try context.existingObject(with: ann.objectID) }?.code == .coordinatorClosed)
    let code = await background.perform { context in
      persistenceError { _ = try context.fetch(Person.self) }?.code
    }
    #expect(code == .coordinatorClosed)
    let error = persistenceError { try stack.coordinator.addPersistentStore(type: .inMemory, at: nil) }
    #expect(error?.code == .coordinatorClosed)
  }

  @Test func userInfoIsKept() throws {
    let context = try TestStack().context()
    context.userInfo["key"] = 7
    context.reset()
    #expect(context.userInfo["key"] as? Int == 7)
  }
}
