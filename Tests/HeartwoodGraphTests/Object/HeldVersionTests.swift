import HeartwoodModel
import HeartwoodStore
import Testing

@testable import HeartwoodGraph

/// The versions of records that objects keep in memory, on each kind of store.
@Suite struct HeldVersionTests {
  private static func people(_ count: Int, in context: ManagedObjectContext) throws -> [Person] {
    let people = try (0..<count).map { try context.person("\($0)") }
    try context.save()
    return people
  }

  /// The number of versions of tables that objects read from.
  private static func versionCount(_ people: [Person]) -> Int {
    Set(people.compactMap { $0.group.map { ObjectIdentifier($0) } }).count
  }

  @Test(arguments: TestStoreKind.allCases)
  func objectsThatAreSavedOneByOneShareFewVersions(_ kind: TestStoreKind) throws {
    let stack = try TestStack(kind)
    let context = stack.context()
    let people = try Self.people(300, in: context)
    for (number, person) in people.enumerated() {
      person.name = "Person \(number)"
      try context.save()
      #expect(Self.versionCount(people) <= 12)
    }
    #expect(people.indices.allSatisfy { people[$0].name == "Person \($0)" })
    let other = stack.context()
    #expect(try other.fetch(Person.self).map(\.name).sorted() == people.map(\.name).sorted())
  }

  @Test(arguments: TestStoreKind.allCases)
  func objectsThatAreReadBetweenSavesShareFewVersions(_ kind: TestStoreKind) throws {
    let stack = try TestStack(kind)
    let savingContext = stack.context()
    let saved = try Self.people(100, in: savingContext)
    let context = stack.context()
    let people = try context.fetch(Person.self).filter { $0.name != "0" }
    for person in people { context.refresh(person, mergeChanges: false) }
    for (number, person) in people.enumerated() {
      saved[0].name = "Saved \(number)"
      try savingContext.save()
      #expect(!person.name.isEmpty)
    }
    #expect(Self.versionCount(people) <= 12)
  }

  @Test(arguments: TestStoreKind.allCases)
  func anObjectKeepsTheValuesThatOthersHaveChanged(_ kind: TestStoreKind) throws {
    let stack = try TestStack(kind)
    let context = stack.context()
    context.automaticallyMergesChangesFromParent = false
    let people = try Self.people(60, in: context)
    let other = stack.context()
    let others = try other.fetch(Person.self)
    let twin = try #require(others.first { $0.name == "7" })
    let pending = people[8]
    pending.name = "Pending"
    twin.name = "Other"
    try other.save()
    for person in others where person !== twin && person.name != "8" {
      let index = try #require(Int(person.name))
      person.name += "!"
      try other.save()
      // The context takes the newest versions of all records when it reads one anew. The others stay as they are.
      context.refresh(people[index], mergeChanges: false)
      #expect(people[index].name == "\(index)!")
    }
    #expect(Self.versionCount(people) <= 12)
    #expect(people[7].name == "7" && pending.name == "Pending")
    people[7].name = "Mine"
    #expect(throws: PersistenceError.self) { try context.save() }
  }
}
