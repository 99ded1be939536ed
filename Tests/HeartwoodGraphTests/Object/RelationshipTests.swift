import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

@Suite struct RelationshipTests {
  /// People who are new, or saved, or faults.
  enum Age: CaseIterable {
    case new
    case saved
    case faults
  }

  private func people(_ names: String..., age: Age) throws -> (ManagedObjectContext, [Person]) {
    let context = try TestStack().context()
    let people = try names.map { try context.person($0) }
    if age != .new { try context.save() }
    if age == .faults { people.forEach { context.refresh($0, mergeChanges: false) } }
    return (context, people)
  }

  @Test(arguments: Age.allCases)
  func oneToOne(_ age: Age) throws {
    let (context, people) = try people("Ann", "Bob", age: age)
    let (ann, bob) = (people[0], people[1])
    let first = try context.insert(Passport.self)
    let second = try context.insert(Passport.self)
    ann.passport = first
    #expect(first.owner == ann)
    second.owner = ann
    #expect(ann.passport == second)
    #expect(first.owner == nil)
    bob.passport = second
    #expect(ann.passport == nil)
    #expect(second.owner == bob)
    bob.passport = nil
    #expect(second.owner == nil)
  }

  @Test(arguments: Age.allCases)
  func oneToOneToItself(_ age: Age) throws {
    let (context, people) = try people("Ann", "Bob", "Cid", "Dan", age: age)
    let (ann, bob, cid, dan) = (people[0], people[1], people[2], people[3])
    ann.spouse = bob
    cid.spouse = dan
    #expect(people.map(\.spouse) == [bob, ann, dan, cid])
    bob.spouse = cid
    #expect(people.map(\.spouse) == [nil, cid, bob, nil])
    ann.spouse = ann
    #expect(people.map(\.spouse) == [ann, cid, bob, nil])
    ann.spouse = bob
    #expect(people.map(\.spouse) == [bob, ann, nil, nil])
    bob.spouse = nil
    #expect(people.map(\.spouse) == [nil, nil, nil, nil])
    #expect(Set(context.registeredObjects).isSuperset(of: people))
  }

  @Test(arguments: Age.allCases)
  func oneToManyKeepsItsOrder(_ age: Age) throws {
    let (context, people) = try people("Ann", "Bob", "Cid", "Dan", age: age)
    let (ann, bob, cid, dan) = (people[0], people[1], people[2], people[3])
    ann.students = [dan, cid, bob, cid]
    #expect(ann.students == [dan, cid, bob])
    #expect(people.map(\.mentor) == [nil, ann, ann, ann])
    cid.mentor = bob
    #expect(ann.students == [dan, bob])
    #expect(bob.students == [cid])
    cid.mentor = ann
    #expect(ann.students == [dan, bob, cid])
    ann.students = [cid, dan]
    #expect(bob.mentor == nil)
    #expect(ann.students == [cid, dan])
    bob.students = [ann, dan, bob]
    #expect(ann.students == [cid])
    #expect(people.map(\.mentor) == [bob, bob, ann, bob])
    bob.students = []
    #expect(people.map(\.mentor) == [nil, nil, ann, nil])
    #expect(Set(context.registeredObjects).isSuperset(of: people))
  }

  @Test(arguments: Age.allCases)
  func manyToManyToItself(_ age: Age) throws {
    let (context, people) = try people("Ann", "Bob", "Cid", age: age)
    let (ann, bob, cid) = (people[0], people[1], people[2])
    ann.friends = [ann, bob, cid]
    #expect(people.map { Set($0.friends) } == [[ann, bob, cid], [ann], [ann]])
    bob.friends = [cid]
    #expect(people.map { Set($0.friends) } == [[ann, cid], [cid], [ann, bob]])
    ann.friends = [bob]
    #expect(people.map { Set($0.friends) } == [[bob], [ann, cid], [bob]])
    ann.friends += [ann]
    #expect(Set(ann.friends) == [ann, bob])
    #expect(Set(context.registeredObjects).isSuperset(of: people))
  }

  @Test(arguments: Age.allCases)
  func manyToMany(_ age: Age) throws {
    let (context, people) = try people("Ann", "Bob", age: age)
    let books = try ["A", "B", "C"].map { try context.book($0) }
    people[0].books = books
    books[1].readers += [people[1]]
    #expect(people[1].books == [books[1]])
    books[0].readers = []
    #expect(Set(people[0].books) == [books[1], books[2]])
    try context.save()
    people.forEach { context.refresh($0, mergeChanges: false) }
    #expect(Set(people[0].books) == [books[1], books[2]])
    #expect(Set(books[1].readers) == Set(people))
  }

  @Test(arguments: Age.allCases)
  func inheritedRelationshipsLeadToSubentities(_ age: Age) throws {
    let (context, people) = try people("Ann", age: age)
    let boss = try context.insert(Employee.self)
    boss.name = "Boss"
    people[0].mentor = boss
    boss.spouse = people[0]
    #expect(boss.students == [people[0]])
    try context.save()
    context.refresh(people[0], mergeChanges: false)
    #expect(people[0].mentor === boss)
    #expect(people[0].spouse is Employee)
  }

  /// An inverse may lead to a subentity: then other objects of the entity cannot be related from either end.
  @Test func inversesLeadToObjectsOfTheirDestination() throws {
    let model = try ManagedObjectModel(entities: [
      .entity("Base", .toMany("items", "Item", inverse: "owner"), .toOne("first", "Item", inverse: "opener")),
      .entity("Sub", parent: "Base"),
      .entity("Item", .toOne("owner", "Sub", inverse: "items"), .toOne("opener", "Sub", inverse: "first")),
    ])
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: model, registry: TestStack.registry)
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = ManagedObjectContext(coordinator)
    let (base, sub) = (try context.insert(entityName: "Base"), try context.insert(entityName: "Sub"))
    let item = try context.insert(entityName: "Item")
    let values: [(ManagedObject, String, PropertyValue)] = [
      (base, "items", .toMany([item.objectID])), (base, "first", .toOne(item.objectID)),
      (item, "owner", .toOne(base.objectID)),
    ]
    for (object, name, value) in values {
      let error = persistenceError { try object.setPropertyValue(value, forKey: name) }
      #expect(error?.code == .valueTypeMismatch)
      #expect(error?.context.property == name)
    }
    #expect(try item.propertyValue(forKey: "owner").isNull)
    try sub.setPropertyValue(.toMany([item.objectID]), forKey: "items")
    try sub.setPropertyValue(.toOne(item.objectID), forKey: "first")
    try base.setPropertyValue(.toMany([]), forKey: "items")
    try context.save()
    #expect(try item.propertyValue(forKey: "owner") == .toOne(sub.objectID))
  }

  @Test func ordinaryOnesWithoutInverseLeaveTheOtherSideAlone() throws {
    let context = try TestStack().context()
    let first = try context.insert(Note.self)
    let second = try context.insert(Note.self)
    try context.save()
    first.about = second
    #expect(first.isUpdated)
    #expect(!second.hasChanges)
  }

  @Test func relationshipsAreSavedAndFound() throws {
    for kind in TestStoreKind.allCases {
      let stack = try TestStack(kind)
      let context = stack.context()
      let shelf = try context.insert(Shelf.self)
      shelf.books = try (0..<10).map { try context.book("\($0)") }
      try context.save()
      let other = stack.context()
      let found = try #require(try other.fetch(Shelf.self).first)
      #expect(found.books.map(\.title) == (0..<10).map { "\($0)" })
      #expect(found.books.allSatisfy { $0.shelf === found })
      #expect(found.books[3] === found.books[3])
      found.books.reverse()
      try other.save()
      context.refresh(shelf, mergeChanges: false)
      #expect(shelf.books.map(\.title) == (0..<10).reversed().map { "\($0)" })
    }
  }

  @Test func manyObjectsOnOneSideAreQuick() throws {
    // Quadratic work would take minutes here.
    let context = try TestStack().context()
    let shelf = try context.insert(Shelf.self)
    let books = try (0..<20_000).map { _ in try context.insert(Book.self) }
    for book in books { book.shelf = shelf }
    #expect(shelf.books == books)
    try context.save()
    for book in books.dropLast() { book.shelf = nil }
    #expect(shelf.books == [books[19_999]])
  }

  @Test func objectsOfOtherContextsStop() async {
    let stop1 = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let (first, second) = (try TestStack().context(), try TestStack().context())
      let (ann, bob) = (try first.person("Ann"), try second.person("Bob"))
      withExtendedLifetime((first, second)) { ann.spouse = bob }
    }
    expect(stop1, says: "objects of its own context")
  }
}
