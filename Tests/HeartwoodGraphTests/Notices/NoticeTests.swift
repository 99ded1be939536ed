import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

@Suite struct NoticeTests {
  @Test func savesAreTold() async throws {
    let stack = try TestStack()
    let context = stack.context()
    context.name = "Editor"
    context.transactionAuthor = "Ann"
    let saves = context.didSaveChanges
    let all = stack.coordinator.didSaveChanges
    let people = try ["Ann", "Bob"].map { try context.person($0) }
    try context.save()
    people[0].name = "Anna"
    context.delete(people[1])
    let deletedID = people[1].objectID
    try context.save()
    for sequence in [saves, all] {
      var iterator = sequence.makeAsyncIterator()
      let first = try #require(await iterator.next())
      #expect(first.insertedObjectIDs == Set(people.map(\.objectID)))
      #expect(first.updatedObjectIDs.isEmpty && first.deletedObjectIDs.isEmpty)
      #expect(first.contextName == "Editor")
      #expect(first.transactionAuthor == "Ann")
      let second = try #require(await iterator.next())
      #expect(second.updatedObjectIDs == [people[0].objectID])
      #expect(second.deletedObjectIDs == [deletedID])
    }
  }

  @Test func slowReadersMissNothing() async throws {
    let stack = try TestStack()
    var context: ManagedObjectContext? = stack.context()
    let saves = try #require(context).didSaveChanges
    var inserted: Set<ManagedObjectID> = []
    for number in 0..<200 {
      let person = try #require(try context?.person("\(number)"))
      try context?.save()
      inserted.insert(person.objectID)
    }
    context = nil
    var told: [ContextChanges] = []
    for await changes in saves { told.append(changes) }
    #expect(told.count == 64)
    #expect(told.dropLast().allSatisfy { $0.insertedObjectIDs.count == 1 })
    #expect(told.reduce(into: Set()) { $0.formUnion($1.insertedObjectIDs) } == inserted)
  }

  @Test func mergedNoticesTellWhatBecameOfEachObject() async throws {
    let stack = try TestStack()
    let context = stack.context()
    let saves = context.didSaveChanges
    // So many that those below are merged into one.
    for _ in 0..<64 {
      _ = try context.insert(Tag.self)
      try context.save()
    }
    let people = try ["Ann", "Bob"].map { try context.person($0) }
    try context.save()
    people[0].name = "Anna"
    try context.save()
    context.delete(people[1])
    try context.save()
    var iterator = saves.makeAsyncIterator()
    for _ in 0..<63 { _ = await iterator.next() }
    let last = try #require(await iterator.next())
    #expect(last.insertedObjectIDs.contains(people[0].objectID))
    #expect(!last.insertedObjectIDs.contains(people[1].objectID))
    #expect(last.updatedObjectIDs.isEmpty)
    #expect(last.deletedObjectIDs == [people[1].objectID])
  }

  @Test func readersCanBeCancelled() async throws {
    let stack = try TestStack()
    let saves = stack.coordinator.didSaveChanges
    let reader = Task {
      var count = 0
      for await _ in saves { count += 1 }
      return count
    }
    reader.cancel()
    #expect(await reader.value == 0)
    let context = stack.context()
    _ = try context.person("Ann")
    try context.save()
    var iterator = saves.makeAsyncIterator()
    #expect(await iterator.next()?.insertedObjectIDs.count == 1)
  }

  @Test func waitingReadersAreWoken() async throws {
    let stack = try TestStack()
    let saves = stack.coordinator.didSaveChanges
    let reader = Task {
      var iterator = saves.makeAsyncIterator()
      return await iterator.next()?.insertedObjectIDs.count
    }
    let context = stack.context()
    for name in ["Ann", "Bob", "Cid"] { _ = try context.person(name) }
    try context.save()
    #expect(await reader.value == 3)
  }

  @Test func observersAreCalledInOrderAndLetGo() throws {
    let stack = try TestStack()
    let context = stack.context()
    let log = Log()
    var observations: [ContextObservation] = [
      context.observe(.willSave) { log.entries.append("will \($0.insertedObjectIDs.map(\.isTemporaryID))") },
      context.observe(.didSave) { log.entries.append("did \($0.insertedObjectIDs.map(\.isTemporaryID))") },
    ]
    _ = try context.person("Ann")
    try context.save()
    try context.save()
    #expect(log.entries == ["will [true]", "did [false]"])
    observations = []
    _ = try context.person("Bob")
    try context.save()
    #expect(log.entries.count == 2)
    #expect(observations.isEmpty)
  }

  private final class Log {
    var entries: [String] = []
  }

  @Test func whatFailedIsNotTold() throws {
    let stack = try TestStack()
    let context = stack.context()
    let log = Log()
    let observation = context.observe(.didSave) { _ in log.entries.append("did") }
    let person = try context.insert(Person.self)
    #expect(persistenceError { try context.save() }?.code == .validationFailed)
    #expect(log.entries.isEmpty)
    person.name = "Ann"
    try context.save()
    #expect(log.entries == ["did"])
    withExtendedLifetime(observation) {}
  }
}

/// What becomes of objects between saves.
@Suite struct ChangeEventTests {
  @Test func eventsTellWhatBecameOfObjects() async throws {
    let stack = try TestStack()
    let context = stack.context()
    let people = try ["Ann", "Bob", "Cid"].map { try context.person($0) }
    try context.save()
    var events: [ContextChanges] = []
    let observation = context.observe(.objectsDidChange) { events.append($0) }
    people[0].name = "Anna"
    people[0].name = "Annabel"
    context.delete(people[1])
    let dan = try context.person("Dan")
    context.delete(try context.person("Nobody"))
    #expect(events.isEmpty)
    context.processPendingChanges()
    context.processPendingChanges()
    #expect(events.count == 1)
    #expect(events.last?.insertedObjectIDs == [dan.objectID])
    #expect(events.last?.updatedObjectIDs == [people[0].objectID])
    #expect(events.last?.deletedObjectIDs == [people[1].objectID])
    try context.save()
    #expect(events.count == 1)
    people[2].name = "Other"
    context.rollback()
    #expect(events.count == 2)
    #expect(events.last?.updatedObjectIDs == [people[2].objectID])
    context.refresh(people[2], mergeChanges: false)
    #expect(events.last?.refreshedObjectIDs == [people[2].objectID])
    withExtendedLifetime(observation) {}
    people[0].name = "Unheard"
    try context.save()
  }

  @Test func performEndsAnEvent() async throws {
    let stack = try TestStack()
    let background = BackgroundContext(stack.coordinator)
    let sequence = await background.perform { $0.objectsDidChange }
    let id = try await background.perform { context in
      let ann = try context.person("Ann")
      try context.obtainPermanentIDs(for: [ann])
      return ann.objectID
    }
    var iterator = sequence.makeAsyncIterator()
    #expect(await iterator.next()?.insertedObjectIDs == [id])
  }

  @MainActor
  @Test func theMainActorTellsWhenItIsFree() async throws {
    let stack = try TestStack()
    let view = ViewContext(stack.coordinator)
    let ann = try view.context.person("Ann")
    try view.context.save()
    var iterator = view.context.objectsDidChange.makeAsyncIterator()
    ann.name = "Anna"
    #expect(await iterator.next()?.updatedObjectIDs == [ann.objectID])
  }

  @Test func childrensSavesAreChangesOfTheParent() throws {
    let stack = try TestStack()
    let parent = stack.context()
    let child = ManagedObjectContext(parent: parent)
    var events: [ContextChanges] = []
    let observation = parent.observe(.objectsDidChange) { events.append($0) }
    let ann = try child.person("Ann")
    try child.save()
    parent.processPendingChanges()
    #expect(events.map(\.insertedObjectIDs) == [[ann.objectID]])
    withExtendedLifetime(observation) {}
  }
}
