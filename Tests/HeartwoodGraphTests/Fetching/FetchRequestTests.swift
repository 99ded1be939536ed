import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@Suite struct FetchRequestTests {
  @Test(arguments: TestStoreKind.allCases)
  func aRequestChoosesSortsAndPages(_ kind: TestStoreKind) throws {
    let stack = try TestStack(kind)
    let writer = stack.context()
    for name in ["Cid", "Ann", "Bob", "abe", "Bea"] { _ = try writer.person(name) }
    try writer.save()
    let context = stack.context()
    var request = FetchRequest<Person>(
      where: try FetchPredicate(format: "name CONTAINS[c] %@", "b"),
      sortedBy: [FetchSortDescriptor("name", comparison: .caseInsensitive)]
    )
    #expect(try context.fetch(request).map(\.name) == ["abe", "Bea", "Bob"])
    #expect(try context.fetch(request).allSatisfy { context.registeredObject(for: $0.objectID) === $0 })
    #expect(try context.count(for: request) == 3)
    request.fetchOffset = 1
    request.fetchLimit = 1
    #expect(try context.fetch(request).map(\.name) == ["Bea"])
    #expect(try context.count(for: request) == 1)
    #expect(try context.fetchObjectIDs(request) == context.fetch(request).map(\.objectID))
    request.fetchLimit = 0
    #expect(try context.fetch(request).isEmpty)
    request.affectedStores = []
    request.fetchLimit = nil
    #expect(try context.count(for: request) == 0)
  }

  @Test func stringsAreSortedInEveryWay() throws {
    let context = try TestStack().context()
    let names = ["b10", "B9", "a", "Á", "Z", "á", "A"]
    for name in names { _ = try context.person(name) }
    try context.save()
    func sorted(_ comparison: FetchSortDescriptor.Comparison) throws -> [String] {
      try context.fetch(Person.self, sortedBy: FetchSortDescriptor("name", comparison: comparison)).map(\.name)
    }
    #expect(try sorted(.value) == ["A", "B9", "Z", "a", "b10", "Á", "á"])
    #expect(try sorted(.caseInsensitive) == ["a", "A", "b10", "B9", "Z", "Á", "á"])
    #expect(try sorted(.caseAndDiacriticInsensitive) == ["a", "Á", "á", "A", "b10", "B9", "Z"])
    #expect(try sorted(.localizedStandard) == ["a", "A", "á", "Á", "B9", "b10", "Z"])
    let backwards = FetchSortDescriptor("name", ascending: false, comparison: .localizedStandard)
    #expect(try context.fetch(Person.self, sortedBy: backwards).map(\.name) == ["Z", "b10", "B9", "Á", "á", "A", "a"])
  }

  @Test func keysMakePredicates() throws {
    let context = try TestStack().context()
    let (ann, bob) = (try context.person("Ann"), try context.person("Bob"))
    let boss = try context.insert(Employee.self)
    (boss.name, boss.salary, boss.mentor, boss.friends) = ("Cleo", 5, ann, [ann, bob])
    try context.save()
    func names(_ predicate: FetchPredicate) throws -> [String] {
      try context.fetch(Person.self, where: predicate, sortedBy: Person.nameKey.ascending).map(\.name)
    }
    #expect(
      try names(Person.nameKey == "Ann" || Person.nameKey.beginsWith("b", options: .caseInsensitive)) == ["Ann", "Bob"]
    )
    #expect(try names(Person.nameKey != "Ann" && !Person.nameKey.contains("o")) == [])
    #expect(try names(Person.nameKey > "Ann" && Person.nameKey <= "Bob") == ["Bob"])
    #expect(try names(Person.nameKey.isIn(["Ann", "Cleo", "Zoe"])) == ["Ann", "Cleo"])
    #expect(try names(Person.nameKey.isBetween("B", "C")) == ["Bob"])
    #expect(
      try names(Person.nameKey.isLike("?o*") || Person.nameKey.matches("A.*") || Person.nameKey.endsWith("eo")) == [
        "Ann", "Bob", "Cleo",
      ]
    )
    #expect(try names(Person.nameKey.equals("BOB", options: .caseInsensitive)) == ["Bob"])
    #expect(try names(Person.mentorKey == ann) == ["Cleo"])
    #expect(try names(Person.mentorKey == nil) == ["Ann", "Bob"])
    #expect(try names(Person.mentorKey != ann) == ["Ann", "Bob"])
    #expect(try names(Person.friendsKey.contains(boss)) == ["Ann", "Bob"])
    #expect(try names(!Person.friendsKey.isEmpty) == ["Ann", "Bob", "Cleo"])
    #expect(try context.fetch(Employee.self, where: Employee.salaryKey >= 5) == [boss])
    #expect(try context.count(Person.self, where: Person.nameKey < "C") == 2)
    #expect(try context.count(Person.self) == 3 && context.fetch(Person.self, limit: 2).count == 2)
    #expect(try context.fetch(Person.self, offset: 1, limit: 5) == Array(context.fetch(Person.self).dropFirst()))
    #expect(try context.fetchObjectIDs(Person.self, where: Person.nameKey == "Bob") == [bob.objectID])
    #expect(
      try context.fetchObjectIDs(Person.self, sortedBy: Person.nameKey.descending, limit: 1) == [boss.objectID]
    )
    let byName = try context.fetch(Person.self, sortedBy: Person.nameKey.descending, limit: 2)
    #expect(byName == [boss, bob])
  }

  @Test func predicatesFollowRelationships() throws {
    let context = try TestStack().context()
    let shelf = try context.insert(Shelf.self)
    shelf.title = "Top"
    let book = try context.insert(Book.self)
    let other = try context.insert(Book.self)
    let tag = try context.insert(Tag.self)
    (tag.name, book.shelf, book.tags) = ("red", shelf, [tag])
    func found() throws -> [Book] {
      let formats = ["shelf.title == 'Top'", "ANY tags.name == 'red'", "tags.@count == 1", "shelf == %@", "SELF == %@"]
      return try zip(formats, [[], [], [], [shelf], [book]] as [[ManagedObject]]).map { format, objects in
        let predicate = try FetchPredicate(format: format, arguments: objects)
        let books = try context.fetch(Book.self, where: predicate)
        #expect(books.count == 1)
        return try #require(books.first)
      }
    }
    #expect(try found().allSatisfy { $0 === book })
    try context.save()
    #expect(try found().allSatisfy { $0 === book })
    (other.shelf, other.tags) = (shelf, [tag])
    #expect(
      try context.count(Book.self, where: FetchPredicate(format: "shelf.title == 'Top' AND ANY tags.name == 'red'"))
        == 2
    )
    let sorted = try context.fetch(
      Book.self,
      sortedBy: FetchSortDescriptor("shelf.title"),
      FetchSortDescriptor("tags.@count")
    )
    #expect(Set(sorted) == [book, other])
  }

  @Test func aPlanTellsHowARequestIsDone() throws {
    let context = try TestStack().context()
    for name in ["Ann", "Bob"] { _ = try context.person(name) }
    try context.save()
    var request = FetchRequest<Person>(
      where: Person.nameKey.contains("secret") && Person.spouseKey == nil,
      sortedBy: [Person.nameKey.ascending],
      limit: 5
    )
    let plan = try context.queryPlan(for: request)
    #expect(plan.steps.map(\.entityName) == ["Person", "Employee"])
    #expect(
      plan.steps.first?.description == """
        Person: all 2 records
          test whether spouse has a value
          test the text of name
          sort by name, selecting the first 5
        """
    )
    #expect(!plan.description.contains("secret"))
    request = FetchRequest(sortedBy: [FetchSortDescriptor("mentor.name")])
    #expect(try context.queryPlan(for: request).steps.first?.order == "an expression, all that pass")
  }

  @Test func mistakesAreToldWithTheirPlaces() throws {
    let context = try TestStack().context()
    #expect(throws: FetchPredicateError.self) {
      try context.count(Person.self, where: FetchPredicate(format: "nam == 'x'"))
    }
    #expect(throws: FetchPredicateError.self) {
      try context.fetch(Person.self, sortedBy: FetchSortDescriptor("friends"))
    }
    #expect(throws: PersistenceError.self) { try context.fetch(FetchRequest<Person>(entityName: "Nobody")) }
    _ = try context.insert(Tag.self)
    #expect(throws: PersistenceError.self) { try context.fetch(FetchRequest<Person>(entityName: "Tag")) }
  }

  @Test func pendingChangesAreLeftOutWhereTheyAreNotWanted() throws {
    let context = try TestStack().context()
    let (ann, bob) = (try context.person("Ann"), try context.person("Bob"))
    try context.save()
    ann.name = "Zoe"
    context.delete(bob)
    _ = try context.person("New")
    var request = FetchRequest<Person>(sortedBy: [Person.nameKey.ascending])
    #expect(try context.fetch(request).map(\.name) == ["New", "Zoe"])
    request.includesPendingChanges = false
    #expect(try context.fetch(request) == [ann, bob])
    #expect(try context.count(for: request) == 2)
  }

  @Test func findsWhatThePlainWayFindsUnderRandomChanges() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    let context = try TestStack().context()
    let names = ["a", "b", "c", "d", "e"]
    for round in 0..<60 {
      for person in try context.fetch(Person.self) where generator.chance(oneIn: 4) {
        if generator.chance(oneIn: 3) {
          context.delete(person)
        } else {
          person.name = names.randomElement(using: &generator) ?? ""
        }
      }
      for _ in 0..<Int.random(in: 0...4, using: &generator) {
        _ = try context.person(names.randomElement(using: &generator) ?? "")
      }
      if round.isMultiple(of: 3) { try context.save() }
      let bound = names.randomElement(using: &generator) ?? ""
      let all = try context.fetch(Person.self).filter { $0.name >= bound }
      let (offset, limit) = (Int.random(in: 0...3, using: &generator), Int.random(in: 0...9, using: &generator))
      let predicate = Person.nameKey >= bound
      #expect(try context.count(Person.self, where: predicate) == all.count)
      #expect(try Set(context.fetch(Person.self, where: predicate)) == Set(all))
      let page = try context.fetch(
        Person.self,
        where: predicate,
        sortedBy: Person.nameKey.descending,
        offset: offset,
        limit: limit
      )
      let expected = all.map(\.name).sorted(by: >).dropFirst(offset).prefix(limit)
      #expect(page.map(\.name) == Array(expected))
      #expect(Set(page).count == page.count && page.allSatisfy(all.contains))
    }
  }

  @Test(arguments: TestStoreKind.allCases)
  func aChangeThatIsNoSortKeyMovesNoObject(_ kind: TestStoreKind) throws {
    let stack = try TestStack(kind)
    let writer = stack.context()
    for number in 0..<4 {
      let employee = try writer.insert(Employee.self)
      (employee.name, employee.salary) = ("\(number)", 1)
      try writer.save()
    }
    let context = stack.context()
    func names(_ offset: Int = 0, _ limit: Int? = nil) throws -> [String] {
      let request = FetchRequest<Employee>(sortedBy: [Employee.salaryKey.ascending], offset: offset, limit: limit)
      return try context.fetch(request).map(\.name)
    }
    let second = try #require(try context.fetch(Employee.self, where: Person.nameKey == "1").first)
    let before = try names()
    second.name = "1 changed"
    let new = try context.insert(Employee.self)
    (new.name, new.salary) = ("new", 1)
    let after = before.map { $0 == "1" ? "1 changed" : $0 }
    #expect(try names() == after + ["new"])
    #expect(try (0..<5).flatMap { try names($0, 1) } == after + ["new"])
    try context.save()
    #expect(try names() == after + ["new"])
  }

  @Test func changedObjectsThatOthersHaveDeletedAreNotFound() throws {
    let stack = try TestStack()
    let context = stack.context()
    let people = try ["Ann", "Bob"].map { try context.person($0) }
    try context.save()
    let other = stack.context()
    try other.fetch(Person.self).forEach(other.delete)
    people[0].name = "Anna"
    try other.save()
    #expect(try context.fetch(Person.self).isEmpty)
    #expect(try context.fetch(Person.self, where: Person.nameKey.beginsWith("A")).isEmpty)
    #expect(try context.count(for: FetchRequest<Person>()) == 0)
    #expect(people[0].isUpdated)
  }
}
