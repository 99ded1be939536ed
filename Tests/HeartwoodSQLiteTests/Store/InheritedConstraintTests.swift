import Foundation
import GRDB
import Heartwood
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodSQLite

/// A uniqueness constraint of an entity on an attribute that others of the same table have too.
@Suite struct InheritedConstraintTests {
  private let scratch: ScratchFolder
  private let model: ManagedObjectModel

  init() throws {
    scratch = try ScratchFolder()
    model = try ManagedObjectModel(entities: [
      EntityDefinition(name: "Base", isAbstract: true, properties: [.attribute("code", .integer32)]),
      EntityDefinition(name: "Left", superentityName: "Base", uniquenessConstraints: [["code"]]),
      EntityDefinition(name: "Lower", superentityName: "Left"),
      EntityDefinition(name: "Right", superentityName: "Base"),
    ])
  }

  private func context() throws -> ManagedObjectContext {
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: model,
      registry: StoreRegistry([SQLiteStore.self])
    )
    try coordinator.addPersistentStore(type: .sqlite, at: scratch.url.appending(path: "Store.sqlite"))
    return ManagedObjectContext(coordinator)
  }

  private func insert(_ entity: String, _ context: ManagedObjectContext) throws {
    try context.insert(entityName: entity).setValue(1, forKey: "code")
  }

  @Test func othersMayHaveTheSameValue() throws {
    let context = try context()
    try insert("Left", context)
    try insert("Right", context)
    try context.save()
    try insert("Right", context)
    try context.save()
    #expect(try self.context().count(for: FetchRequest<ManagedObject>(entityName: "Base")) == 3)
    try insert("Lower", context)
    let error = #expect(throws: PersistenceError.self) { try context.save() }
    #expect(error?.code == .constraintConflict)
  }

  @Test func theIndexIsAboutTheEntitiesOfTheConstraint() throws {
    let schema = try SQLiteSchema(model: model, entities: model.entities)
    #expect(
      schema.indexes.last?.createStatement
        == "CREATE UNIQUE INDEX Z_Left_UNIQUE_code ON ZBASE (ZCODE COLLATE BINARY ASC) WHERE Z_ENT IN (2, 3)"
    )
  }
}
