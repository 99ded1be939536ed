import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

/// Undo and redo of what happens in contexts.
@Suite struct UndoTests {
  private func context(_ kind: TestStoreKind = .inMemory) throws -> ManagedObjectContext {
    let context = try TestStack(kind).context()
    context.undoManager = GraphUndoManager()
    return context
  }

  @Test func withoutAnUndoManagerNothingIsUndone() throws {
    let context = try TestStack().context()
    let ann = try context.person("Ann")
    context.undo()
    context.redo()
    #expect(ann.name == "Ann")
    #expect(context.undoManager == nil)
  }

  @Test func anEventIsUndoneAsAWhole() throws {
    let context = try context()
    let ann = try context.person("Ann")
    try context.save()
    ann.name = "Anna"
    ann.spouse = try context.person("Bob")
    context.processPendingChanges()
    ann.name = "Annabel"
    context.undo()
    #expect(ann.name == "Anna")
    #expect(ann.spouse?.name == "Bob")
    context.undo()
    #expect(ann.name == "Ann")
    #expect(ann.spouse == nil)
    #expect(!context.hasChanges)
    context.redo()
    context.redo()
    #expect(ann.name == "Annabel")
    #expect(ann.spouse?.spouse == ann)
    context.redo()
    #expect(ann.name == "Annabel")
  }

  @Test func anInsertionIsUndoneAndRedone() throws {
    let context = try context()
    let ann = try context.person("Ann")
    let id = ann.objectID
    context.undo()
    #expect(!context.hasChanges)
    #expect(ann.isDeleted && ann.managedObjectContext == nil)
    #expect(context.registeredObject(for: id) == nil)
    context.redo()
    #expect(context.insertedObjects == [ann])
    #expect(ann.isInserted && !ann.isDeleted)
    #expect(context.registeredObject(for: id) === ann)
    #expect(ann.name == "Ann")
  }

  @Test(arguments: TestStoreKind.allCases)
  func anInsertionThatWasSavedIsUndoneByADeletion(_ kind: TestStoreKind) throws {
    let context = try context(kind)
    let ann = try context.person("Ann")
    let bob = try context.person("Bob")
    ann.spouse = bob
    try context.save()
    context.undo()
    #expect(context.deletedObjects.count == 2)
    try context.save()
    #expect(try context.fetch(Person.self).isEmpty)
    context.redo()
    #expect(ann.isInserted)
    #expect(ann.spouse == bob)
    #expect(bob.spouse == ann)
    try context.save()
    #expect(try context.fetch(Person.self).count == 2)
    context.refresh(ann, mergeChanges: false)
    #expect(ann.spouse == bob)
  }

  @Test(arguments: TestStoreKind.allCases, [false, true])
  func aCascadeComesBackAsItWas(_ kind: TestStoreKind, _ saving: Bool) throws {
    let context = try context(kind)
    let shelf = try context.insert(Shelf.self)
    let books = try (0..<5).map { try context.book("\($0)", on: shelf) }
    let tag = try context.insert(Tag.self)
    tag.books = [books[1], books[3]]
    shelf.books = [books[4], books[0], books[2], books[1], books[3]]
    try context.save()
    let state = try GraphState(context)
    context.delete(shelf)
    #expect(try GraphState(context).count == 1)
    if saving { try context.save() }
    context.undo()
    #expect(try GraphState(context) == state)
    #expect(shelf.books == [books[4], books[0], books[2], books[1], books[3]])
    #expect(context.hasChanges == saving)
    try context.save()
    books.forEach { context.refresh($0, mergeChanges: false) }
    context.refresh(shelf, mergeChanges: false)
    #expect(try GraphState(context) == state)
    try expectBothEndsAgree(context)
    context.redo()
    #expect(shelf.isDeleted && books.allSatisfy(\.isDeleted))
    #expect(tag.books.isEmpty)
  }

  @Test func anOrderedRelationshipGetsItsOrderBack() throws {
    let context = try context()
    let ann = try context.person("Ann")
    let students = try ["Bob", "Cid", "Dan", "Eva"].map { try context.person($0) }
    ann.students = students
    try context.save()
    context.delete(students[1])
    context.processPendingChanges()
    ann.students.reverse()
    context.processPendingChanges()
    students[0].mentor = nil
    context.undo()
    #expect(ann.students == [students[3], students[2], students[0]])
    context.undo()
    #expect(ann.students == [students[0], students[2], students[3]])
    context.undo()
    #expect(ann.students == students)
    #expect(students[1].mentor == ann)
    #expect(!context.hasChanges)
  }

  @Test func undoAfterASaveMakesAChange() throws {
    let context = try context()
    let ann = try context.person("Ann")
    try context.save()
    ann.name = "Anna"
    try context.save()
    context.undo()
    #expect(ann.name == "Ann")
    #expect(ann.isUpdated)
    try context.save()
    context.redo()
    #expect(ann.name == "Anna")
    #expect(ann.changedValues() == ["name": .string("Anna")])
  }

  @Test func whatADeletedObjectWasLedToByFindsItUnderItsNewName() throws {
    let context = try context()
    let book = try context.book("Emma")
    let tag = try context.insert(Tag.self)
    book.tags = [tag]
    try context.save()
    let oldID = tag.objectID
    context.delete(tag)
    // The rule of Tag.books is to take no action, so the book still names the tag.
    #expect(!book.hasChanges)
    try context.save()
    context.undo()
    #expect(tag.objectID != oldID)
    #expect(book.tags == [tag])
    #expect(tag.books == [book])
    try context.save()
    #expect(try book.propertyValue(forKey: "tags") == .toMany([tag.objectID]))
  }

  @Test func whatComesBackTakesItsPlaceInOrder() throws {
    let context = try context()
    let people = try ["Ann", "Bob", "Cid"].map { try context.person($0) }
    let (note, other) = (try context.insert(Note.self), try context.insert(Note.self))
    note.about = other
    people[0].students = [people[1], people[2]]
    try context.save()
    context.refresh(note, mergeChanges: false)
    context.delete(other)
    context.delete(people[1])
    try context.save()
    context.undo()
    #expect(people[0].students == [people[1], people[2]])
    #expect(note.about == other)
    try context.save()
    #expect(try note.propertyValue(forKey: "about") == .toOne(other.objectID))
    context.redo()
    #expect(people[0].students == [people[2]])
  }

  @Test func whatLedToADeletedRecordKeepsItsOrder() throws {
    let context = try context()
    let shelf = try context.insert(Shelf.self)
    let books = try ["A", "B", "C"].map { try context.book($0, on: shelf) }
    let tags = try ["x", "y"].map { name in
      let tag = try context.insert(Tag.self)
      tag.name = name
      return tag
    }
    for book in books { book.tags = tags }
    try context.save()
    context.delete(tags[0])
    try context.save()
    context.undo()
    for book in books {
      #expect(Set(book.tags) == Set(tags) && book.isUpdated)
      #expect(try book.propertyValue(forKey: "tags") == .toMany(tags.map(\.objectID)))
    }
  }

  @Test func rollbackAndResetForgetWhatCouldBeUndone() throws {
    let context = try context()
    let ann = try context.person("Ann")
    try context.save()
    ann.name = "Anna"
    context.rollback()
    context.undo()
    #expect(ann.name == "Ann" && !ann.isDeleted)
    #expect(context.undoManager?.canUndo == false)
    ann.name = "Anna"
    context.reset()
    #expect(context.undoManager?.canUndo == false)
    context.undo()
    #expect(!context.hasChanges)
  }

  @Test func transientValuesComeBackWithoutAChange() throws {
    let context = try context()
    let book = try context.book("Emma")
    try context.save()
    context.refresh(book, mergeChanges: false)
    #expect(book.cached == "cached Emma")
    book.cached = "other"
    context.undo()
    #expect(book.cached == "cached Emma")
    #expect(!book.hasChanges)
  }

  @Test func whatOthersHaveRelatedSinceIsMended() throws {
    let context = try context()
    let people = try ["Ann", "Bob", "Cid"].map { try context.person($0) }
    let undoManager = try #require(context.undoManager)
    try context.save()
    people[0].spouse = people[1]
    people[0].students = [people[1], people[2]]
    undoManager.disableUndoRegistration()
    people[2].spouse = people[1]
    people[2].students = [people[1]]
    undoManager.enableUndoRegistration()
    context.undo()
    try expectBothEndsAgree(context)
    context.redo()
    try expectBothEndsAgree(context)
    context.undo()
    try expectBothEndsAgree(context)
  }

  @Test func anObjectThatOthersLeadToByNowGoesWithItsLinks() throws {
    let context = try context()
    let ann = try context.person("Ann")
    try context.save()
    let undoManager = try #require(context.undoManager)
    undoManager.removeAllActions()
    let bob = try context.person("Bob")
    undoManager.disableUndoRegistration()
    ann.spouse = bob
    ann.friends = [bob, ann]
    undoManager.enableUndoRegistration()
    context.undo()
    #expect(bob.isDeleted)
    #expect(try ann.propertyValue(forKey: "spouse") == .null)
    #expect(ann.friends == [ann])
    context.redo()
    #expect(!bob.isDeleted)
    try expectBothEndsAgree(context)
  }

  @Test func aDeletionThatIsMadeAgainIsDeniedAgain() throws {
    let context = try context()
    let ann = try context.person("Ann")
    let book = try context.book("Emma")
    book.readers = [ann]
    try context.save()
    context.delete(book)
    context.undo()
    context.redo()
    #expect(book.isDeleted)
    #expect(try ann.propertyValue(forKey: "books") == .toMany([book.objectID]))
    #expect(persistenceError { try context.save() }?.context.validationFaults.map(\.kind) == [.deletionDenied])
    context.undo()
    #expect(ann.books == [book] && book.readers == [ann])
    #expect(!context.hasChanges)
  }

  @Test func anInsertionThatWasSavedIsTakenBackWithoutDenial() throws {
    let context = try context()
    let ann = try context.person("Ann")
    context.processPendingChanges()
    let book = try context.book("Emma")
    book.readers = [ann]
    for _ in 0..<3 {
      try context.save()
      context.undo()
      #expect(book.isDeleted && ann.books.isEmpty)
      try context.save()
      context.redo()
      #expect(ann.books == [book] && book.readers == [ann])
    }
  }

  @Test func whatASaveHasLeftOutDoesNotComeBack() throws {
    let context = try context()
    let book = try context.book("Emma")
    try context.save()
    let tag = try context.insert(Tag.self)
    book.tags = [tag]
    // The rule leaves the link as it is.
    context.delete(tag)
    context.processPendingChanges()
    book.tags = []
    context.undo()
    #expect(try book.propertyValue(forKey: "tags") == .toMany([tag.objectID]))
    context.redo()
    try #require(!context.hasChanges)
    book.title = "Persuasion"
    try context.save()
    context.undo()
    context.undo()
    #expect(try book.propertyValue(forKey: "tags") == .toMany([]))
    #expect(book.title == "Emma")
    #expect(context.undoManager?.redoCount == 1)
    try context.save()
    #expect(!context.hasChanges)
  }

  @Test func oneUndoManagerServesTwoContexts() throws {
    let stack = try TestStack()
    let (first, second) = (stack.context(), stack.context())
    let undoManager = GraphUndoManager()
    first.undoManager = undoManager
    second.undoManager = undoManager
    let ann = try first.person("Ann")
    let bob = try second.person("Bob")
    undoManager.undo()
    #expect(ann.isDeleted && bob.isDeleted)
    undoManager.redo()
    #expect(ann.isInserted && bob.isInserted)
    first.undoManager = nil
    undoManager.undo()
    #expect(ann.isInserted && bob.isDeleted)
  }

  @Test func whatHasGoneWithItsContextIsNotUndone() throws {
    let undoManager = GraphUndoManager()
    var context: ManagedObjectContext? = try TestStack().context()
    context?.undoManager = undoManager
    _ = try context?.person("Ann")
    #expect(undoManager.canUndo)
    context = nil
    undoManager.undo()
    #expect(!undoManager.canRedo)
  }

  @Test func manyObjectsAreQuick() throws {
    // Quadratic work would take minutes here.
    let context = try context()
    let shelf = try context.insert(Shelf.self)
    let books = try (0..<10_000).map { _ in try context.insert(Book.self) }
    for book in books { book.shelf = shelf }
    try context.save()
    context.delete(shelf)
    context.undo()
    #expect(shelf.books == books)
    context.redo()
    try context.save()
    context.undo()
    #expect(shelf.books == books)
    context.undo()
    #expect(!context.hasChanges)
  }
}
