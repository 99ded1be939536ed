import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

/// Values that no store can keep as those of their attributes: objects take them, and saves say what is wrong.
@Suite struct OutOfRangeValueTests {
  private static let names = [
    "integer16": 70_000, "integer16OrNil": -70_000, "integer32": 1 << 40, "integer32OrNil": -1 << 40,
  ]

  /// An object with a value for everything that is required.
  private func values(_ context: ManagedObjectContext) throws -> Values {
    let values = try context.insert(Values.self)
    for property in values.entity.properties {
      guard let attribute = property.attribute, !attribute.isOptional else { continue }
      try values.setPropertyValue(Self.value(attribute.type), forKey: property.name)
    }
    return values
  }

  private static func value(_ type: AttributeType) -> PropertyValue {
    switch type {
    case .integer16, .integer32, .integer64: .integer(1)
    case .decimal: .decimal(1)
    case .double: .double(1)
    case .float: .float(1)
    case .string: .string("1")
    case .boolean: .boolean(true)
    case .date: .date(Date(timeIntervalSinceReferenceDate: 1))
    case .uuid: .uuid(UUID())
    case .uri: .uri(URL.aboutBlank)
    default: .binary(Data([1]))
    }
  }

  private func faults(_ context: ManagedObjectContext) -> [ValidationFault] {
    let error = persistenceError { try context.save() }
    #expect(error?.code == .validationFailed)
    return error?.context.validationFaults ?? []
  }

  @Test(arguments: TestStoreKind.allCases, [false, true])
  func integersAreKeptAndReported(_ kind: TestStoreKind, _ isSaved: Bool) throws {
    let stack = try TestStack(kind)
    let context = stack.context()
    let object = try values(context)
    if isSaved { try context.save() }
    for (name, number) in Self.names {
      object[AttributeKey<Int?>(name)] = number
      #expect(object[AttributeKey<Int?>(name)] == number)
      #expect(try object.value(forKey: name) as? Int == number)
      // A type that is too narrow gives nothing, rather than something else.
      if name.hasPrefix("integer16") { #expect(object[AttributeKey<Int16?>(name)] == nil) }
    }
    let faults = faults(context)
    #expect(Set(faults.map(\.property)) == Set(Self.names.keys))
    for fault in faults {
      let isNegative = Self.names[fault.property].map { $0 < 0 } ?? false
      #expect(fault.objectID == object.objectID && fault.kind == (isNegative ? .tooSmall : .tooGreat))
      #expect(fault.message.contains("out of its range"))
    }
    #expect(try stack.context().count(entityName: "Values") == (isSaved ? 1 : 0))
    for name in Self.names.keys { object[AttributeKey<Int?>(name)] = 7 }
    try context.save()
    let other = try #require(try stack.context().fetch(Values.self).first)
    for name in Self.names.keys { #expect(other[AttributeKey<Int?>(name)] == 7) }
  }

  @Test(arguments: TestStoreKind.allCases)
  func everyWayToSetOneIsTheSame(_ kind: TestStoreKind) throws {
    let context = try TestStack(kind).context()
    let object = try values(context)
    try context.save()
    let ways: [(String, () throws -> Void)] = [
      ("key", { object[AttributeKey<Int>("integer16")] = 40_000 }),
      ("primitive key", { object[primitive: AttributeKey<Int>("integer16")] = 40_000 }),
      ("name", { try object.setValue(40_000, forKey: "integer16") }),
      ("value", { try object.setPropertyValue(.integer(40_000), forKey: "integer16") }),
      ("primitive value", { try object.setPrimitiveValue(.integer(40_000), forKey: "integer16") }),
    ]
    for (way, set) in ways {
      try set()
      #expect(try object.propertyValue(forKey: "integer16") == .integer(40_000), "\(way)")
      #expect(faults(context).map(\.property) == ["integer16"], "\(way)")
      context.rollback()
      #expect(object[AttributeKey<Int>("integer16")] == 1)
    }
  }

  @Test func undoTakesOneBack() throws {
    let context = try TestStack().context()
    let object = try values(context)
    try context.save()
    context.undoManager = GraphUndoManager()
    object[AttributeKey<Int>("integer16")] = 40_000
    context.processPendingChanges()
    context.undo()
    #expect(object[AttributeKey<Int>("integer16")] == 1)
    context.redo()
    #expect(object[AttributeKey<Int>("integer16")] == 40_000)
  }

  @Test(arguments: TestStoreKind.allCases)
  func fetchesFindThemAsTheyAre(_ kind: TestStoreKind) throws {
    let context = try TestStack(kind).context()
    let object = try values(context)
    try context.save()
    object[AttributeKey<Int>("integer16")] = 40_000
    let condition = try FetchPredicate(format: "integer16 > 39999")
    #expect(try context.fetch(Values.self, where: condition) == [object])
    let (controller) = FetchedResultsController<Values>(FetchRequest(where: condition), in: context)
    try controller.performFetch()
    #expect(controller.numberOfObjects == 1)
    object[AttributeKey<Int>("integer16")] = 1
    context.processPendingChanges()
    #expect(controller.numberOfObjects == 0)
  }

  /// What no table can hold is not published.
  @Test(arguments: TestStoreKind.allCases, [false, true])
  func childrenSeeWhatWasSavedLast(_ kind: TestStoreKind, _ isSaved: Bool) throws {
    let parent = try TestStack(kind).context()
    let object = try values(parent)
    if isSaved { try parent.save() }
    let key = AttributeKey<Int?>("integer16OrNil")
    object[key] = 40_000
    object[AttributeKey<String>("string")] = "2"
    let child = ManagedObjectContext(parent: parent)
    let seen = try #require(try child.fetch(Values.self).first)
    #expect(seen[AttributeKey<String>("string")] == "2")
    #expect(seen[key] == nil)
    seen[AttributeKey<String>("string")] = "3"
    try child.save()
    #expect(object[AttributeKey<String>("string")] == "3" && object[key] == 40_000)
    #expect(faults(parent).map(\.property) == ["integer16OrNil"])
    seen[key] = 50_000
    #expect(faults(child).map(\.property) == ["integer16OrNil"])
  }

  /// What a store cannot keep of other types: it is saved and read as it is, or refused with the place.
  @Test(arguments: TestStoreKind.allCases)
  func numbersThatAreNoneAreSavedOrRefused(_ kind: TestStoreKind) throws {
    let strange: [(String, PropertyValue)] = [
      ("double", .double(.nan)), ("double", .double(.infinity)), ("float", .float(.nan)), ("float", .float(-.infinity)),
      ("date", .date(Date(timeIntervalSinceReferenceDate: .nan))),
      ("date", .date(Date(timeIntervalSinceReferenceDate: .infinity))),
      ("date", .date(Date(timeIntervalSinceReferenceDate: 1e300))),
      ("decimal", .decimal(.nan)), ("decimal", .decimal(.greatestFiniteMagnitude)),
      ("decimal", .decimal(.leastFiniteMagnitude)), ("decimal", .decimal(.leastNonzeroMagnitude)),
    ]
    for (name, value) in strange {
      let stack = try TestStack(kind)
      let context = stack.context()
      let object = try values(context)
      try object.setPropertyValue(value, forKey: name)
      #expect(try object.propertyValue(forKey: name) == value)
      guard let error = persistenceError({ try context.save() }) else {
        let found = try #require(try stack.context().fetch(Values.self).first)
        #expect(try found.propertyValue(forKey: name) == value, "\(value)")
        continue
      }
      #expect([.validationFailed, .valueUnsupported].contains(error.code), "\(error)")
      let faults = error.context.validationFaults
      #expect(faults.isEmpty ? error.context.property == name : faults.map(\.property) == [name], "\(error)")
      #expect(faults.isEmpty ? error.context.entity == "Values" : faults[0].objectID == object.objectID, "\(error)")
    }
  }

  @Test func dataThatIsTooLongIsReported() throws {
    let context = try TestStack().context()
    let object = try values(context)
    // Nobody writes to these bytes, so that they take no memory.
    object[AttributeKey<Data>("binary")] = Data(count: 1 << 30 + 1)
    #expect(faults(context).map(\.kind) == [.tooLong])
    object[AttributeKey<Data>("binary")] = Data([1])
    try context.save()
  }
}

extension URL {
  fileprivate static var aboutBlank: URL { URL(filePath: "/") }
}

/// Values that cannot be turned into the bytes that their attributes keep.
@Suite struct UnencodableValueTests {
  private struct Mood: CodableAttributeValue {
    struct Failure: Error {}
    var isGood = true
    static let absentValue = Mood()

    func encode(to encoder: any Encoder) throws {
      if !isGood { throw Failure() }
      var container = encoder.singleValueContainer()
      try container.encode(isGood)
    }

    init(isGood: Bool = true) { self.isGood = isGood }
    init(from decoder: any Decoder) throws { isGood = try decoder.singleValueContainer().decode(Bool.self) }
  }

  private struct MoodTransformer: AttributeTransformer {
    func data(from value: Mood) throws -> Data {
      if !value.isGood { throw Mood.Failure() }
      return Data([1])
    }

    func value(from data: Data) throws -> Mood { Mood() }
  }

  private final class Day: ManagedObject {
    static let moodKey = AttributeKey<Mood?>("mood")
    static let colorKey = TransformedKey<Mood>("color")
  }

  private func context() throws -> ManagedObjectContext {
    AttributeTransformers.register(MoodTransformer(), forName: "MoodTransformer")
    var color = AttributeDescription(name: "color", type: .transformable, valueTransformerName: "MoodTransformer")
    color.isOptional = true
    let model = try ManagedObjectModel(
      entities: [.entity("Day", .attribute("mood", .transformable, optional: true), .attribute(color))]
    )
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: model, objectClasses: [Day.self])
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    return ManagedObjectContext(coordinator)
  }

  @Test func theSaveReportsThem() throws {
    let context = try context()
    let day = try context.insert(Day.self)
    day[Day.moodKey] = Mood(isGood: false)
    day[Day.colorKey] = Mood(isGood: false)
    #expect(day[Day.moodKey] == nil && day[Day.colorKey] == nil)
    let error = try #require(persistenceError { try context.save() })
    #expect(error.code == .validationFailed)
    let faults = error.context.validationFaults
    #expect(Set(faults.map(\.property)) == ["mood", "color"])
    #expect(faults.allSatisfy { $0.kind == .rejected && $0.objectID == day.objectID })
    #expect(faults.allSatisfy { $0.message.contains("a Mood, cannot be converted to bytes") }, "\(faults)")
    day[Day.moodKey] = Mood()
    day[Day.colorKey] = nil
    try context.save()
    #expect(day[Day.moodKey]?.isGood == true)
  }
}
