import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

/// First objects, whether there are any, and those that are made where there are none.
@Suite struct FirstTests {
  private func people(_ kind: TestStoreKind) throws -> ManagedObjectContext {
    let context = try TestStack(kind).context()
    for name in ["Bob", "Ann", "Cid"] { _ = try context.person(name) }
    try context.save()
    return context
  }

  @Test(arguments: TestStoreKind.allCases)
  func firstObjects(_ kind: TestStoreKind) throws {
    let context = try people(kind)
    #expect(try context.fetchFirst(Person.self)?.name == "Bob")
    #expect(try context.fetchFirst(Person.self, where: Person.nameKey == "Cid")?.name == "Cid")
    #expect(try context.fetchFirst(Person.self, where: Person.nameKey == "Zoe") == nil)
    #expect(try context.fetchFirst(Person.self, sortedBy: Person.nameKey.descending)?.name == "Cid")
    let byName = FetchRequest<ManagedObject>(entityName: "Person", sortedBy: [Person.nameKey.ascending], offset: 1)
    #expect(try context.fetchFirst(byName)?.propertyValue(forKey: "name") == .string("Bob"))
    var none = FetchRequest<Person>()
    none.fetchLimit = 0
    #expect(try context.fetchFirst(none) == nil)
    // What the context has changed counts.
    _ = try context.person("Aaron")
    #expect(try context.fetchFirst(Person.self, sortedBy: Person.nameKey.ascending)?.name == "Aaron")
  }

  @Test(arguments: TestStoreKind.allCases)
  func hasAny(_ kind: TestStoreKind) throws {
    let context = try people(kind)
    #expect(try context.hasAny(Person.self))
    #expect(try !context.hasAny(Tag.self))
    #expect(try context.hasAny(Person.self, where: Person.nameKey > "Bob"))
    #expect(try !context.hasAny(Person.self, where: Person.nameKey > "Cid"))
    #expect(try context.hasAny(for: FetchRequest<ManagedObject>(entityName: "Person", offset: 2)))
    #expect(try !context.hasAny(for: FetchRequest<ManagedObject>(entityName: "Person", offset: 3)))
    try context.deleteAll(Person.self)
    #expect(try !context.hasAny(Person.self))
  }

  @Test(arguments: TestStoreKind.allCases)
  func foundOrInserted(_ kind: TestStoreKind) throws {
    let context = try people(kind)
    let ann = try context.fetchFirstOrInsert(Person.self, where: Person.nameKey, equals: "Ann")
    #expect(!ann.isInserted && ann.name == "Ann")
    let zoe = try context.fetchFirstOrInsert(Person.self, where: \.name, equals: "Zoe")
    #expect(zoe.isInserted && zoe.name == "Zoe")
    #expect(try context.fetchFirstOrInsert(Person.self, where: \.name, equals: "Zoe") === zoe)
    #expect(try context.fetchFirstOrInsert(entityName: "Person", where: "name", equals: .string("Zoe")) === zoe)
    #expect(try context.count(Person.self) == 4)
    let tag = try context.fetchFirstOrInsert(Tag.self, where: Tag.nameKey, equals: nil)
    #expect(try context.fetchFirstOrInsert(Tag.self, where: Tag.nameKey, equals: nil) === tag)
    #expect(throws: (any Error).self) {
      try context.fetchFirstOrInsert(entityName: "Person", where: "nme", equals: .string("Ann"))
    }
    #expect(throws: (any Error).self) {
      try context.fetchFirstOrInsert(entityName: "Employee", where: "salary", equals: .integer(1 << 40))
    }
    #expect(throws: (any Error).self) {
      try context.fetchFirstOrInsert(entityName: "Person", where: "name", equals: .integer(1))
    }
    #expect(context.insertedObjects == [zoe, tag])
  }
}
