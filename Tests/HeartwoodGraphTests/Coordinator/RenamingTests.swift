import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

/// Stores that are converted to one which calls its records by other names, while contexts use them.
@Suite struct RenamingTests {
  private let stack: TestStack

  init() throws {
    stack = try TestStack()
  }

  /// A context with Ann and Bob, who are married and saved.
  private func couple() throws -> (context: ManagedObjectContext, ann: Person, bob: Person) {
    let context = stack.context()
    // Their numbers are not those of their rows.
    for number in 0..<3 { _ = try context.person("\(number)") }
    let (ann, bob) = (try context.person("Ann"), try context.person("Bob"))
    ann.spouse = bob
    try context.save()
    for person in try context.fetch(Person.self) where person !== ann && person !== bob { context.delete(person) }
    try context.save()
    return (context, ann, bob)
  }

  private func check(_ names: [String]) throws {
    let context = stack.context()
    let people = try context.fetch(Person.self, sortedBy: Person.nameKey.ascending)
    #expect(people.map(\.name) == names)
    for person in people where people.count > 1 { #expect(person.spouse?.spouse === person, "\(person.name)") }
  }

  @Test(arguments: [false, true])
  func anObjectThatWasLostComesBack(_ isChanged: Bool) throws {
    let (parent, ann, bob) = try couple()
    let child = ManagedObjectContext(parent: parent)
    let people = try child.fetch(Person.self)
    #expect(people.map(\.name) == ["Ann", "Bob"] && people[0].spouse === people[1])
    if isChanged { people[0].name = "Anna" }
    parent.delete(ann)
    parent.delete(bob)
    #expect(try child.fetch(Person.self).isEmpty)
    child.refresh(people[0], mergeChanges: true)
    #expect(people[0].spouse == nil || isChanged)
    #expect(people[0].isDeleted)
    try stack.convertToNumbers()
    #expect(try child.fetch(Person.self).isEmpty)
    parent.rollback()
    #expect(try child.fetch(Person.self) == people)
    #expect(people.map(\.name) == [isChanged ? "Anna" : "Ann", "Bob"])
    #expect(people[0].spouse === people[1] && people[1].spouse === people[0])
    #expect(try child.existingObject(with: people[0].objectID) === people[0])
    people[1].name = "Bobby"
    try child.saveToPersistentStore()
    try check([isChanged ? "Anna" : "Ann", "Bobby"])
  }

  @Test(arguments: [false, true])
  func anUnsavedObjectThatWasLostComesBack(_ isChanged: Bool) throws {
    let top = try couple().context
    let (cid, dee) = (try top.person("Cid"), try top.person("Dee"))
    cid.spouse = dee
    let middle = ManagedObjectContext(parent: top)
    let bottom = ManagedObjectContext(parent: middle)
    let people = try bottom.fetch(Person.self).filter { ["Cid", "Dee"].contains($0.name) }
    #expect(people.count == 2)
    if isChanged { people[0].name = "Cyd" }
    for person in try middle.fetch(Person.self) where ["Cid", "Dee"].contains(person.name) { middle.delete(person) }
    #expect(try bottom.fetch(Person.self).count == 2)
    #expect(people.map(\.isDeleted) == [true, true])
    try stack.convertToNumbers()
    middle.rollback()
    #expect(try bottom.fetch(Person.self).count == 4)
    #expect(people.map(\.isDeleted) == [false, false])
    #expect(people[0].spouse === people[1] && people[1].spouse === people[0])
    people[1].name = "Di"
    try bottom.saveToPersistentStore()
    try check(["Ann", "Bob", isChanged ? "Cyd" : "Cid", "Di"])
  }

  /// What is the first thing that a context does after a conversion.
  enum FirstChange: CaseIterable {
    case toOne, toMany, appending, removing, deleting
  }

  @Test(arguments: FirstChange.allCases)
  func bothEndsFollowAtOnce(_ change: FirstChange) throws {
    let (context, ann, bob) = try couple()
    let cid = try context.person("Cid")
    ann.students = [bob]
    cid.students = [cid]
    try context.save()
    #expect(bob.mentor === ann && bob.spouse === ann && ann.students == [bob] && cid.mentor === cid)
    try stack.convertToNumbers()
    switch change {
    case .toOne: bob.mentor = cid
    case .toMany: cid.students = [bob]
    case .appending: cid[list: Person.studentsKey].append(bob)
    case .removing: ann[list: Person.studentsKey].remove(bob)
    case .deleting: context.delete(bob)
    }
    #expect(ann.students.isEmpty)
    let students: [FirstChange: [Person]] = [.toOne: [cid, bob], .toMany: [bob], .appending: [cid, bob]]
    #expect(cid.students == students[change] ?? [cid])
    #expect(ann.spouse === (change == .deleting ? nil : bob))
    try expectBothEndsAgree(context)
    try context.save()
    try expectBothEndsAgree(stack.context())
  }

  @Test func newObjectsGetOtherNames() throws {
    let (context, ann, _) = try couple()
    let (cid, dee) = (try context.person("Cid"), try context.person("Dee"))
    cid.spouse = dee
    cid.mentor = ann
    try context.obtainPermanentIDs(for: [cid, dee])
    let child = ManagedObjectContext(parent: context)
    let cidInChild = try #require(try child.existingObject(with: cid.objectID) as? Person)
    #expect(cidInChild.spouse?.name == "Dee")
    try stack.convertToNumbers()
    #expect(cidInChild.mentor?.name == "Ann" && cidInChild.spouse?.name == "Dee")
    cidInChild.name = "Cyd"
    try child.saveToPersistentStore()
    try check(["Ann", "Bob", "Cyd", "Dee"])
    #expect(ann.students == [cid] && cid.name == "Cyd")
    #expect(try context.existingObject(with: cid.objectID) === cid)
  }

  @Test func aRecordThatAnotherContextDeletedStaysAConflict() throws {
    let (context, ann, bob) = try couple()
    ann.name = "Anna"
    let others = stack.context()
    others.delete(try others.existingObject(with: ann.objectID))
    try others.save()
    context.refresh(ann, mergeChanges: true)
    #expect(ann.isDeleted)
    try stack.convertToNumbers()
    #expect(persistenceError { try context.save() }?.code == .saveConflict)
    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.save()
    #expect(!context.hasChanges)
    context.refresh(bob, mergeChanges: false)
    #expect(bob.spouse == nil && bob.name == "Bob")
    try #require(try stack.context().fetch(Person.self).count == 1)
  }

  @Test func whatAnotherContextChangedStaysWhereTheStoreTrumps() throws {
    let (context, ann, bob) = try couple()
    let others = stack.context()
    let annOfOthers = try #require(try others.existingObject(with: ann.objectID) as? Person)
    annOfOthers.name = "theirs"
    ann.name = "mine"
    ann.mentor = bob
    try others.save()
    try stack.convertToNumbers()
    #expect(try context.fetch(Person.self).count == 2)
    context.mergePolicy = .mergeByPropertyStoreTrump
    try context.save()
    #expect(ann.name == "theirs" && ann.mentor === bob && ann.spouse === bob)
    try check(["Bob", "theirs"])
  }

  @Test(arguments: [false, true])
  func deletionsAreSaved(_ isOutdated: Bool) throws {
    let (context, ann, bob) = try couple()
    context.delete(ann)
    if isOutdated {
      let others = stack.context()
      try #require(try others.existingObject(with: ann.objectID) as? Person).name = "Anna"
      try others.save()
    }
    try stack.convertToNumbers()
    if isOutdated {
      #expect(persistenceError { try context.save() }?.code == .saveConflict)
      context.mergePolicy = .mergeByPropertyObjectTrump
    }
    try context.save()
    #expect(bob.spouse == nil)
    try check(["Bob"])
  }

  @Test func whatDeletedRecordsLedToDoesNotMatter() throws {
    let (context, ann, bob) = try couple()
    let shelf = try context.insert(Shelf.self)
    shelf.books = [try context.book("Emma"), try context.book("Persuasion")]
    let cid = try context.person("Cid")
    cid.spouse = try context.person("Dee")
    cid.friends = [cid, ann]
    try context.save()
    for object in [shelf, cid] as [ManagedObject] { context.delete(object) }
    for person in try context.fetch(Person.self) where person.name == "Dee" { context.delete(person) }
    try context.save()
    bob.mentor = ann
    try stack.convertToNumbers()
    try context.save()
    #expect(ann.students == [bob] && ann.friends.isEmpty)
    try check(["Ann", "Bob"])
  }

  @Test func whatNobodyHasSavedIsConvertedToo() throws {
    let context = stack.context()
    let (ann, bob) = (try context.person("Ann"), try context.person("Bob"))
    ann.spouse = bob
    try context.obtainPermanentIDs(for: [ann])
    let id = ann.objectID
    try stack.convertToNumbers()
    try context.save()
    #expect(ann.objectID != id && ann.spouse === bob)
    try check(["Ann", "Bob"])
  }

  @Test func aContextThatStaysAtAVersionMovesOn() throws {
    let (context, ann, bob) = try couple()
    try context.setQueryGeneration(from: .current)
    let others = stack.context()
    try #require(try others.existingObject(with: ann.objectID) as? Person).name = "Anna"
    try others.save()
    context.refresh(ann, mergeChanges: false)
    #expect(ann.name == "Ann")
    try stack.convertToNumbers()
    #expect(ann.spouse === bob && bob.spouse === ann)
    bob.mentor = ann
    try context.save()
    #expect(ann.name == "Anna")
    let check = stack.context()
    let people = try check.fetch(Person.self, sortedBy: Person.nameKey.ascending)
    #expect(people.map(\.name) == ["Anna", "Bob"] && people[1].mentor === people[0])
  }
}
