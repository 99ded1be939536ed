import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

@Suite struct BackgroundContextTests {
  @Test(arguments: TestStoreKind.allCases)
  func performGivesValues(_ kind: TestStoreKind) async throws {
    let stack = try TestStack(kind)
    let background = BackgroundContext(stack.coordinator)
    let id = try await background.perform { context in
      let ann = try context.person("Ann")
      try context.save()
      return ann.objectID
    }
    let name = try await background.perform { context in
      (try context.existingObject(with: id) as? Person)?.name
    }
    #expect(name == "Ann")
    await #expect(throws: Refusal()) {
      try await background.perform { (_) throws(Refusal) in throw Refusal() }
    }
  }

  private struct Refusal: Error, Equatable {}

  @MainActor
  @Test(arguments: TestStoreKind.allCases)
  func mainContextOverABackgroundOne(_ kind: TestStoreKind) async throws {
    let stack = try TestStack(kind)
    let saver = BackgroundContext(stack.coordinator)
    let view = ViewContext(parent: saver)
    let ann = try view.context.person("Ann")
    ann.spouse = try view.context.person("Bob")
    try view.context.save()
    #expect(!view.context.hasChanges)
    #expect(!ann.objectID.isTemporaryID)
    #expect(ann.spouse?.name == "Bob")
    #expect(try view.context.fetch(Person.self).count == 2)
    #expect(try stack.context().count(entityName: "Person") == 0)
    ann.name = "Anna"
    #expect(persistenceError { try view.context.saveSynchronously() }?.code == .isolationCrossed)
    #expect(ann.hasChanges)
    try await view.saveToPersistentStore()
    #expect(try stack.context().fetch(Person.self).map(\.name) == ["Anna", "Bob"])
    #expect(await saver.perform { $0.hasChanges } == false)
    #expect(try view.context.existingObject(with: ann.objectID) === ann)
    ann.name = "Annabel"
    try await view.saveToPersistentStore()
    #expect(try stack.context().fetch(Person.self).map(\.name) == ["Annabel", "Bob"])
  }

  @MainActor
  @Test func backgroundChildOfTheViewContext() async throws {
    let stack = try TestStack()
    let view = ViewContext(stack.coordinator)
    let ann = try view.context.person("Ann")
    view.context.publishChanges()
    let id = ann.objectID
    let background = BackgroundContext(parent: view)
    try await background.perform { context in
      #expect(context.parentHost === view)
      #expect(context.parent == nil)
      let ann = try #require(try context.existingObject(with: id) as? Person)
      ann.name = "Anna"
      ann.spouse = try context.person("Bob")
      try context.save()
    }
    #expect(try view.context.count(entityName: "Person") == 2)
    #expect(ann.name == "Anna")
    #expect(ann.spouse?.name == "Bob")
    try await background.saveToPersistentStore()
    #expect(try stack.context().fetch(Person.self).map(\.name) == ["Anna", "Bob"])
  }

  @MainActor
  @Test func aParentTakesInFirstWhatAChildHasJustSaved() throws {
    let stack = try TestStack()
    let view = ViewContext(stack.coordinator)
    let child = ManagedObjectContext(parent: view)
    _ = try child.person("Ann")
    try child.save()
    try view.context.save()
    #expect(try stack.context().fetch(Person.self).map(\.name) == ["Ann"])
    #expect(!view.context.hasChanges)
    let bob = try child.person("Bob")
    try child.save()
    #expect(view.context.hasChanges)
    #expect(view.context.insertedObjects.isEmpty)
    #expect((try view.context.existingObject(with: bob.objectID) as? Person)?.name == "Bob")
    _ = try child.person("Cid")
    try child.save()
    view.context.rollback()
    #expect(!view.context.hasChanges)
    #expect(try view.context.count(entityName: "Person") == 1)
  }

  /// The id of a new person whose object nobody holds.
  private static func savedPerson(_ name: String, _ context: ManagedObjectContext) throws -> ManagedObjectID {
    let person = try context.person(name)
    try context.save()
    return person.objectID
  }

  @MainActor
  @Test func aSaveTellsThatAChildsChangesHaveNoObject() throws {
    let stack = try TestStack()
    let view = ViewContext(stack.coordinator)
    let id = try Self.savedPerson("Ann", view.context)
    let child = ManagedObjectContext(parent: view)
    try #require(try child.existingObject(with: id) as? Person).name = "Child's"
    try child.save()
    let other = stack.context()
    other.delete(try other.existingObject(with: id))
    try other.save()
    let error = persistenceError { try view.context.save() }
    #expect(error?.code == .saveConflict)
    #expect(error?.context.objectIDs == [id])
    try view.context.save()
  }

  @Test func whatTheParentChangedMeanwhileIsNotLost() async throws {
    let stack = try TestStack()
    let parent = BackgroundContext(stack.coordinator)
    let ids = try await parent.perform { context in
      let people = try ["Ann", "Bob"].map { try context.person($0) }
      try context.save()
      return people.map(\.objectID)
    }
    let child = ManagedObjectContext(parent: parent)
    let people = try child.fetch(Person.self)
    people[0].name = "Child's"
    people[1].name = "Child's"
    // The child saves while the parent is at work, so neither can see what the other does.
    let saving = ChildWork { try child.save() }
    try await parent.perform { context in
      (try context.existingObject(with: ids[0]) as? Person)?.name = "Parent's"
      try saving.run()
    }
    let names = await parent.perform { context in (try? context.fetch(Person.self).map(\.name)) ?? [] }
    #expect(names == ["Parent's", "Child's"])
    let error = await parent.perform { context in persistenceError { try context.save() } }
    #expect(error?.code == .saveConflict)
    #expect(error?.context.objectIDs == [ids[0]])
    try await parent.perform { context in try context.save() }
    #expect(try stack.context().fetch(Person.self).map(\.name) == ["Parent's", "Child's"])
  }

  @Test func aSaveIsSeenBeforeTheWorkIsDone() async throws {
    let parent = BackgroundContext(try TestStack().coordinator)
    let child = ManagedObjectContext(parent: parent)
    try await parent.perform { context in _ = try context.person("Ann") }
    #expect(try child.count(entityName: "Person") == 1)
    let looking = ChildWork {
      let count = try child.count(entityName: "Person")
      #expect(count == 0)
    }
    try await parent.perform { context in
      try context.save()
      context.delete(try #require(try context.fetch(Person.self).first))
      try context.save()
      try looking.run()
    }
  }

  @Test func whatTheParentPublishesAnewIsNoConflict() async throws {
    let stack = try TestStack()
    let parent = BackgroundContext(stack.coordinator)
    let ids = try await parent.perform { context in
      let people = try (0..<2).map { try context.person("Person \($0)") }
      try context.obtainPermanentIDs(for: people)
      return people.map(\.objectID)
    }
    // The parent changes one new record, and so puts both together anew, while the child changes the other.
    let publishing = Task {
      for round in 0..<300 {
        try await parent.perform { context in
          try #require(try context.existingObject(with: ids[0]) as? Person).name = "Round \(round)"
        }
      }
    }
    let child = BackgroundContext(parent: parent)
    for round in 0..<300 {
      try await child.perform { context in
        try #require(try context.existingObject(with: ids[1]) as? Person).name = "Child's round \(round)"
        try context.save()
      }
    }
    try await publishing.value
    try await parent.saveToPersistentStore()
    let context = stack.context()
    #expect(try context.fetch(Person.self).map(\.name) == ["Round 299", "Child's round 299"])
  }

  @Test func manyChildrenSaveAtOnce() async throws {
    let stack = try TestStack(.binary)
    let parent = BackgroundContext(stack.coordinator)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        group.addTask {
          let child = BackgroundContext(parent: parent)
          for round in 0..<10 {
            try await child.perform { context in
              let ann = try context.person("\(number)")
              ann.spouse = try context.person("\(round)")
              try context.save()
              #expect(ann.spouse?.spouse === ann)
            }
            if round.isMultiple(of: 3) { try await parent.saveToPersistentStore() }
          }
        }
      }
      try await group.waitForAll()
    }
    try await parent.saveToPersistentStore()
    let context = stack.context()
    let people = try context.fetch(Person.self)
    #expect(people.count == 160)
    #expect(people.allSatisfy { $0.spouse?.spouse === $0 })
    #expect(Set(people.map(\.objectID)).count == 160)
  }
}

/// What a child does that one test runs in the middle of another context's work: the test itself waits for that, so the two do not race.
private final class ChildWork: @unchecked Sendable {
  private let body: () throws -> Void

  init(_ body: @escaping () throws -> Void) {
    self.body = body
  }

  func run() throws { try body() }
}

extension ManagedObjectContext {
  /// The form of the deep save that does not wait.
  fileprivate func saveSynchronously() throws { try saveToPersistentStore() }
}
