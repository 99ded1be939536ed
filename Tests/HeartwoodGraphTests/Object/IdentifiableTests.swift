import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

/// A class whose property is called as the requirement of `Identifiable` is.
private class Ticket: ManagedObject {
  static let idKey = AttributeKey<String>("id")

  var id: String {
    get { self[Self.idKey] }
    set { self[Self.idKey] = newValue }
  }
}

private final class SeasonTicket: Ticket {}

/// Objects as views take them.
@Suite struct IdentifiableTests {
  private func identity<Object: Identifiable>(_ object: Object) -> Object.ID { object.id }

  @Test func objectsAreToldApartByTheirIDs() throws {
    let context = try TestStack().context()
    let (ann, bob) = (try context.person("Ann"), try context.person("Bob"))
    try context.save()
    #expect(identity(ann) == ann.objectID && identity(ann) != identity(bob))
    #expect(ann.id == ann.objectID && (ann as ManagedObject).id == ann.objectID)
    #expect([ann, bob].map(\.id) == [ann.objectID, bob.objectID])
  }

  @Test func aPropertyMayBeCalledID() throws {
    let model = try ManagedObjectModel(entities: [
      .entity("Ticket", .attribute("id", .string, default: .string(""))), .entity("SeasonTicket", parent: "Ticket"),
    ])
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: model,
      registry: .default,
      objectClasses: [Ticket.self, SeasonTicket.self]
    )
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = ManagedObjectContext(coordinator)
    let (day, season) = (try context.insert(Ticket.self), try context.insert(SeasonTicket.self))
    (day.id, season.id) = ("a", "a")
    try context.save()
    #expect(day.id == "a" && identity(day) == day.objectID && identity(season) == season.objectID)
    #expect(try context.fetch(Ticket.self, where: Ticket.idKey == "a").count == 2)
    #expect(try context.fetch(entityName: "Ticket").map { try $0.value(forKey: "id") as? String } == ["a", "a"])
  }
}
