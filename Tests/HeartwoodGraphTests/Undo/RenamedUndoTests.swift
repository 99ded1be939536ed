import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

/// Undo of what happened before a store was converted to one that calls its records by other names.
@Suite struct RenamedUndoTests {
  private let stack: TestStack
  private let context: ManagedObjectContext
  private let ann: Person
  private let bob: Person
  private let cid: Person

  /// Ann, Bob and Cid are saved. Bob and Cid are Ann's students.
  init() throws {
    stack = try TestStack()
    context = stack.context()
    // The numbers that records get are not those of their rows.
    let others = [try context.person("1"), try context.person("2"), try context.person("3")]
    (ann, bob, cid) = (try context.person("Ann"), try context.person("Bob"), try context.person("Cid"))
    ann.students = [bob, cid]
    try context.save()
    others.forEach(context.delete)
    try context.save()
    context.undoManager = GraphUndoManager()
  }

  /// Expects that the store has what the context has.
  private func expectSaved(_ names: [String]) throws {
    try context.save()
    let others = stack.context()
    let people = try others.fetch(Person.self, sortedBy: Person.nameKey.ascending)
    #expect(people.map(\.name) == names)
    for person in people {
      let mine = try #require(try context.existingObject(with: person.objectID) as? Person)
      #expect(mine.students.map(\.name) == person.students.map(\.name))
      #expect(mine.spouse?.name == person.spouse?.name)
    }
    try expectBothEndsAgree(others)
  }

  @Test(arguments: [false, true])
  func relationshipsComeBack(_ saving: Bool) throws {
    ann.spouse = bob
    context.processPendingChanges()
    ann.spouse = cid
    ann.students = [cid, bob]
    context.processPendingChanges()
    if saving { try context.save() }
    try stack.convertToNumbers()
    context.undo()
    #expect(ann.spouse === bob && bob.spouse === ann && cid.spouse == nil)
    #expect(ann.students == [bob, cid])
    try expectSaved(["Ann", "Bob", "Cid"])
    context.undo()
    #expect(ann.spouse == nil && bob.spouse == nil)
    context.redo()
    context.redo()
    #expect(ann.spouse === cid && ann.students == [cid, bob])
    try expectSaved(["Ann", "Bob", "Cid"])
  }

  @Test(arguments: [false, true])
  func aDeletedObjectComesBack(_ saving: Bool) throws {
    bob.spouse = cid
    context.processPendingChanges()
    context.delete(bob)
    if saving { try context.save() }
    try stack.convertToNumbers()
    for _ in 0..<2 {
      context.undo()
      #expect(!bob.isDeleted && bob.name == "Bob" && bob.mentor === ann && bob.spouse === cid)
      #expect(ann.students == [bob, cid] && cid.spouse === bob)
      try expectSaved(["Ann", "Bob", "Cid"])
      context.redo()
      #expect(bob.isDeleted && ann.students == [cid])
      try expectSaved(["Ann", "Cid"])
    }
  }

  /// What becomes of new objects before the store is converted.
  enum Naming: CaseIterable {
    case temporary, permanent, saved
  }

  @Test(arguments: Naming.allCases)
  func anInsertionIsTakenBack(_ naming: Naming) throws {
    let dee = try context.person("Dee")
    ann.students.insert(dee, at: 1)
    context.processPendingChanges()
    switch naming {
    case .temporary: break
    case .permanent: try context.obtainPermanentIDs(for: [dee])
    case .saved: try context.save()
    }
    try stack.convertToNumbers()
    for _ in 0..<2 {
      context.undo()
      #expect(dee.isDeleted && ann.students == [bob, cid])
      try expectSaved(["Ann", "Bob", "Cid"])
      context.redo()
      #expect(!dee.isDeleted && ann.students == [bob, dee, cid] && dee.mentor === ann)
      try expectSaved(["Ann", "Bob", "Cid", "Dee"])
    }
  }

  @Test func anEventGoesOnAcrossAConversion() throws {
    ann.spouse = bob
    try stack.convertToNumbers()
    bob.mentor = cid
    context.undo()
    #expect(ann.spouse == nil && bob.mentor === ann && ann.students == [bob, cid])
    #expect(!context.hasChanges)
    context.redo()
    #expect(ann.spouse === bob && bob.mentor === cid && ann.students == [cid])
    try expectSaved(["Ann", "Bob", "Cid"])
  }

  @Test func whatWasUndoneBeforeIsRedone() throws {
    ann.spouse = bob
    context.processPendingChanges()
    context.delete(cid)
    try context.save()
    context.undo()
    context.undo()
    try context.save()
    try stack.convertToNumbers()
    context.redo()
    #expect(ann.spouse === bob)
    context.redo()
    #expect(cid.isDeleted && ann.students == [bob])
    try expectSaved(["Ann", "Bob"])
  }

  @Test func aChildUndoesToo() throws {
    let child = ManagedObjectContext(parent: context)
    child.undoManager = GraphUndoManager()
    let people = try child.fetch(Person.self, sortedBy: Person.nameKey.ascending)
    people[0].spouse = people[1]
    child.processPendingChanges()
    child.delete(people[2])
    try child.save()
    try stack.convertToNumbers()
    child.undo()
    #expect(!people[2].isDeleted && people[0].students == [people[1], people[2]])
    child.undo()
    #expect(people[0].spouse == nil && people[1].spouse == nil)
    try child.saveToPersistentStore()
    let otherContext = stack.context()
    let others = try otherContext.fetch(Person.self, sortedBy: Person.nameKey.ascending)
    #expect(others.map(\.name) == ["Ann", "Bob", "Cid"])
    #expect(others[0].students == [others[1], others[2]])
  }
}
