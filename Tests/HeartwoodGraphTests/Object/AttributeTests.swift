import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

enum Priority: Int16, AttributeValue {
  case low = 1
  case high = 2
  static let absentValue = low
}

@Suite struct AttributeTests {
  /// An attribute of each type, with a value and a way to write and read it.
  struct Sample: Sendable, CustomTestStringConvertible {
    let type: AttributeType
    let testDescription: String
    let check: @Sendable (Values, ManagedObjectContext) throws -> Void

    init<Value: AttributeValue & Equatable>(_ type: AttributeType, _ value: Value) {
      self.type = type
      testDescription = "\(Value.self) as \(type)"
      check = { object, context in
        let required = AttributeKey<Value>("\(type)")
        let optional = AttributeKey<Value?>("\(type)OrNil")
        #expect(object[required] == Value.absentValue)
        #expect(object[optional] == nil)
        object[required] = value
        object[optional] = value
        #expect(object[required] == value)
        #expect(object[optional] == value)
        try AttributeTests.fillOthers(object)
        try context.save()
        #expect(object[required] == value)
        #expect(object[optional] == value)
        context.refresh(object, mergeChanges: false)
        #expect(object.isFault)
        #expect(object[optional] == value)
        object[optional] = nil
        #expect(object[optional] == nil)
        try context.save()
        #expect(object[optional] == nil)
        #expect(object[required] == value)
      }
    }
  }

  private static let samples: [Sample] = [
    Sample(.integer16, Int16.min), Sample(.integer16, Int32(-1)), Sample(.integer16, Int64(7)),
    Sample(.integer32, Int32.min), Sample(.integer32, Int(9)), Sample(.integer64, Int64.min),
    Sample(.integer64, Int.max),
    Sample(.decimal, Decimal(string: "-12345678901234567890.0123456789") ?? 1), Sample(.double, -0.1),
    Sample(.float, Float.pi), Sample(.string, "Grüße, 世界\u{0}\n"), Sample(.string, ""), Sample(.boolean, true),
    Sample(.date, Date(timeIntervalSinceReferenceDate: -1.25)), Sample(.binary, Data([0, 255, 10])),
    Sample(.binary, Data()), Sample(.transformable, Data([1])), Sample(.uuid, UUID()),
    Sample(.uri, URL(string: "https://example.org/a?b=%20c#d") ?? URL(filePath: "/")),
    Sample(.integer16, Priority.high),
  ]

  /// Gives every required attribute a value, so that the object can be saved.
  static func fillOthers(_ object: Values) throws {
    for attribute in object.entity.attributes where !attribute.isOptional {
      guard try object.propertyValue(forKey: attribute.name).isNull else { continue }
      try object.setPropertyValue(anyValue(of: attribute.type), forKey: attribute.name)
    }
  }

  private static func anyValue(of type: AttributeType) -> PropertyValue {
    switch type {
    case .integer16, .integer32, .integer64: .integer(3)
    case .decimal: .decimal(3)
    case .double: .double(3)
    case .float: .float(3)
    case .string: .string("3")
    case .boolean: .boolean(true)
    case .date: .date(Date(timeIntervalSinceReferenceDate: 3))
    case .binary, .transformable, .undefined: .binary(Data([3]))
    case .uuid: .uuid(UUID())
    case .uri: .uri(URL(filePath: "/3"))
    }
  }

  @Test(arguments: samples, TestStoreKind.allCases)
  func everyTypeIsReadAsWritten(_ sample: Sample, _ kind: TestStoreKind) throws {
    let context = try TestStack(kind).context()
    let check = { try sample.check(try context.insert(Values.self), context) }
    // Its decimal numbers are reals, which hold fewer digits.
    guard kind == .sqlite, sample.type == .decimal else { return try check() }
    #expect(persistenceError { try check() }?.code == .valueUnsupported)
  }

  @Test func aRawValueWithoutCaseIsNone() throws {
    let context = try TestStack().context()
    let object = try context.insert(Values.self)
    try object.setPropertyValue(.integer(99), forKey: "integer16OrNil")
    #expect(object[AttributeKey<Priority?>("integer16OrNil")] == nil)
    #expect(object[AttributeKey<Priority>("integer16OrNil")] == .low)
    #expect(try object.propertyValue(forKey: "integer16OrNil") == .integer(99))
  }

  @Test func aKeyWorksWithSeveralEntitiesAndModels() throws {
    let other = try ManagedObjectModel(
      entities: [.entity("Person", .attribute("age", .integer16, optional: true), .attribute("name", .string))]
    )
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: other, registry: .default)
    let context = try TestStack().context()
    let key = AttributeKey<String>("name")
    let ann = try context.person("Ann")
    let bob = try context.insert(Employee.self)
    let otherContext = ManagedObjectContext(coordinator)
    let stranger = try otherContext.insert(entityName: "Person")
    bob.name = "Bob"
    for _ in 1...2 {
      stranger[key] = "Stranger"
      #expect(ann[key] == "Ann")
      #expect(bob[key] == "Bob")
      #expect(stranger[key] == "Stranger")
      #expect(stranger.managedObjectContext === otherContext)
    }
  }

  @Test func aKeyIsSharedByThreads() async throws {
    let key = AttributeKey<String>("name")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<4 {
        group.addTask {
          let context = try TestStack().context()
          let objects = [try context.insert(Person.self), try context.insert(Employee.self)]
          for round in 0..<200 {
            for object in objects {
              object[key] = "\(number) \(round)"
              #expect(object[key] == "\(number) \(round)")
            }
          }
        }
      }
      try await group.waitForAll()
    }
  }

  // MARK: Mistakes

  @Test func aWrongNameStops() async {
    let stop = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = try TestStack().context().person("Ann")[AttributeKey<String>("nmae")]
    }
    expect(stop, says: "has no property called nmae")
  }

  @Test func aWrongTypeStops() async {
    let stop = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = try TestStack().context().person("Ann")[AttributeKey<Int>("name")]
    }
    expect(stop, says: "Person.name is of another type than its key")
  }

  @Test func aWrongKindOfRelationshipStops() async {
    let stop = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = try TestStack().context().person("Ann")[ToOneKey<Person>("friends")]
    }
    expect(stop, says: "Person.friends is of another type than its key")
  }

  @Test func aWrongClassOfDestinationStops() async {
    let stop = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = try TestStack().context()
      let ann = try context.person("Ann")
      ann.spouse = try context.person("Bob")
      _ = ann[ToOneKey<Book>("spouse")]
    }
    expect(stop, says: "Person.spouse refers to an object of class Person")
  }

  @Test func aTypeThatMayNotHoldTheStoredStops() async {
    let stop = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = try TestStack().context().insert(Values.self)[AttributeKey<Int16>("integer64")]
    }
    expect(stop, says: "Values.integer64 is of another type")
  }
}
