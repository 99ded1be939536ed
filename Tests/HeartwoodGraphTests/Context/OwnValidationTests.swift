import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

private class Guest: ManagedObject {
  static let nameKey = AttributeKey<String>("name")
  static let ageKey = AttributeKey<Int?>("age")

  var name: String {
    get { self[Self.nameKey] }
    set { self[Self.nameKey] = newValue }
  }
  var age: Int? {
    get { self[Self.ageKey] }
    set { self[Self.ageKey] = newValue }
  }

  override class var propertyValidators: [PropertyValidator] {
    [
      PropertyValidator(ageKey) { (_: Guest, age) in (age ?? 18) < 18 ? "must be 18 at least." : nil },
      PropertyValidator(nameKey) { (guest: Guest, name) in name == "\(guest.age ?? 0)" ? "is the age." : nil },
    ]
  }

  override func validateForInsert() throws {
    if name == "nobody" { throw validationFault("has nobody's name.") }
  }
  override func validateForUpdate() throws {
    if name == "both" {
      throw PersistenceError.validationFailed([
        validationFault("is both.", Self.nameKey), validationFault("is a fault as well.", Self.ageKey),
      ])
    }
    if name == "own" { throw OwnError() }
    if name == "changes" { name = "changed" }
  }
  override func validateForDelete() throws {
    if name == "stays" { throw validationFault("stays.") }
  }
}

private struct OwnError: Error {}

/// A guest with one rule more.
private final class Child: Guest {
  override class var propertyValidators: [PropertyValidator] {
    super.propertyValidators
      + [PropertyValidator(nameKey) { (_: Child, name) in name == "grown" ? "is not a child's." : nil }]
  }
}

@Suite struct OwnValidationTests {
  private static func context() throws -> ManagedObjectContext {
    let model = try ManagedObjectModel(entities: [
      .entity(
        "Guest",
        .attribute("name", .string, rules: AttributeRules(maxLength: 10)),
        .attribute("age", .integer16, optional: true),
        .toMany("hosts", "Guest", inverse: "guests", count: 2...3),
        .toMany("guests", "Guest", inverse: "hosts")
      ),
      .entity("Child", parent: "Guest"),
    ])
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: model,
      registry: .default,
      objectClasses: [Guest.self, Child.self]
    )
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    return ManagedObjectContext(coordinator)
  }

  private func guest(_ name: String, _ age: Int? = nil, in context: ManagedObjectContext) throws -> Guest {
    let guest = try context.insert(Guest.self)
    guest.name = name
    guest.age = age
    return guest
  }

  private func messages(_ body: () throws -> Void) -> [String] {
    persistenceError(body)?.context.validationFaults.map(\.message) ?? []
  }

  @Test func faultsOfModelValidatorsAndHooksComeTogether() throws {
    let context = try Self.context()
    let young = try guest("17", 17, in: context)
    let nobody = try guest("nobody", in: context)
    let long = try guest("a name that is too long", in: context)
    let error = try #require(persistenceError { try context.save() })
    #expect(error.code == .validationFailed && error.cocoaErrorCode == 1560)
    #expect(error.context.objectIDs == [young.objectID, nobody.objectID, long.objectID])
    #expect(
      error.context.validationFaults.map(\.message) == [
        "Guest.age must be 18 at least.", "Guest.name is the age.", "Guest has nobody's name.",
        "Guest.name has 23 characters; at most 10 are allowed.",
      ]
    )
    #expect(error.context.validationFaults.map(\.kind) == [.rejected, .rejected, .rejected, .tooLong])
    #expect(error.context.validationFaults.map(\.property) == ["age", "name", "", "name"])
    young.age = 18
    nobody.name = "somebody"
    long.name = "short"
    try context.save()
  }

  @Test func hooksOfUpdatesAndDeletions() throws {
    let context = try Self.context()
    let guests = try ["a", "b", "stays"].map { try guest($0, in: context) }
    try context.save()
    guests[0].name = "both"
    context.delete(guests[2])
    #expect(
      messages { try context.save() } == ["Guest.name is both.", "Guest.age is a fault as well.", "Guest stays."]
    )
    context.rollback()
    guests[1].name = "own"
    let error = try #require(persistenceError { try context.save() })
    #expect(error.underlyingError is OwnError)
    #expect(error.context.validationFaults.map(\.objectID) == [guests[1].objectID])
    guests[1].name = "nobody"
    try context.save()
  }

  @Test func validatorsAreInherited() throws {
    let context = try Self.context()
    let child = try context.insert(Child.self)
    child.name = "grown"
    child.age = 3
    #expect(messages { try context.save() } == ["Child.age must be 18 at least.", "Child.name is not a child's."])
  }

  @Test func valuesAreCheckedBeforeTheyAreSet() throws {
    let context = try Self.context()
    let guest = try guest("Ann", in: context)
    try guest.validateValue(.integer(18), forKey: "age")
    try guest.validateValue(.null, forKey: "age")
    #expect(messages { try guest.validateValue(.integer(17), forKey: "age") } == ["Guest.age must be 18 at least."])
    #expect(messages { try guest.validateValue(.null, forKey: "name") } == ["Guest.name is required and has no value."])
    #expect(
      persistenceError { try guest.validateValue(.string("x"), forKey: "age") }?.context.validationFaults.count == 1
    )
    let one = PropertyValue.toMany([guest.objectID])
    #expect(
      messages { try guest.validateValue(one, forKey: "hosts") } == [
        "Guest.hosts refers to 1 objects; at least 2 are required."
      ]
    )
    #expect(persistenceError { try guest.validateValue(.null, forKey: "nme") }?.code == .propertyUnknown)
  }

  @Test func countsOfRelationshipsAreChecked() throws {
    let context = try Self.context()
    let guests = try (0..<5).map { try guest("\($0)x", in: context) }
    guests[0][ToManyKey<Guest>("hosts")] = [guests[1]]
    #expect(messages { try context.save() } == ["Guest.hosts refers to 1 objects; at least 2 are required."])
    guests[0][ToManyKey<Guest>("hosts")] = Array(guests[1...])
    #expect(messages { try context.save() } == ["Guest.hosts refers to 4 objects; at most 3 are allowed."])
    guests[0][ToManyKey<Guest>("hosts")] = [guests[1], guests[2]]
    try context.save()
  }

  @Test func changingAnObjectThatIsValidatedStops() async {
    let stop = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = try Self.context()
      let guest = try context.insert(Guest.self)
      guest.name = "Ann"
      try context.save()
      guest.name = "changes"
      try context.save()
    }
    expect(stop, says: "cannot be changed while objects are validated. Change it in willSave().")
  }

  @Test func aValidatorOfAnUnknownPropertyStops() async {
    let stop = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      final class Odd: ManagedObject {
        override class var propertyValidators: [PropertyValidator] {
          [PropertyValidator(AttributeKey<Int>("nme")) { (_: Odd, _) in nil }]
        }
      }
      let model = try ManagedObjectModel(entities: [.entity("Odd", .attribute("name", .string))])
      let coordinator = try PersistentStoreCoordinator(
        managedObjectModel: model,
        registry: .default,
        objectClasses: [Odd.self]
      )
      _ = try ManagedObjectContext(coordinator).insert(Odd.self)
    }
    expect(stop, says: "Odd has no property called nme")
  }
}
