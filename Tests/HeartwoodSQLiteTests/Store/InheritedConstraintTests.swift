import Foundation
import GRDB
import Heartwood
import HeartwoodModel
import HeartwoodStore
import Testing

@testable import HeartwoodSQLite

/// A uniqueness constraint of an entity on an attribute that others of the same table have too.
@Suite struct InheritedConstraintTests {
  private let bench: SQLiteBench

  init() throws {
    bench = try SQLiteBench(
      ManagedObjectModel(entities: [
        EntityDefinition(name: "Base", isAbstract: true, properties: [.attribute("code", .integer32)]),
        EntityDefinition(name: "Left", superentityName: "Base", uniquenessConstraints: [["code"]]),
        EntityDefinition(name: "Lower", superentityName: "Left"),
        EntityDefinition(name: "Right", superentityName: "Base"),
      ])
    )
  }

  private func insert(_ entity: String, _ context: ManagedObjectContext) throws {
    try context.insert(entityName: entity).setValue(1, forKey: "code")
  }

  @Test func othersMayHaveTheSameValue() throws {
    let context = try bench.context()
    try insert("Left", context)
    try insert("Right", context)
    try context.save()
    try insert("Right", context)
    try context.save()
    #expect(try bench.context().count(for: FetchRequest<ManagedObject>(entityName: "Base")) == 3)
    try insert("Lower", context)
    let error = #expect(throws: PersistenceError.self) { try context.save() }
    #expect(error?.code == .constraintConflict)
  }

  private func check(_ entities: [String]) throws {
    let model = bench.model
    try SQLiteStore.checkRecords(of: model) { contents in
      for (number, name) in entities.enumerated() {
        let entity = try #require(model.entity(named: name))
        let row = NodeTable.NewRow(reference: .integer(Int64(number)), values: [.integer(1)])
        contents.tables[entity.ordinal].insert([row])
      }
    }
  }

  @Test func whatIsNotUniqueIsRefusedBeforeItIsWritten() throws {
    try check(["Left", "Right", "Right"])
    let error = try #require(throws: PersistenceError.self) { try check(["Right", "Left", "Right", "Lower"]) }
    #expect(error.code == .constraintConflict)
    #expect(error.context.path == "Store.sqlite")
    #expect((error.context.entity, error.context.property) == ("Lower", "code"))
    #expect(error.message.hasPrefix("Left 1 and Lower 3 have the same code"), "\(error.message)")
  }

  @Test func theIndexIsAboutTheEntitiesOfTheConstraint() throws {
    let schema = try SQLiteSchema(model: bench.model, entities: bench.model.entities)
    #expect(
      schema.indexes.last?.createStatement
        == "CREATE UNIQUE INDEX Z_Left_UNIQUE_code ON ZBASE (ZCODE COLLATE BINARY ASC) WHERE Z_ENT IN (2, 3)"
    )
  }
}
