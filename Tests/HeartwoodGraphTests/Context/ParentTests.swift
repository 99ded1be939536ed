import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

/// Contexts that save to other contexts of the same isolation.
@Suite struct ParentTests {
  @Test(arguments: TestStoreKind.allCases)
  func saveGoesUpOneLevel(_ kind: TestStoreKind) throws {
    let stack = try TestStack(kind)
    let top = stack.context()
    let middle = ManagedObjectContext(parent: top)
    let bottom = ManagedObjectContext(parent: middle)
    #expect(bottom.parent === middle)
    let ann = try bottom.person("Ann")
    ann.spouse = try bottom.person("Bob")
    try bottom.save()
    #expect(!bottom.hasChanges)
    #expect(middle.insertedObjects.count == 2)
    #expect(!top.hasChanges)
    let annInMiddle = try #require(try middle.existingObject(with: ann.objectID) as? Person)
    #expect(annInMiddle.isInserted)
    #expect(annInMiddle.spouse?.name == "Bob")
    #expect(annInMiddle.spouse?.spouse === annInMiddle)
    try middle.save()
    #expect(try top.fetch(Person.self).map(\.name).sorted() == ["Ann", "Bob"])
    #expect(try stack.context().count(entityName: "Person") == 0)
    try top.save()
    #expect(try stack.context().fetch(Person.self).map(\.name).sorted() == ["Ann", "Bob"])
    #expect(ann.spouse?.name == "Bob")
    #expect(try bottom.fetch(Person.self).count == 2)
    #expect(try bottom.existingObject(with: ann.objectID) === ann)
  }

  @Test func deepSaveGoesToTheStore() throws {
    let stack = try TestStack(.binary)
    let top = stack.context()
    let bottom = ManagedObjectContext(parent: ManagedObjectContext(parent: top))
    let shelf = try bottom.insert(Shelf.self)
    shelf.title = "Novels"
    for number in 0..<10 { _ = try bottom.book("Book \(number)", on: shelf) }
    try bottom.saveToPersistentStore()
    #expect(!top.hasChanges)
    let other = stack.context()
    let saved = try #require(try other.fetch(Shelf.self).first)
    #expect(saved.books.map(\.title) == (0..<10).map { "Book \($0)" })
    #expect(saved.objectID == shelf.objectID)
  }

  @Test func childrenSeeWhatIsUnsaved() throws {
    let stack = try TestStack()
    let parent = stack.context()
    let people = try ["Ann", "Bob", "Cid"].map { try parent.person($0) }
    try parent.save()
    let child = ManagedObjectContext(parent: parent)
    let ann = try #require(try child.existingObject(with: people[0].objectID) as? Person)
    people[0].name = "Anna"
    #expect(ann.name == "Anna")
    people[0].name = "Annabel"
    #expect(ann.name == "Anna")
    child.refresh(ann, mergeChanges: false)
    #expect(ann.name == "Annabel")
    let dan = try parent.person("Dan")
    dan.mentor = people[1]
    parent.delete(people[2])
    #expect(try child.count(entityName: "Person") == 3)
    #expect(try child.fetch(Person.self).map(\.name) == ["Annabel", "Bob", "Dan"])
    let danInChild = try #require(try child.existingObject(with: dan.objectID) as? Person)
    #expect(!dan.objectID.isTemporaryID)
    #expect(danInChild.mentor?.name == "Bob")
    #expect(danInChild.mentor?.students == [danInChild])
    #expect(!child.hasChanges)
  }

  @Test func objectsOfUnsavedRecordsFollowThem() throws {
    let stack = try TestStack()
    let parent = stack.context()
    let first = try parent.person("First")
    let child = ManagedObjectContext(parent: parent)
    let others = try (0..<3).map { try parent.person("Person \($0)") }
    let inChild = try child.fetch(Person.self)
    #expect(inChild.map(\.name) == ["First", "Person 0", "Person 1", "Person 2"])
    inChild[3].name = "Changed"
    // Somebody else takes the rows.
    let stranger = stack.context()
    _ = try stranger.person("Stranger")
    try stranger.save()
    #expect(try child.fetch(Person.self).map(\.name) == ["Stranger", "First", "Person 0", "Person 1", "Changed"])
    #expect(try child.existingObject(with: first.objectID) === inChild[0])
    parent.delete(others[0])
    #expect(try child.fetch(Person.self).map(\.name) == ["Stranger", "First", "Person 1", "Changed"])
    #expect(inChild[1].isDeleted)
    try parent.save()
    #expect(try child.fetch(Person.self).map(\.name) == ["Stranger", "First", "Person 1", "Changed"])
    #expect(inChild.map(\.objectID) == ([first] + others).map(\.objectID))
    try child.saveToPersistentStore()
    #expect(try stack.context().fetch(Person.self).map(\.name) == ["Stranger", "First", "Person 1", "Changed"])
  }

  @Test func unsavedRecordsStayWhenTheStoreIsConverted() throws {
    let stack = try TestStack()
    let parent = stack.context()
    let ann = try parent.person("Ann")
    let child = ManagedObjectContext(parent: parent)
    let annInChild = try #require(try child.fetch(Person.self).first)
    annInChild.name = "Anna"
    try stack.coordinator.convert(stack.store, to: TestStack.url, type: .binary)
    #expect(try child.fetch(Person.self) == [annInChild])
    #expect(!annInChild.isDeleted)
    try child.saveToPersistentStore()
    #expect(ann.name == "Anna")
  }

  @Test func movingRecordsHideNoConflict() throws {
    let parent = try TestStack().context()
    let middle = ManagedObjectContext(parent: parent)
    let child = ManagedObjectContext(parent: middle)
    let ann = try middle.employee("Ann")
    let annInChild = try #require(try child.fetch(Employee.self).first)
    annInChild.salary = 1
    ann.name = "Anna"
    for name in ["Bob", "Cid"] {
      // The records that only the one in the middle has come after these.
      _ = try parent.employee(name)
      #expect(try child.fetch(Employee.self).count > 1)
    }
    #expect(persistenceError { try child.save() }?.code == .saveConflict)
  }

  @Test func changesOfTheParentAreConflicts() throws {
    let stack = try TestStack()
    let parent = stack.context()
    let ann = try parent.person("Ann")
    try parent.save()
    let child = ManagedObjectContext(parent: parent)
    let annInChild = try #require(try child.fetch(Person.self).first)
    annInChild.name = "Child's"
    ann.name = "Parent's"
    let error = persistenceError { try child.save() }
    #expect(error?.code == .saveConflict)
    #expect(error?.context.objectIDs == [ann.objectID])
    #expect(ann.name == "Parent's")
    child.refresh(annInChild, mergeChanges: true)
    try child.save()
    #expect(ann.name == "Child's")
    // Changed back and forth, a record is as it was read.
    annInChild.name = "Again"
    ann.name = "Other"
    _ = try child.count(entityName: "Person")
    ann.name = "Child's"
    try child.saveToPersistentStore()
    #expect(try stack.context().fetch(Person.self).map(\.name) == ["Again"])
  }

  @Test func anotherOrderOfASetIsNoConflict() throws {
    let parent = try TestStack().context()
    let book = try parent.book("Emma")
    let tags = try (0..<2).map { _ in try parent.insert(Tag.self) }
    try parent.save()
    book.tags = tags
    let child = ManagedObjectContext(parent: parent)
    let inChild = try #require(try child.fetch(Book.self).first)
    inChild.title = "Emma, volume 1"
    book.tags = [tags[1]]
    book.tags = [tags[1], tags[0]]
    try child.save()
    #expect(book.title == "Emma, volume 1")
  }

  @Test func aChildOfASavedParentMayGoOn() throws {
    let stack = try TestStack(.binary)
    let parent = stack.context()
    let ann = try parent.person("Ann")
    let child = ManagedObjectContext(parent: parent)
    let annInChild = try #require(try child.fetch(Person.self).first)
    #expect(annInChild.name == "Ann")
    for round in 0..<4 {
      annInChild.name = "Round \(round)"
      if round.isMultiple(of: 2) { try parent.save() }
      try child.save()
      #expect(ann.name == "Round \(round)")
    }
    try parent.save()
    #expect(try stack.context().fetch(Person.self).map(\.name) == ["Round 3"])
  }

  @Test func deletionsGoUp() throws {
    let stack = try TestStack()
    let parent = stack.context()
    let ann = try parent.person("Ann")
    ann.passport = try parent.insert(Passport.self)
    ann.spouse = try parent.person("Bob")
    try parent.save()
    let unsaved = try parent.person("Unsaved")
    let child = ManagedObjectContext(parent: parent)
    child.delete(try child.existingObject(with: ann.objectID))
    child.delete(try child.existingObject(with: unsaved.objectID))
    try child.save()
    #expect(ann.isDeleted)
    #expect(parent.insertedObjects.isEmpty)
    #expect(parent.deletedObjects.count == 2)
    #expect(try parent.fetch(Person.self).map(\.spouse) == [nil])
    #expect(try child.count(entityName: "Person") == 1)
    try parent.save()
    #expect(try stack.context().count(entityName: "Passport") == 0)
    #expect(try stack.context().fetch(Person.self).map(\.name) == ["Bob"])
    #expect(try child.fetch(Person.self).map(\.name) == ["Bob"])
  }

  @Test func rollbackOfTheParentTakesRecordsAway() throws {
    let stack = try TestStack()
    let parent = stack.context()
    _ = try parent.person("Ann")
    let child = ManagedObjectContext(parent: parent)
    let read = try #require(try child.fetch(Person.self).first)
    read.name = "Changed"
    let id = read.objectID
    parent.rollback()
    #expect(try child.count(entityName: "Person") == 0)
    #expect(try child.fetch(Person.self).isEmpty)
    #expect(read.isDeleted)
    #expect(read.objectID == id)
    #expect(persistenceError { try child.save() }?.code == .saveConflict)
    #expect(persistenceError { _ = try child.existingObject(with: id) }?.code == .objectNotFound)
    child.rollback()
    #expect(!child.hasChanges)
    #expect(read.objectID == id)
    try child.save()
  }

  @Test(arguments: [false, true])
  func nothingThatIsSavedLeadsToWhatAParentHasForgotten(_ isReset: Bool) throws {
    let stack = try TestStack()
    let parent = stack.context()
    let note = try parent.insert(Note.self)
    try parent.save()
    let id = note.objectID
    let other = try parent.insert(Note.self)
    let child = ManagedObjectContext(parent: parent)
    let inChild = try #require(try child.existingObject(with: id) as? Note)
    inChild.about = try child.existingObject(with: other.objectID) as? Note
    #expect(inChild.about != nil)
    if isReset { parent.reset() } else { parent.rollback() }
    #expect(inChild.about == nil)
    try child.save()
    try parent.save()
    let check = stack.context()
    #expect(try check.existingObject(with: id).propertyValue(forKey: "about") == .null)
  }

  @Test func permanentIDsCanBeHadBeforeTheSave() throws {
    let stack = try TestStack(.binary)
    let context = stack.context()
    let ann = try context.person("Ann")
    let bob = try context.person("Bob")
    ann.spouse = bob
    ann.friends = [ann, bob]
    let temporaryID = ann.objectID
    try context.obtainPermanentIDs(for: [ann, bob])
    let id = ann.objectID
    #expect(!id.isTemporaryID)
    #expect(ann.isInserted)
    #expect(bob.spouse === ann)
    #expect(Set(ann.friends) == [ann, bob])
    #expect(try context.existingObject(with: temporaryID) === ann)
    #expect(try context.existingObject(with: id) === ann)
    #expect(context.registeredObject(for: id) === ann)
    try context.save()
    #expect(ann.objectID == id)
    #expect(try context.existingObject(with: id) === ann)
    let other = stack.context()
    #expect((try other.existingObject(with: id) as? Person)?.name == "Ann")
    let cid = try context.person("Cid")
    #expect(persistenceError { try other.obtainPermanentIDs(for: [cid]) }?.code == .objectNotFound)
  }

  @Test func namedObjectsCanBeDeletedBeforeTheSave() throws {
    let stack = try TestStack(.binary)
    let context = stack.context()
    let note = try context.insert(Note.self)
    let gone = try context.insert(Note.self)
    note.about = gone
    try context.obtainPermanentIDs(for: [gone])
    context.delete(gone)
    try context.save()
    let saved = try #require(try stack.context().fetch(entityName: "Note").first)
    #expect(try saved.propertyValue(forKey: "about") == .null)
  }

  @Test func objectsCanBeAssignedToStores() throws {
    let stack = try TestStack()
    let second = try stack.coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = stack.context()
    let ann = try context.person("Ann")
    let bob = try context.person("Bob")
    try context.assign(ann, to: second)
    try context.save()
    #expect(ann.objectID.storeIdentifier == second.identifier)
    #expect(bob.objectID.storeIdentifier == stack.store.identifier)
    #expect(persistenceError { try context.assign(ann, to: second) }?.code == .objectNotFound)
    let cid = try context.person("Cid")
    try stack.coordinator.remove(second)
    #expect(persistenceError { try context.assign(cid, to: second) }?.code == .storeNotOpen)
    let notes = try stack.coordinator.addPersistentStore(type: .inMemory, configuration: "Notes", at: nil)
    #expect(persistenceError { try context.assign(cid, to: notes) }?.code == .entityUnknown)
  }
}

extension ManagedObjectContext {
  fileprivate func employee(_ name: String) throws -> Employee {
    let employee = try insert(Employee.self)
    employee.name = name
    return employee
  }
}
