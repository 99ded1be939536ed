import Foundation
import GRDB
import Heartwood
import HeartwoodModel
import HeartwoodTesting
import Testing

@testable import HeartwoodSQLite

/// The model that a store of ours keeps for Core Data.
@Suite("Models in SQLite files that are made here") struct ModelInFileTests {
  private let scratch: ScratchFolder

  init() throws {
    scratch = try ScratchFolder()
  }

  private var url: URL { scratch.url.appending(path: "Store.sqlite") }

  private func model(_ properties: PropertyDescription...) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [EntityDefinition(name: "Item", properties: properties)])
  }

  private func open(_ model: ManagedObjectModel, _ options: StoreOptions = StoreOptions()) throws {
    let coordinator = try SQLiteBench.coordinator(model)
    try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
    coordinator.close()
  }

  private func cached() throws -> ManagedObjectModel? {
    try SQLiteFile.inspect(atPath: url.path) { try SQLiteModelCache.model(in: $0, path: url.path) }
  }

  @Test("A new store has its model, and opens with it where Heartwood's own is gone")
  func made() throws {
    let model = try model(.attribute("name", .string), .attribute("size", .integer32, default: .integer(3)))
    try open(model)
    #expect(try cached() == model)
    let queue = try DatabaseQueue(path: url.path)
    try queue.write { db in
      let list = try #require(try Data.fetchOne(db, sql: "SELECT Z_PLIST FROM Z_METADATA"))
      var members = try #require(
        try PropertyListSerialization.propertyList(from: list, format: nil) as? [String: Any]
      )
      members["HeartwoodModel"] = nil
      let rest = try PropertyListSerialization.data(fromPropertyList: members, format: .binary, options: 0)
      try db.execute(sql: "UPDATE Z_METADATA SET Z_PLIST = ?", arguments: [rest])
    }
    try queue.close()
    #expect(try SQLiteStore.model(ofStoreAt: url) == model)
  }

  @Test("Attributes without a type are in the model of a file, and in no table")
  func untyped() throws {
    let model = try model(
      .attribute("mentions", .undefined, optional: true, transient: true),
      .attribute("name", .string)
    )
    try open(model)
    #expect(try cached() == model)
    #expect(try SQLiteStore.model(ofStoreAt: url) == model)
    let queue = try DatabaseQueue(path: url.path)
    let columns = try queue.read { db in try db.columns(in: "ZITEM").map(\.name) }
    try queue.close()
    #expect(columns.contains("ZNAME") && !columns.contains("ZMENTIONS"))
  }

  @Test("A migration puts the new model there, or none where there is no archive of it")
  func migrated() throws {
    try open(try model(.attribute("name", .string, optional: true)))
    var options = StoreOptions()
    options[.shouldMigrateStoreAutomatically] = true
    options[.shouldInferMappingModelAutomatically] = true
    let newer = try model(.attribute("name", .string, optional: true), .attribute("size", .double, optional: true))
    try open(newer, options)
    #expect(try cached() == newer)
    let strange = try model(
      .attribute("name", .string, optional: true),
      .attribute("size", .double, optional: true),
      .attribute(
        "more",
        .integer16,
        optional: true,
        rules: AttributeRules(
          predicates: [try ValidationPredicate("SELF BETWEEN {1, 2}", warning: "is neither 1 nor 2.")]
        )
      )
    )
    try open(strange, options)
    #expect(try cached() == nil)
    #expect(try SQLiteStore.model(ofStoreAt: url) == strange)
  }

  @Test("A model without an archive does not keep a store from being made")
  func gap() throws {
    let strange = try model(.attribute("blob", .binary, default: .binary(Data([1]))))
    try open(strange)
    #expect(try cached() == nil)
    #expect(try SQLiteStore.model(ofStoreAt: url) == strange)
  }
}
