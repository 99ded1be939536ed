import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

@Suite struct DeletingTests {
  @Test(arguments: TestStoreKind.allCases)
  func whatWasDeletedIsGone(_ kind: TestStoreKind) throws {
    let stack = try TestStack(kind)
    let context = stack.context()
    let people = try ["Ann", "Bob"].map { try context.person($0) }
    try context.save()
    context.delete(people[0])
    context.delete(people[0])
    #expect(people[0].isDeleted)
    #expect(context.deletedObjects == [people[0]])
    try context.save()
    #expect(!context.hasChanges)
    #expect(people[0].managedObjectContext == nil)
    #expect(people[0].isDeleted)
    #expect(!people[0].hasChanges)
    #expect(try context.fetch(Person.self) == [people[1]])
    let cid = try context.person("Cid")
    try context.save()
    #expect(try context.fetch(Person.self) == [people[1], cid])
    #expect(context.registeredObject(for: people[0].objectID) == nil)
  }

  @Test func aRowIsNotTakenFromItsNextObject() throws {
    let context = try TestStack().context()
    var ann: Person? = try context.person("Ann")
    try context.save()
    context.reset()
    let again = try #require(try context.fetch(Person.self).first)
    #expect(again !== ann)
    ann = nil
    #expect(context.registeredObjects == [again])
    #expect(try context.fetch(Person.self).first === again)
  }

  @Test func newObjectsGoAtOnce() throws {
    let context = try TestStack().context()
    let ann = try context.person("Ann")
    let bob = try context.person("Bob")
    ann.spouse = bob
    context.delete(ann)
    #expect(bob.spouse == nil)
    #expect(ann.managedObjectContext == nil)
    #expect(ann.isDeleted && !ann.isInserted && !ann.hasChanges)
    #expect(context.insertedObjects == [bob])
    #expect(context.deletedObjects.isEmpty)
    context.delete(bob)
    #expect(!context.hasChanges)
    try context.save()
  }

  @Test func nullifyForgetsOnTheOtherSide() throws {
    let context = try TestStack().context()
    let people = try ["Ann", "Bob", "Cid"].map { try context.person($0) }
    people[0].friends = people
    people[0].spouse = people[1]
    people[0].students = [people[2], people[1]]
    try context.save()
    context.delete(people[1])
    #expect(people[0].friends == [people[0], people[2]])
    #expect(people[0].spouse == nil)
    #expect(people[0].students == [people[2]])
    try context.save()
    context.refresh(people[0], mergeChanges: false)
    #expect(people[0].friends == [people[0], people[2]])
  }

  @Test func cascadeTakesAllWithIt() throws {
    let context = try TestStack().context()
    let shelf = try context.insert(Shelf.self)
    shelf.title = "Novels"
    let books = try ["A", "B"].map { try context.book($0, on: shelf) }
    let tag = try context.insert(Tag.self)
    tag.books = books
    try context.save()
    context.delete(shelf)
    #expect(books.allSatisfy { $0.isDeleted && $0.events == ["insert", "delete from Novels"] })
    #expect(tag.books.isEmpty)
    try context.save()
    #expect(try context.count(entityName: "Book") == 0)
  }

  @Test func cascadesGoRoundInCircles() throws {
    let context = try TestStack().context()
    let ann = try context.person("Ann")
    let passport = try context.insert(Passport.self)
    ann.passport = passport
    try context.save()
    context.delete(passport)
    #expect(ann.isDeleted && passport.isDeleted)
    try context.save()
    #expect(try context.fetch(Person.self).isEmpty)
  }

  @Test func cascadesOfAnyLengthFitTheStack() async throws {
    let model = try ManagedObjectModel(entities: [
      .entity(
        "Link",
        .toOne("next", "Link", inverse: "previous", deleteRule: .cascade),
        .toOne("previous", "Link", inverse: "next")
      )
    ])
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: model, registry: .default)
    let context = ManagedObjectContext(coordinator)
    var last: ManagedObject?
    for _ in 0..<50_000 {
      let link = try context.insert(entityName: "Link")
      try link.setValue(last, forKey: "next")
      last = link
    }
    context.delete(try #require(last))
    #expect(!context.hasChanges)
  }

  @Test func denyStopsTheSave() throws {
    let context = try TestStack().context()
    let book = try context.book("Emma")
    let ann = try context.person("Ann")
    book.readers = [ann]
    try context.save()
    context.delete(book)
    let error = try #require(persistenceError { try context.save() })
    #expect(error.code == .validationFailed)
    #expect(error.context.objectIDs == [book.objectID])
    #expect(error.message.contains("Book.readers"))
    #expect(error.context.validationFaults.map(\.kind) == [.deletionDenied])
    #expect(error.context.validationFaults.map(\.relatedObjectIDs) == [[ann.objectID]])
    #expect(book.isDeleted)
    context.delete(ann)
    try context.save()
    #expect(try context.count(entityName: "Book") == 0)
    #expect(try context.count(entityName: "Person") == 0)
  }

  @Test(arguments: TestStoreKind.allCases)
  func nothingIsDeniedOnceTheOthersAreLedElsewhere(_ kind: TestStoreKind) throws {
    let stack = try TestStack(kind)
    let context = stack.context()
    let (emma, other) = (try context.book("Emma"), try context.book("Other"))
    let (ann, bob) = (try context.person("Ann"), try context.person("Bob"))
    emma.readers = [ann, bob]
    try context.save()
    context.delete(emma)
    func denying() -> [Set<ManagedObjectID>]? {
      persistenceError { try context.save() }?.context.validationFaults.map { Set($0.relatedObjectIDs) }
    }
    #expect(denying() == [[ann.objectID, bob.objectID]])
    ann.books = []
    #expect(denying() == [[bob.objectID]])
    context.refresh(bob, mergeChanges: false)
    #expect(denying() == [[bob.objectID]])
    // What denies it is looked at as it is stored, where nobody has read it.
    #expect(bob.isFault)
    bob.books = [other]
    try context.save()
    let reader = stack.context()
    #expect(try reader.fetch(Book.self).map(\.title) == ["Other"])
    #expect(try reader.fetch(Book.self).first?.readers.map(\.name) == ["Bob"])
    #expect(try reader.fetch(Person.self).allSatisfy { $0.books.count == ($0.name == "Bob" ? 1 : 0) })
  }

  @Test func noActionLeavesLinksThatLeadNowhere() throws {
    let stack = try TestStack()
    let context = stack.context()
    let book = try context.book("Emma")
    let tags = try (0..<2).map { _ in try context.insert(Tag.self) }
    book.tags = tags
    try context.save()
    let id = tags[0].objectID
    context.delete(tags[0])
    try context.save()
    #expect(book.tags == [tags[1]])
    #expect(try book.propertyValue(forKey: "tags") == .toMany([id, tags[1].objectID]))
    book.tags = book.tags
    #expect(try book.propertyValue(forKey: "tags") == .toMany([tags[1].objectID]))
    try context.save()
    let other = stack.context()
    #expect(try other.fetch(Book.self).first?.tags.count == 1)
    #expect(!other.hasChanges)
  }

  @Test func deletingAnObjectOfAnotherContextStops() async {
    let stop = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let stack = try TestStack()
      let context = stack.context()
      let ann = try context.person("Ann")
      withExtendedLifetime(context) { stack.context().delete(ann) }
    }
    expect(stop, says: "Delete it in its own")
  }
}
