import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

@Suite struct FetchingTests {
  @Test(arguments: TestStoreKind.allCases)
  func anObjectIsOne(_ kind: TestStoreKind) throws {
    let stack = try TestStack(kind)
    let writer = stack.context()
    let ann = try writer.person("Ann")
    ann.spouse = try writer.person("Bob")
    try writer.save()
    let context = stack.context()
    let first = try context.fetch(Person.self)
    let second = try context.fetch(Person.self)
    #expect(first == second)
    #expect(first.allSatisfy { $0.isFault })
    #expect(first[0].spouse === first[1])
    #expect(try context.existingObject(with: ann.objectID) === first[0])
    #expect(context.registeredObject(for: ann.objectID) === first[0])
    #expect(try writer.existingObject(with: ann.objectID) === ann)
    #expect(ann !== first[0])
  }

  @Test func aFetchChoosesAndSorts() throws {
    let stack = try TestStack()
    let context = stack.context()
    for name in ["Cid", "Ann", "Bob"] { _ = try context.person(name) }
    try context.save()
    _ = try context.person("Abe")
    let found = try context.fetch(Person.self, where: Person.nameKey < "C", sortedBy: Person.nameKey.ascending)
    let names = found.map(\.name)
    #expect(names == ["Abe", "Ann", "Bob"])
    #expect(try context.fetch(Person.self).filter { $0.name < "C" }.map(\.name).sorted() == names)
    let byName = try context.fetch(entityName: "Person").filter { try $0.value(forKey: "name") as? String == "Cid" }
    #expect(byName.count == 1)
  }

  @Test func subentitiesAreFetchedToo() throws {
    let context = try TestStack().context()
    let ann = try context.person("Ann")
    let boss = try context.insert(Employee.self)
    boss.name = "Boss"
    #expect(try context.fetch(Person.self) == [ann, boss])
    try context.save()
    #expect(try context.fetch(Person.self) == [ann, boss])
    #expect(try context.fetch(Employee.self) == [boss])
    #expect(try context.fetch(entityName: "Employee") == [boss])
    #expect(try context.count(entityName: "Person") == 2)
    #expect(try context.count(entityName: "Employee") == 1)
  }

  @Test func pendingChangesShow() throws {
    let context = try TestStack().context()
    let people = try ["Ann", "Bob", "Cid"].map { try context.person($0) }
    try context.save()
    context.delete(people[1])
    let dan = try context.person("Dan")
    #expect(try context.fetch(Person.self) == [people[0], people[2], dan])
    #expect(try context.count(entityName: "Person") == 3)
    people[0].name = "Anna"
    #expect(try context.fetch(Person.self, where: Person.nameKey == "Ann").isEmpty)
    try context.save()
    #expect(try context.fetch(Person.self) == [people[0], people[2], dan])
    #expect(try context.count(entityName: "Person") == 3)
  }

  @Test func aDeletionOfTwoContextsCountsOnce() throws {
    let stack = try TestStack()
    let context = stack.context()
    let ann = try context.person("Ann")
    _ = try context.person("Bob")
    try context.save()
    context.delete(ann)
    let other = stack.context()
    other.delete(try other.existingObject(with: ann.objectID))
    try other.save()
    #expect(try context.count(entityName: "Person") == 1)
    #expect(try context.fetch(Person.self).count == 1)
  }

  @Test func objectsLiveAsLongAsSomebodyHoldsThem() throws {
    let stack = try TestStack()
    let context = stack.context()
    for number in 0..<100 { _ = try context.person("\(number)") }
    try context.save()
    #expect(context.registeredObjects.isEmpty)
    var people = try context.fetch(Person.self)
    #expect(context.registeredObjects.count == 100)
    people.removeAll { $0.name != "7" }
    #expect(context.registeredObjects == people)
    people[0].name = "seven"
    people = []
    #expect(context.registeredObjects.count == 1)
    #expect(try context.fetch(Person.self, where: Person.nameKey == "seven").count == 1)
    context.rollback()
    #expect(context.registeredObjects.isEmpty)
  }

  @Test func classesThatAreUnknownAreTypedErrors() throws {
    final class Stranger: ManagedObject {}
    let context = try TestStack().context()
    #expect(persistenceError { _ = try context.fetch(Stranger.self) }?.code == .entityUnknown)
    #expect(persistenceError { _ = try context.insert(Stranger.self) }?.code == .entityUnknown)
    #expect(persistenceError { _ = try context.fetch(entityName: "Stranger") }?.code == .entityUnknown)
    #expect(persistenceError { _ = try context.insert(entityName: "Stranger") }?.code == .entityUnknown)
    #expect(persistenceError { _ = try context.count(entityName: "Stranger") }?.code == .entityUnknown)
  }

  @Test func manyGroupsOfRowsAreFetched() throws {
    // More records than one group of rows holds.
    let stack = try TestStack(.binary)
    let writer = stack.context()
    for number in 0..<70_000 { try writer.insert(Passport.self).number = number }
    try writer.save()
    let context = stack.context()
    let passports = try context.fetch(Passport.self)
    #expect(passports.map(\.number) == Array(0..<70_000))
    for passport in passports where passport.number % 2 == 0 { context.delete(passport) }
    try context.save()
    #expect(try context.fetch(Passport.self).map(\.number) == Array(stride(from: 1, to: 70_000, by: 2)))
    #expect(try writer.count(entityName: "Passport") == 35_000)
  }
}
