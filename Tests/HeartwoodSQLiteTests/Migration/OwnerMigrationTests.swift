import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

@testable import HeartwoodSQLite

/// What becomes of the owners that rows tell, where a migration takes a relationship without an inverse from some of them.
@Suite struct OwnerMigrationTests {
  /// Rows of things tell whose they are by a key alone.
  @Test func whoHasARelationshipNoMoreOwnsNothing() throws {
    func model(_ box: [PropertyDescription], _ crate: [PropertyDescription]) throws -> ManagedObjectModel {
      try ManagedObjectModel(entities: [
        EntityDefinition(name: "Box", properties: box),
        EntityDefinition(name: "Crate", superentityName: "Box", properties: crate), .entity("Thing"),
      ])
    }
    let things = PropertyDescription.toMany("things", "Thing", inverse: nil)
    let (old, new) = (try model([things], []), try model([], [things]))
    let migration = try TwoWayMigration(from: old, to: new) { context in
      for entity in ["Box", "Crate"] {
        try context.insert(entityName: entity).setValue([try context.insert(entityName: "Thing")], forKey: "things")
      }
    }
    #expect(try migration.run() == false)
    let coordinator = try SQLiteBench.coordinator(new)
    try coordinator.addPersistentStore(type: .sqlite, at: migration.url("Store.sqlite"))
    let context = ManagedObjectContext(coordinator)
    let crate = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Crate")).first)
    let all = try context.fetch(FetchRequest<ManagedObject>(entityName: "Thing"))
    #expect((try crate.value(forKey: "things") as? [ManagedObject])?.count == 1)
    try crate.setValue(all, forKey: "things")
    try context.save()
    coordinator.close()
  }
}
