import Heartwood
import HeartwoodGraph
import Testing

@Suite struct PinnedSavingTests {
  private let stack: TestStack

  init() throws {
    stack = try TestStack()
    let context = stack.context()
    for name in ["a", "b", "c"] { _ = try context.person(name) }
    try context.save()
  }

  @Test func changesAreNotedAcrossAPin() throws {
    let context = stack.context()
    let people = try context.fetch(Person.self).sorted { $0.name < $1.name }
    people[0].name = "x"
    context.delete(people[2])
    try context.setQueryGeneration(from: .current)
    people[1].name = "y"
    #expect(Set(context.updatedObjects) == [people[0], people[1]])
    people[0].name = "a"
    #expect(context.updatedObjects == [people[1]])
    try context.setQueryGeneration(from: nil)
    people[1].name = "b"
    #expect(context.updatedObjects.isEmpty && context.deletedObjects == [people[2]])
    people[1].name = "z"
    try context.setQueryGeneration(from: .current)
    try context.save()
    #expect(!context.hasChanges)
    let check = stack.context()
    #expect(try check.fetch(Person.self).map(\.name).sorted() == ["a", "z"])
  }

  @Test func aPolicyResolvesConflictsOfAPinnedContext() throws {
    let context = stack.context()
    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.setQueryGeneration(from: .current)
    let person = try #require(try context.fetch(Person.self).first)
    person.name = "mine"
    let others = stack.context()
    for person in try others.fetch(Person.self) { person.name += "!" }
    try others.save()
    try context.save()
    let check = stack.context()
    #expect(try check.fetch(Person.self).map(\.name).sorted() == ["b!", "c!", "mine"])
  }

  @Test func objectsThatAnOlderVersionLacksKeepTheirNames() throws {
    let context = stack.context()
    try context.setQueryGeneration(from: .current)
    let old = try #require(context.queryGenerationToken)
    try context.setQueryGeneration(from: nil)
    let people = try (0..<4).map { try context.person("new \($0)") }
    try context.save()
    context.delete(people[0])
    try context.save()
    people[1].name = "changed"
    context.delete(people[2])
    context.refresh(people[3], mergeChanges: false)
    let ids = people.map(\.objectID)
    try context.setQueryGeneration(from: old)
    #expect(try context.count(entityName: "Person") == 3)
    #expect(people.map(\.objectID) == ids)
    #expect(people.map(\.isDeleted) == [true, true, true, true])
    #expect(context.updatedObjects == [people[1]] && context.deletedObjects == [people[2]])
    #expect(persistenceError { try context.save() }?.context.objectIDs == [ids[1], ids[2]])
    context.mergePolicy = .overwrite
    try context.save()
    #expect(!context.hasChanges)
    #expect(try context.fetch(Person.self).map(\.name).sorted() == ["a", "b", "c", "changed", "new 3"])
  }

  @Test func whatAnOlderVersionLacksIsAConflictAlsoWhereItLeadsToNewObjects() throws {
    let context = stack.context()
    try context.setQueryGeneration(from: .current)
    let old = try #require(context.queryGenerationToken)
    let new = try context.person("new")
    try context.save()
    new.mentor = try context.person("newer")
    try context.setQueryGeneration(from: old)
    let error = persistenceError { try context.save() }
    #expect(error?.code == .saveConflict && error?.context.objectIDs == [new.objectID])
    try context.setQueryGeneration(from: nil)
    try context.save()
    #expect(new.mentor?.students == [new])
  }

  @Test(arguments: [MergePolicy.mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .rollback, .overwrite])
  func bothEndsFollowWhatAPolicyMakesOfWhatAnOlderVersionLacks(_ policy: MergePolicy) throws {
    let context = stack.context()
    context.mergePolicy = policy
    try context.setQueryGeneration(from: .current)
    let old = try #require(context.queryGenerationToken)
    let (new, newer) = (try context.person("new"), try context.person("newer"))
    try context.save()
    newer.mentor = new
    let others = stack.context()
    let mentor = try #require(try others.fetch(Person.self).first { $0.name == "a" })
    let elsewhere = try #require(try others.existingObject(with: new.objectID) as? Person)
    elsewhere.mentor = mentor
    try others.save()
    try context.setQueryGeneration(from: old)
    try context.save()
    let check = stack.context()
    let people = try check.fetch(Person.self)
    for person in people {
      #expect(person.mentor.map { $0.students.contains(person) } ?? true)
      #expect(person.students.allSatisfy { $0.mentor == person })
    }
    #expect(people.contains { $0.name == "new" })
  }

  @Test func goingBackMakesNoConflict() throws {
    let context = stack.context()
    let person = try #require(try context.fetch(Person.self).first)
    try context.setQueryGeneration(from: .current)
    let old = try #require(context.queryGenerationToken)
    for name in ["x", "a"] {
      person.name = name
      try context.save()
    }
    // The older version has the same values, and another version of the record.
    try context.setQueryGeneration(from: old)
    person.name = "y"
    try context.save()
    #expect(try stack.context().fetch(Person.self).map(\.name).sorted() == ["b", "c", "y"])
  }

  @Test func whatAPolicyTakesBackIsTold() throws {
    let context = stack.context()
    context.mergePolicy = .mergeByPropertyStoreTrump
    let person = try #require(try context.fetch(Person.self).first)
    let others = stack.context()
    for person in try others.fetch(Person.self) { person.name += "!" }
    var told: [String] = []
    let observation = context.observe(.objectsDidChange) { changes in
      if changes.updatedObjectIDs.union(changes.refreshedObjectIDs) == [person.objectID] { told.append(person.name) }
    }
    person.name = "mine"
    try others.save()
    try withExtendedLifetime(observation) { try context.save() }
    #expect(told == ["mine", "a!"])
  }
}
