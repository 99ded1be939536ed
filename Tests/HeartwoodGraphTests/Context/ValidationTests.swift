import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

@Suite struct ValidationTests {
  private static func context() throws -> ManagedObjectContext {
    let age = AttributeRules(minValue: .integer(0), maxValue: .integer(150))
    let model = try ManagedObjectModel(entities: [
      .entity(
        "Member",
        .attribute("name", .string, rules: AttributeRules(minLength: 2, maxLength: 20, pattern: "[^,]*")),
        .attribute("age", .integer16, optional: true, rules: age)
      )
    ])
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    return ManagedObjectContext(coordinator)
  }

  private static func member(_ name: String?, _ age: Int16?, in context: ManagedObjectContext) throws -> ManagedObject {
    let member = try context.insert(entityName: "Member")
    try member.setPropertyValue(name.map(PropertyValue.string) ?? .null, forKey: "name")
    try member.setPropertyValue(age.map { .integer(Int64($0)) } ?? .null, forKey: "age")
    return member
  }

  @Test func aSaveGathersTheFaultsOfAllObjects() throws {
    let context = try Self.context()
    let sound = try Self.member("Ann", 44, in: context)
    try context.save()
    try sound.setPropertyValue(.integer(-1), forKey: "age")
    let other = try Self.member(",", 151, in: context)
    let nameless = try Self.member(nil, nil, in: context)
    let error = try #require(persistenceError { try context.save() })
    #expect(error.code == .validationFailed)
    #expect(error.cocoaErrorCode == 1560)
    let faults = error.context.validationFaults
    #expect(Set(error.context.objectIDs) == [sound.objectID, other.objectID, nameless.objectID])
    func found(_ object: ManagedObject) -> [String] {
      faults.filter { $0.objectID == object.objectID }.map { "\($0.entity).\($0.property) \($0.kind)" }
    }
    #expect(found(sound) == ["Member.age tooSmall"])
    #expect(found(other) == ["Member.name tooShort", "Member.name patternMismatch", "Member.age tooGreat"])
    #expect(found(nameless) == ["Member.name missingValue"])
    #expect(faults.count == 5)
  }

  @Test func whatWasMendedIsSaved() throws {
    let context = try Self.context()
    let member = try Self.member("Bo", 150, in: context)
    try member.setPropertyValue(.string("A name that is too long for it"), forKey: "name")
    let error = try #require(persistenceError { try context.save() })
    #expect(error.cocoaErrorCode == 1660)
    #expect(member.isInserted)
    try member.setPropertyValue(.string("Bob"), forKey: "name")
    try context.save()
    #expect(!member.isInserted)
    #expect(try context.count(entityName: "Member") == 1)
  }
}
