import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

/// What hooks, listeners and children see while a save is under way.
@Suite struct SaveOrderTests {
  /// It lets a child look at the context while it is validated.
  private final class Curious: ManagedObject {
    static let guideKey = ToOneKey<Curious>("guide")

    override func validateForInsert() throws {
      guard let context = managedObjectContext else { return }
      _ = try ManagedObjectContext(parent: context).count(entityName: "Curious")
    }
  }

  @Test func aChildThatLooksWhileItsParentValidatesRenamesNothing() throws {
    let model = try ManagedObjectModel(entities: [.entity("Curious", .toOne("guide", "Curious", inverse: nil))])
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: model,
      registry: TestStack.registry,
      objectClasses: [Curious.self]
    )
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = ManagedObjectContext(coordinator)
    let objects = try (0..<3).map { _ in try context.insert(Curious.self) }
    objects[1][Curious.guideKey] = objects[0]
    objects[2][Curious.guideKey] = objects[1]
    try context.save()
    let check = ManagedObjectContext(coordinator)
    for (object, guide) in zip(objects.dropFirst(), objects) {
      let stored = try #require(try check.existingObject(with: object.objectID) as? Curious)
      #expect(stored[Curious.guideKey]?.objectID == guide.objectID)
    }
  }

  @Test(arguments: TestStoreKind.allCases)
  func whoIsToldOfThePinnedContextsSaveFindsWhatWasSaved(_ kind: TestStoreKind) throws {
    let stack = try TestStack(kind)
    let context = stack.context()
    try context.setQueryGeneration(from: .current)
    let person = try context.person("Ann")
    var found: [String]?
    var isDeleted = true
    let observation = context.observe(.didSave) { _ in
      found = try? context.fetch(Person.self).map(\.name)
      isDeleted = person.isDeleted
    }
    try withExtendedLifetime(observation) { try context.save() }
    #expect(found == ["Ann"])
    #expect(!isDeleted)
  }

  /// Another save changes the base of what children see, and not the object.
  @Test func whatAChildWatchesIsComparedWithItsRecord() throws {
    let stack = try TestStack()
    let (parent, other) = (stack.context(), stack.context())
    let (ann, bob) = (try parent.person("Ann"), try parent.person("Bob"))
    try parent.save()
    ann.name = "Anna"
    let child = ManagedObjectContext(parent: parent)
    let watched = try #require(try child.existingObject(with: ann.objectID) as? Person)
    #expect(watched.name == "Anna")
    let changed = try #require(try child.existingObject(with: bob.objectID) as? Person)
    changed.name = "Bobby"
    child.detectConflicts(for: watched)
    _ = try other.insert(Tag.self)
    try other.save()
    try child.saveToPersistentStore()
    #expect(try Set(stack.context().fetch(Person.self).map(\.name)) == ["Anna", "Bobby"])
  }

  /// An object whose row comes back with a conversion is saved in its place among the others.
  @Test func objectsThatAConversionBringsBackAreSaved() throws {
    let stack = try TestStack()
    let context = stack.context()
    _ = try context.person("Ann")
    try context.save()
    try context.setQueryGeneration(from: .current)
    let token = try #require(context.queryGenerationToken)
    let people = try ["Bob", "Cid"].map { try context.person($0) }
    try context.save()
    people[0].name = "Bobby"
    try context.setQueryGeneration(from: token)
    try stack.convertToNumbers()
    _ = try context.fetch(Person.self)
    people[1].name = "Cindy"
    try context.save()
    #expect(try Set(stack.context().fetch(Person.self).map(\.name)) == ["Ann", "Bobby", "Cindy"])
  }
}
