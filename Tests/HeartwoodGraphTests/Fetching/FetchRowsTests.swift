import HeartwoodGraph
import HeartwoodModel
import HeartwoodTesting
import Testing

/// Rows of values, from stores and from changes that no store has yet.
@Suite struct FetchRowsTests {
  private static let salary = try? ExpressionDescription(format: "sum(salary) AS total")

  private func company(_ kind: TestStoreKind = TestStoreKind.allCases[0]) throws -> ManagedObjectContext {
    let context = try TestStack(kind).context()
    let (ann, bob) = (try context.person("Ann"), try context.person("Bob"))
    for (name, salary, mentor) in [("Cid", Int32(5), ann), ("Dan", 7, ann), ("Eve", 9, bob)] {
      let employee = try context.insert(Employee.self)
      (employee.name, employee.salary, employee.mentor) = (name, salary, mentor)
    }
    try context.save()
    return context
  }

  @Test(arguments: TestStoreKind.allCases)
  func columnsOfRecords(_ kind: TestStoreKind) throws {
    let context = try company(kind)
    let rows = try context.fetchRows(
      Employee.self,
      ["name", "mentor.name", "mentor", try ExpressionDescription(format: "salary * 2 AS double")],
      where: Employee.salaryKey > 5,
      sortedBy: [FetchSortDescriptor("double", ascending: false)]
    )
    #expect(rows.names == ["name", "mentor.name", "mentor", "double"])
    #expect(rows.map { $0["name"] } == [.string("Eve"), .string("Dan")])
    let first = try #require(rows.first)
    #expect(first[Person.nameKey] == "Eve")
    #expect(first.value("double", as: Int.self) == 18)
    #expect(first.value("mentor.name", as: String.self) == "Bob")
    #expect(first["nothing"] == nil)
    let bob = try #require(try context.fetch(Person.self, where: Person.nameKey == "Bob").first)
    #expect(first.objectID("mentor") == bob.objectID)
    #expect(first.dictionary["mentor"] == .toOne(bob.objectID))
    let page = try context.fetchRows(Employee.self, ["name"], sortedBy: [Person.nameKey.ascending], offset: 1, limit: 1)
    #expect(page.map(\.values) == [[.string("Dan")]])
  }

  @Test func groupsAndAggregates() throws {
    let context = try company()
    let total = try #require(Self.salary)
    let rows = try context.fetchRows(
      Employee.self,
      ["mentor.name", total, .count(), .maximum(of: "name", as: "last")],
      groupedBy: ["mentor.name"],
      sortedBy: [FetchSortDescriptor("total", ascending: false)]
    )
    #expect(
      rows.map(\.values) == [
        [.string("Ann"), .integer(12), .integer(2), .string("Dan")],
        [.string("Bob"), .integer(9), .integer(1), .string("Eve")],
      ]
    )
    let large = try context.fetchRows(
      Employee.self,
      ["mentor.name"],
      groupedBy: ["mentor.name"],
      having: FetchPredicate(format: "sum(salary) > 10")
    )
    #expect(large.map(\.values) == [[.string("Ann")]])
    #expect(try context.fetchValue(total, of: Employee.self) == .integer(21))
    #expect(try context.fetchValue(.average(of: "salary", as: "a"), of: Employee.self) == .double(7))
    let none = Employee.salaryKey > 100
    #expect(try context.fetchValue(total, of: Employee.self, where: none) == .integer(0))
    #expect(try context.fetchValue(.count(), of: Employee.self, where: none) == .integer(0))
    #expect(try context.fetchValue(.maximum(of: "salary", as: "m"), of: Employee.self, where: none) == .null)
  }

  @Test func distinctRows() throws {
    let context = try company()
    var request = FetchRequest<Employee>(sortedBy: [FetchSortDescriptor("mentor.name", ascending: false)])
    request.propertiesToFetch = ["mentor.name"]
    request.returnsDistinctResults = true
    #expect(try context.fetchRows(request).map(\.values) == [[.string("Bob")], [.string("Ann")]])
    request.fetchOffset = 1
    #expect(try context.fetchRows(request).map(\.values) == [[.string("Ann")]])
    request = FetchRequest<Employee>()
    request.propertiesToFetch = [.count()]
    request.propertiesToGroupBy = ["name"]
    request.returnsDistinctResults = true
    #expect(try context.fetchRows(request).map(\.values) == [[.integer(1)]])
  }

  @Test func entitiesTogether() throws {
    let context = try company()
    #expect(try context.fetchValue(.count(), of: Person.self) == .integer(5))
    #expect(
      try context.fetchRows(Person.self, ["name"], sortedBy: [Person.nameKey.descending], limit: 2).map(\.values)
        == [[.string("Eve")], [.string("Dan")]]
    )
    let byMentor = try context.fetchRows(Person.self, [.count(), "mentor.name"], groupedBy: ["mentor.name"])
    #expect(
      Set(byMentor.map(\.values)) == [
        [.integer(2), .null], [.integer(2), .string("Ann")], [.integer(1), .string("Bob")],
      ]
    )
  }

  @Test func unsavedChangesCountUnlessTheyAreNotWanted() throws {
    let context = try company()
    let total = try #require(Self.salary)
    let employees = try context.fetch(Employee.self, sortedBy: Person.nameKey.ascending)
    employees[0].salary = 100
    context.delete(employees[1])
    let new = try context.insert(Employee.self)
    (new.name, new.salary) = ("Fay", 1)
    var request = FetchRequest<Employee>(sortedBy: [Person.nameKey.ascending])
    request.propertiesToFetch = ["name", "salary"]
    #expect(
      try context.fetchRows(request).map(\.values) == [
        [.string("Cid"), .integer(100)], [.string("Eve"), .integer(9)], [.string("Fay"), .integer(1)],
      ]
    )
    request.propertiesToFetch = ["mentor.name", total]
    request.propertiesToGroupBy = ["mentor.name"]
    request.sortDescriptors = [FetchSortDescriptor("total")]
    #expect(
      try context.fetchRows(request).map(\.values) == [
        [.null, .integer(1)], [.string("Bob"), .integer(9)], [.string("Ann"), .integer(100)],
      ]
    )
    request.includesPendingChanges = false
    #expect(
      try context.fetchRows(request).map(\.values) == [[.string("Bob"), .integer(9)], [.string("Ann"), .integer(12)]]
    )
  }

  @Test func mistakesAreToldWithTheirPlaces() throws {
    let context = try company()
    #expect(throws: FetchPredicateError.self) { try context.fetchRows(Employee.self, ["name", .count()]) }
    #expect(throws: FetchPredicateError.self) { try context.fetchRows(Employee.self, ["friends"]) }
    #expect(throws: FetchPredicateError.self) { try context.fetchRows(Employee.self, ["nam"]) }
  }
}
