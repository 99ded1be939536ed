import Foundation
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

/// One value of many objects, in the type of their attribute.
@Suite struct AggregateTests {
  private func employees(_ kind: TestStoreKind) throws -> ManagedObjectContext {
    let context = try TestStack(kind).context()
    for (name, salary) in [("Ann", Int32(5)), ("Bob", Int32.max), ("Cid", 1), ("Dan", nil)] {
      let employee = try context.insert(Employee.self)
      (employee.name, employee.salary) = (name, salary)
    }
    try context.save()
    // What the context has changed counts.
    try context.fetchFirst(Employee.self, where: Person.nameKey == "Cid")?.salary = 2
    return context
  }

  @Test(arguments: TestStoreKind.allCases)
  func typedByKeys(_ kind: TestStoreKind) throws {
    let context = try employees(kind)
    let key = Employee.salaryKey
    let (least, greatest): (Int32?, Int32?) = try (
      context.minimum(of: key, in: Employee.self), context.maximum(of: key, in: Employee.self, where: key < Int32.max)
    )
    #expect(least == 2 && greatest == 5)
    let sum: Int = try context.sum(of: key, in: Employee.self)
    #expect(sum == Int(Int32.max) + 7)
    let average: Double? = try context.average(of: key, in: Employee.self, where: key < Int32.max)
    #expect(average == 3.5)
    let name: String? = try context.maximum(of: Person.nameKey, in: Person.self)
    #expect(name == "Dan")
  }

  @Test(arguments: TestStoreKind.allCases)
  func nothingOfNone(_ kind: TestStoreKind) throws {
    let context = try employees(kind)
    let none = Person.nameKey == "Zoe"
    #expect(try context.minimum(of: Employee.salaryKey, in: Employee.self, where: none) == nil)
    #expect(try context.maximum(of: Person.nameKey, in: Employee.self, where: none) == nil)
    #expect(try context.sum(of: Employee.salaryKey, in: Employee.self, where: none) == 0)
    #expect(try context.average(of: Employee.salaryKey, in: Employee.self, where: none) == nil)
  }

  @Test(arguments: TestStoreKind.allCases)
  func typedByKeyPaths(_ kind: TestStoreKind) throws {
    let context = try TestStack(kind).context()
    for number in 1...4 { try context.insert(Passport.self).number = number }
    try context.save()
    #expect(try context.minimum(of: \Passport.number) == 1)
    #expect(try context.maximum(of: \Passport.number, where: Passport.numberKey < 4) == 3)
    #expect(try context.sum(of: \Passport.number) == 10)
    #expect(try context.average(of: \Passport.number) == 2.5)
    #expect(try context.minimum(of: \Person.name) == nil)
  }

  @Test(arguments: TestStoreKind.allCases)
  func numbersOfAllTypes(_ kind: TestStoreKind) throws {
    let context = try TestStack(kind).context()
    for (index, text) in ["0.1", "0.2", "0.3"].enumerated() {
      let values = try context.insert(Values.self)
      for type in AttributeType.allCases {
        try values.setPropertyValue(try #require(Self.value(of: type)), forKey: "\(type)")
      }
      try values.setPropertyValue(.decimal(try #require(Decimal(string: text))), forKey: "decimalOrNil")
      try values.setPropertyValue(.float(Float(index) + 0.5), forKey: "floatOrNil")
      try values.setPropertyValue(.integer(.max), forKey: "integer64OrNil")
      try values.setPropertyValue(.date(Date(timeIntervalSinceReferenceDate: Double(index))), forKey: "dateOrNil")
    }
    try context.save()
    let (decimal, float) = (AttributeKey<Decimal?>("decimalOrNil"), AttributeKey<Float?>("floatOrNil"))
    #expect(try context.sum(of: decimal, in: Values.self) == Decimal(string: "0.6"))
    #expect(try context.average(of: decimal, in: Values.self) == Decimal(string: "0.2"))
    #expect(try context.minimum(of: decimal, in: Values.self) == Decimal(string: "0.1"))
    #expect(try context.sum(of: float, in: Values.self) == 4.5)
    #expect(try context.maximum(of: float, in: Values.self) == 2.5)
    #expect(try context.sum(of: decimal, in: Values.self, where: .literal(false)) == 0)
    let latest = try context.maximum(of: AttributeKey<Date?>("dateOrNil"), in: Values.self)
    #expect(latest == Date(timeIntervalSinceReferenceDate: 2))
    let great = AttributeKey<Int64?>("integer64OrNil")
    #expect(persistenceError { _ = try context.sum(of: great, in: Values.self) }?.code == .valueUnsupported)
    #expect(try context.maximum(of: great, in: Values.self) == .max)
  }

  /// A value that an attribute of `type` may have.
  private static func value(of type: AttributeType) -> PropertyValue? {
    switch type {
    case .uuid: .uuid(UUID())
    case .uri: PropertyValue(text: "https://example.com", type: type)
    case .boolean: .boolean(true)
    default: PropertyValue(text: type == .binary || type == .transformable ? "AAAA" : "1", type: type)
    }
  }

  @Test func byEntityName() throws {
    let context = try employees(.inMemory)
    let request = FetchRequest<ManagedObject>(entityName: "Employee", where: Employee.salaryKey < 10, offset: 7)
    #expect(try context.fetchValue(.sum(of: "salary", as: "total"), for: request) == .integer(7))
    #expect(try context.fetchValue(.count(), for: request) == .integer(2))
  }
}
