import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodSQLite
import HeartwoodTesting
import Testing

/// Key paths over a relationship that an entity inherits: its inverse leads back to objects of other entities, too.
@Suite struct InheritedWayBackTests {
  private let scratch: ScratchFolder
  private let coordinator: PersistentStoreCoordinator

  init() throws {
    scratch = try ScratchFolder()
    let model = try ManagedObjectModel(entities: [
      .entity("Thing", .attribute("name", .string, optional: true), .toOne("owner", "Person", inverse: "things")),
      .entity("Plant", parent: "Thing"),
      .entity("Cat", parent: "Thing", .toMany("enemies", "Dog", inverse: "enemy")),
      .entity("Dog", .toOne("enemy", "Cat", inverse: "enemies"), .attribute(try Self.derived())),
      .entity("Person", .attribute("name", .string, optional: true), .toMany("things", "Thing", inverse: "owner")),
    ])
    coordinator = try PersistentStoreCoordinator(
      managedObjectModel: model,
      registry: StoreRegistry([SQLiteStore.self])
    )
    try coordinator.addPersistentStore(type: .sqlite, at: scratch.url.appending(path: "Things.sqlite"))
    try fill()
  }

  private static func derived() throws -> AttributeDescription {
    let expression = try FetchExpression(format: "enemy.owner.name")
    return AttributeDescription(name: "feared", type: .string, derivationExpression: expression)
  }

  /// A dog whose enemy has an owner with a plant.
  private func fill() throws {
    let context = ManagedObjectContext(coordinator)
    let owner = try context.make("Person", ["name": "a"])
    let cat = try context.make("Cat", ["owner": owner])
    try context.make("Plant", ["owner": owner])
    try context.make("Thing", ["owner": owner])
    try context.make("Dog", ["enemy": cat])
    try context.save()
  }

  private static func dogs(_ name: String) throws -> FetchRequest<ManagedObject> {
    FetchRequest(entityName: "Dog", where: try FetchPredicate(format: "enemy.owner.name == %@", name))
  }

  private static func rename(in context: ManagedObjectContext) throws {
    for person in try context.fetch(entityName: "Person") { try person.setValue("b", forKey: "name") }
  }

  @Test func aFetchSeesUnsavedChanges() throws {
    let context = ManagedObjectContext(coordinator)
    try Self.rename(in: context)
    #expect(try context.count(for: Self.dogs("b")) == 1)
    #expect(try context.count(for: Self.dogs("a")) == 0)
  }

  @Test func aChildSeesUnsavedChangesOfItsParent() throws {
    let parent = ManagedObjectContext(coordinator)
    try Self.rename(in: parent)
    let child = ManagedObjectContext(parent: parent)
    #expect(try child.count(for: Self.dogs("b")) == 1)
    #expect(try child.count(for: Self.dogs("a")) == 0)
  }

  @Test func whatIsDerivedFollows() throws {
    let context = ManagedObjectContext(coordinator)
    try Self.rename(in: context)
    try context.save()
    #expect(try context.texts("Dog", "feared") == ["b"])
  }

  @Test func whatIsDerivedFollowsABatch() throws {
    try coordinator.execute(BatchUpdateRequest(entityName: "Person", propertiesToUpdate: ["name": "c"]))
    #expect(try ManagedObjectContext(coordinator).texts("Dog", "feared") == ["c"])
  }
}
