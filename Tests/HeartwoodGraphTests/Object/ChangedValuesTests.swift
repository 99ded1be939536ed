import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

/// What has changed, what was read, and values that are set without a word.
@Suite struct ChangedValuesTests {
  @Test func valuesOfTheEventAreThoseBeforeIt() throws {
    let context = try TestStack().context()
    let ann = try context.person("Ann")
    try context.save()
    ann.name = "Anna"
    #expect(ann.changedValuesForCurrentEvent() == ["name": .string("Ann")])
    context.undoManager = GraphUndoManager()
    #expect(ann.changedValuesForCurrentEvent().isEmpty)
    ann.name = "Annabel"
    ann.spouse = ann
    #expect(ann.changedValuesForCurrentEvent() == ["name": .string("Anna"), "spouse": .null])
    ann.name = "Anna"
    #expect(ann.changedValuesForCurrentEvent() == ["spouse": .null])
    context.processPendingChanges()
    #expect(ann.changedValuesForCurrentEvent().isEmpty)
    let bob = try context.person("Bob")
    #expect(bob.changedValuesForCurrentEvent().isEmpty)
  }

  @Test func committedValuesOfSomeProperties() throws {
    let context = try TestStack().context()
    let ann = try context.person("Ann")
    #expect(try ann.committedValues(forKeys: ["name"]).isEmpty)
    try context.save()
    ann.name = "Anna"
    #expect(try ann.committedValues(forKeys: ["name", "spouse"]) == ["name": .string("Ann"), "spouse": .null])
    #expect(persistenceError { _ = try ann.committedValues(forKeys: ["nme"]) }?.code == .propertyUnknown)
  }

  @Test func transientChangesAreNotPersistent() throws {
    let context = try TestStack().context()
    let book = try context.book("Emma")
    #expect(book.hasPersistentChangedValues)
    try context.save()
    #expect(!book.hasPersistentChangedValues)
    book.cached = "cached"
    #expect(book.hasChanges && !book.hasPersistentChangedValues)
    book.title = "Persuasion"
    #expect(book.hasPersistentChangedValues)
    book.title = "Emma"
    #expect(!book.hasPersistentChangedValues)
  }

  @Test func relationshipsTellTheirIDs() throws {
    let context = try TestStack().context()
    let ann = try context.person("Ann")
    let bob = try context.person("Bob")
    ann.students = [bob, ann]
    try context.save()
    context.refresh(ann, mergeChanges: false)
    #expect(try ann.hasFault(forRelationshipNamed: "students"))
    #expect(try ann.objectIDs(forRelationshipNamed: "students") == [bob.objectID, ann.objectID])
    #expect(try ann.objectIDs(forRelationshipNamed: "spouse") == [])
    #expect(try !ann.hasFault(forRelationshipNamed: "students"))
    #expect(persistenceError { _ = try ann.objectIDs(forRelationshipNamed: "name") }?.code == .valueTypeMismatch)
    #expect(persistenceError { _ = try ann.hasFault(forRelationshipNamed: "nme") }?.code == .propertyUnknown)
  }

  @Test func primitiveValuesAreSavedAndNotUndone() throws {
    let context = try TestStack().context()
    let book = try context.book("Emma")
    try context.save()
    context.undoManager = GraphUndoManager()
    book[primitive: Book.titleKey] = "Persuasion"
    #expect(book[primitive: Book.titleKey] == "Persuasion")
    #expect(context.undoManager?.canUndo == false)
    try context.save()
    context.refresh(book, mergeChanges: false)
    #expect(book.isFault)
    book.willAccessValue()
    #expect(!book.isFault)
    #expect(try book.primitiveValue(forKey: "title") == .string("Persuasion"))
    try book.setPrimitiveValue(.null, forKey: "title")
    #expect(book.title == nil && book.isUpdated)
    let mistakes: [(String, PropertyValue, PersistenceError.Code)] = [
      ("ttle", .null, .propertyUnknown), ("title", .integer(1), .valueTypeMismatch),
      ("shelf", .null, .valueTypeMismatch),
    ]
    for (name, value, code) in mistakes {
      #expect(persistenceError { try book.setPrimitiveValue(value, forKey: name) }?.code == code)
    }
  }
}
