import Foundation
import GRDB
import HeartwoodModel
import HeartwoodTesting
import Testing

@testable import HeartwoodSQLite

@Suite(
  "The schemas of files that Core Data made, from public repositories",
  .enabled(if: SQLiteCorpus.folder != nil, "set HEARTWOOD_CORPUS to the folder of the corpus")
)
struct SchemaCorpusTests {
  /// Files whose indexes are the same, but for their names.
  private static let otherIndexNames: [String: String] = [
    "ArtsyPartner_1.3.sqlite": oldFramework, "ArtsyPartner_1.3.5.sqlite": oldFramework,
    "ArtsyPartner_1.4.sqlite": oldFramework, "ArtsyPartner_1.6.sqlite": oldFramework, "Moody.moody": oldFramework,
    "Moody 2.moody": oldFramework, "Moody 3.moody": oldFramework, "Moody 4.moody": oldFramework,
    "knowledgec-10.13.db": "framework 851 writes a constraint into the table",
    "Bookmarks_V2.sqlite": declaredTwice, "Bookmarks_V3.sqlite": declaredTwice, "Bookmarks_V4.sqlite": declaredTwice,
    "Bookmarks_V5.sqlite": declaredTwice,
  ]

  private static let oldFramework =
    "frameworks up to 637 call indexes after columns, and write constraints into the table"
  private static let declaredTwice = "the model asks for the same index twice, in the old way and in the new one"

  /// Files of frameworks that make no index of tables of relationships, and keep no model.
  private static let oldest: Set<String> = [
    "ArtsyPartner_1.3.sqlite", "ArtsyPartner_1.3.5.sqlite", "ArtsyPartner_1.4.sqlite", "ArtsyPartner_1.6.sqlite",
  ]

  private func kept(_ model: ManagedObjectModel, _ store: SQLiteCorpus.Store) -> [EntityDescription] {
    model.entities.filter { store.versionHashes[$0.name] != nil }
  }

  @Test("A new file of the model has the same tables, columns and indexes", arguments: SQLiteCorpus.stores)
  func newFile(_ store: SQLiteCorpus.Store) throws {
    let scratch = try ScratchFolder()
    let path = try SQLiteCorpus.copy(store, to: scratch)
    let original = try SQLiteFile.inspect(atPath: path) { try SchemaShape($0) }
    for (index, model) in try SQLiteCorpus.models(store, path: path).enumerated() {
      let schema = try SQLiteSchema(model: model, entities: kept(model, store))
      let fresh = scratch.path("New\(index).sqlite")
      try SQLiteFile.create(atPath: fresh) { db in try schema.create(in: db) }
      var made = try SQLiteFile.inspect(atPath: fresh) { try SchemaShape($0) }
      if Self.oldest.contains(store.name) { made = made.withoutWhatIsNew(schema) }
      if Self.otherIndexNames[store.name] == nil {
        #expect(made.differences(from: original).isEmpty, "\(made.differences(from: original))")
      } else {
        #expect(made.tables == original.tables, "\(made.differences(from: original))")
        #expect(made.indexContents == original.indexContents)
      }
    }
  }

  @Test("The statements are Core Data's, to the letter", arguments: SQLiteCorpus.stores)
  func statements(_ store: SQLiteCorpus.Store) throws {
    let scratch = try ScratchFolder()
    let path = try SQLiteCorpus.copy(store, to: scratch)
    // Constraints stand in the tables of older files.
    guard store.framework > 851, let model = try SQLiteCorpus.models(store, path: path).last else { return }
    let original = try SQLiteFile.inspect(atPath: path) { db in
      try String.fetchSet(
        db,
        sql: """
          SELECT sql FROM sqlite_master
          WHERE type IN ('table', 'index', 'trigger') AND tbl_name LIKE 'Z%' AND sql IS NOT NULL
          """
      )
    }
    for statement in try SQLiteSchema(model: model, entities: kept(model, store)).createStatements {
      #expect(original.contains(statement), "\(statement)")
    }
  }

  @Test("Every property is found in the file, with the numbers that the file has", arguments: SQLiteCorpus.stores)
  func existing(_ store: SQLiteCorpus.Store) throws {
    let scratch = try ScratchFolder()
    let path = try SQLiteCorpus.copy(store, to: scratch)
    for model in try SQLiteCorpus.models(store, path: path) {
      let schema = try SQLiteFile.inspect(atPath: path) {
        try SQLiteSchema.existing(in: $0, model: model, entities: kept(model, store), path: path)
      }
      let planned = try SQLiteSchema(model: model, entities: kept(model, store))
      #expect(schema.entities.map(\.?.number) == planned.entities.map(\.?.number))
      #expect(schema.entities.map(\.?.properties) == planned.entities.map(\.?.properties))
      for placement in schema.entities.compactMap(\.self) {
        for (property, place) in zip(placement.entity.properties, placement.properties) {
          #expect((place == nil) == property.isTransient, "\(placement.entity.name).\(property.name)")
        }
      }
      #expect(schema.writeRefusals.isEmpty, "\(schema.writeRefusals)")
    }
  }
}

extension SchemaShape {
  /// Without what frameworks up to 479 do not make.
  fileprivate func withoutWhatIsNew(_ schema: SQLiteSchema) -> SchemaShape {
    let joins = Set(schema.tables.filter { !$0.compoundKey.isEmpty }.map(\.name))
    let new = Set(schema.indexes.filter { joins.contains($0.tableName) }.map(\.name))
    var shape = self
    shape.tables["Z_MODELCACHE"] = nil
    shape.indexes = indexes.filter { !new.contains($0.key) }
    return shape
  }
}
