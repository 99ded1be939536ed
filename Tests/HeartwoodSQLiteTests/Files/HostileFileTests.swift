import Foundation
import GRDB
import Heartwood
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodSQLite

@Suite("Files that somebody has tampered with") struct HostileFileTests {
  @Test("Changed bytes give a schema or an error, never a trap")
  func mutations() throws {
    let seed = UInt64.random(in: .min ... .max)
    print("seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    let scratch = try ScratchFolder()
    let (path, copy) = (scratch.path("Store.sqlite"), scratch.path("Copy.sqlite"))
    let model = try FeatureModel.model()
    try create(path, model)
    let original = [UInt8](try Data(contentsOf: URL(filePath: path)))
    for _ in 0..<150 {
      var bytes = original
      for _ in 0..<Int.random(in: 1...40, using: &generator) {
        bytes[Int.random(in: 100..<bytes.count, using: &generator)] = .random(in: .min ... .max, using: &generator)
      }
      try Data(bytes).write(to: URL(filePath: copy))
      do throws(PersistenceError) { try look(copy, model) } catch {
        #expect(!error.message.isEmpty && error.context.path == copy, "seed \(seed): \(error)")
      }
    }
  }

  private func create(_ path: String, _ model: ManagedObjectModel) throws {
    let schema = try SQLiteSchema(model: model, entities: model.entities)
    try SQLiteFile.create(atPath: path) { db in
      try schema.create(in: db)
      try SQLiteMetadata(StoreMetadata(storeType: .sqlite)).write(to: db, model: model)
    }
  }

  private func look(_ path: String, _ model: ManagedObjectModel) throws(PersistenceError) {
    try SQLiteFile.inspect(atPath: path) { db in
      _ = try SQLiteMetadata.read(from: db, path: path)
      _ = try SQLiteModelCache.model(in: db, path: path)
      _ = try SQLiteSchema.existing(in: db, model: model, entities: model.entities, path: path)
    }
  }

  @Test("The schema of a file cannot call functions that are not SQLite's own")
  func untrustedSchema() throws {
    let scratch = try ScratchFolder()
    let path = scratch.path("Store.sqlite")
    try SQLiteFile.create(atPath: path) { db in
      try db.execute(sql: "CREATE TABLE ZA (Z_PK INTEGER PRIMARY KEY); INSERT INTO ZA VALUES (1)")
      try db.execute(sql: "CREATE VIEW ZB AS SELECT \(DatabaseFunction.uppercase.name)('a') FROM ZA")
    }
    let file = try SQLiteFile.open(atPath: path)
    let error = try #require(throws: PersistenceError.self) {
      try file.read { try Row.fetchAll($0, sql: "SELECT * FROM ZB") }
    }
    #expect(error.message.contains("unsafe use"))
    try file.close()
  }

  @Test("A row whose key is no number is told")
  func keysThatAreNoNumbers() throws {
    let bench = try SQLiteBench(ManagedObjectModel(entities: [.entity("Note", .attribute("text", .string))]))
    func store() throws -> PersistentStore {
      try bench.coordinator().addPersistentStore(type: .sqlite, at: bench.url())
    }
    _ = try store()
    try DatabaseQueue(path: bench.url().path).write { db in
      try db.execute(sql: "DROP TABLE ZNOTE")
      try db.execute(
        sql: "CREATE TABLE ZNOTE (Z_PK VARCHAR PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTEXT VARCHAR)"
      )
      try db.execute(sql: "INSERT INTO ZNOTE VALUES ('abc', 1, 1, 'a'), ('abd', 1, 1, 'b')")
    }
    let note = try #require(bench.model.entity(named: "Note"))
    let error = bench.error { _ = try store().engine.contents().table(of: note) }
    #expect(
      error?.code == .fileMalformed && error?.message.contains("its key (Z_PK)") == true,
      "\(String(describing: error))"
    )
  }
}
