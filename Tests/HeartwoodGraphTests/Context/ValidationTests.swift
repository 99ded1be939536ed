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

  // MARK: Relationships

  /// A context over a store, or over a parent. Nothing leads back from what an order leads to.
  private static func orders(isChild: Bool) throws -> ManagedObjectContext {
    let model = try ManagedObjectModel(entities: [
      .entity(
        "Order",
        .toOne("customer", "Customer", inverse: nil, optional: false),
        .toMany("items", "Item", inverse: nil, optional: false, count: 2...5),
        .toMany("remarks", "Item", inverse: nil)
      ),
      .entity("Customer", .attribute("name", .string, optional: true)),
      .entity("Item", .attribute("name", .string, optional: true)),
    ])
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = ManagedObjectContext(coordinator)
    return isChild ? ManagedObjectContext(parent: context) : context
  }

  private static func order(_ context: ManagedObjectContext) throws -> ManagedObject {
    let order = try context.insert(entityName: "Order")
    try order.setValue(try context.insert(entityName: "Customer"), forKey: "customer")
    try order.setValue(try (0..<3).map { _ in try context.insert(entityName: "Item") }, forKey: "items")
    return order
  }

  private static func faults(_ context: ManagedObjectContext) -> [String] {
    let error = persistenceError { try context.save() }
    return error?.context.validationFaults.map { "\($0.property) \($0.kind)" } ?? []
  }

  @Test(arguments: [false, true])
  func aLinkToANewObjectThatIsGoneCountsForNothing(_ isChild: Bool) throws {
    let context = try Self.orders(isChild: isChild)
    let order = try Self.order(context)
    let items = try #require(try order.value(forKey: "items") as? [ManagedObject])
    try order.setValue([items[0]], forKey: "remarks")
    context.delete(items[0])
    // Two items are enough, and a remark need not be.
    try context.save()
    let other = try context.insert(entityName: "Customer")
    try order.setValue(other, forKey: "customer")
    context.delete(other)
    #expect(Self.faults(context) == ["customer missingValue"])
    context.rollback()
    let last = try Self.order(context)
    let goers = try #require(try last.value(forKey: "items") as? [ManagedObject])
    goers.dropFirst().forEach(context.delete)
    #expect(Self.faults(context) == ["items tooFew"])
    context.delete(goers[0])
    context.delete(try #require(try last.value(forKey: "customer") as? ManagedObject))
    #expect(Self.faults(context) == ["customer missingValue", "items missingValue"])
  }
}
