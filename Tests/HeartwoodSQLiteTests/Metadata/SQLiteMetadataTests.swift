import Foundation
import GRDB
import HeartwoodModel
import HeartwoodStore
import Testing

@testable import HeartwoodSQLite

@Suite("Metadata in SQLite files") struct SQLiteMetadataTests {
  private static let frameworkKey = "NSPersistenceFrameworkVersion"
  private static let digestKey = "NSStoreModelVersionHashesDigest"
  private static let checksumKey = "NSStoreModelVersionChecksumKey"

  private let model: ManagedObjectModel
  private let queue: DatabaseQueue

  init() throws {
    model = try FeatureModel.model()
    queue = try DatabaseQueue()
    let schema = try SQLiteSchema(model: model, entities: model.entities)
    try queue.write { try schema.create(in: $0) }
  }

  private func read() throws -> SQLiteMetadata {
    try queue.read { try SQLiteMetadata.read(from: $0, path: "Store.sqlite") }
  }

  /// What is in the file, by Foundation's own reader.
  private func list() throws -> [String: Any] {
    let data = try #require(try queue.read { try Data.fetchOne($0, sql: "SELECT Z_PLIST FROM Z_METADATA") })
    return try #require(try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
  }

  private func put(_ members: [String: Any], format: PropertyListSerialization.PropertyListFormat) throws {
    let data = try PropertyListSerialization.data(fromPropertyList: members, format: format, options: 0)
    try queue.write { db in
      try db.execute(
        sql: "DELETE FROM Z_METADATA; INSERT INTO Z_METADATA VALUES (1, ?, ?)",
        arguments: [UUID().uuidString, data]
      )
    }
  }

  private func new() -> StoreMetadata {
    var metadata = StoreMetadata(storeType: .sqlite)
    metadata.setModel(model.entities, versionIdentifiers: model.versionIdentifiers)
    metadata.userInfo = ["Author": "me", "Colours": .array(["red", .dictionary(["Heartwood.date": 1.5])]), "Ö": true]
    return metadata
  }

  @Test("What is written is read")
  func roundTrip() throws {
    let metadata = new()
    try queue.write { try SQLiteMetadata(metadata).write(to: $0, model: model) }
    let read = try read()
    #expect(read.metadata == metadata)
    #expect(read.embeddedModel == model)
    #expect(read.frameworkMembers[Self.frameworkKey] != nil)
    let row = try queue.read { try Row.fetchAll($0, sql: "SELECT Z_VERSION, Z_UUID FROM Z_METADATA") }
    #expect(row.count == 1)
    #expect(row[0]["Z_VERSION"] == 1)
    #expect(row[0]["Z_UUID"] == metadata.identifier.uuidString)
  }

  @Test("The keys are those of Core Data")
  func keys() throws {
    try queue.write { try SQLiteMetadata(new()).write(to: $0, model: model) }
    let list = try list()
    #expect(list["NSStoreType"] as? String == "SQLite")
    #expect(list["NSStoreModelVersionHashesVersion"] as? Int == 3)
    #expect(list["_NSAutoVacuumLevel"] as? String == "2")
    #expect(list["NSStoreModelVersionIdentifiers"] as? [String] == ["features"])
    #expect(list["NSStoreModelVersionHashes"] as? [String: Data] == model.entityVersionHashesByName)
    #expect(list[Self.digestKey] as? String == model.versionHashesDigest)
    #expect(list[Self.checksumKey] as? String == model.versionChecksum)
    #expect(list["Author"] as? String == "me")
  }

  @Test("Core Data's keys and the application's stay, and digests follow the hashes", arguments: [false, true])
  func rewriting(_ hasDigest: Bool) throws {
    var members: [String: Any] = [
      "NSStoreType": "SQLite", Self.frameworkKey: 851, "_NSAutoVacuumLevel": "2", "_NSStoreAncillary": ["a": Data([1])],
      "io.app.User": "42", "NSStoreModelVersionHashes": ["Old": Data([1, 2])], "NSStoreModelVersionHashesVersion": 3,
      "NSStoreModelVersionIdentifiers": ["9"],
    ]
    if hasDigest { members[Self.digestKey] = "old" }
    try put(members, format: .binary)
    var metadata = try read()
    #expect(metadata.metadata.userInfo == ["io.app.User": "42"])
    #expect(metadata.metadata.modelVersionHashes == ["Old": Data([1, 2])])
    metadata.metadata.setModel(model.entities, versionIdentifiers: ["10"])
    metadata.metadata.userInfo["io.app.Time"] = .date(Date(timeIntervalSinceReferenceDate: 0.25))
    try queue.write { try metadata.write(to: $0, model: model) }
    let list = try list()
    #expect(list[Self.frameworkKey] as? Int == 851)
    #expect(list["_NSStoreAncillary"] as? [String: Data] == ["a": Data([1])])
    #expect(list["io.app.User"] as? String == "42")
    #expect(list["io.app.Time"] as? Date == Date(timeIntervalSinceReferenceDate: 0.25))
    #expect(list[Self.digestKey] as? String == (hasDigest ? model.versionHashesDigest : nil))
    #expect(list[Self.checksumKey] == nil)
  }

  @Test("A property list in XML is read too")
  func xml() throws {
    try put(["NSStoreModelVersionHashes": ["A": Data([7])], "x": 1.5], format: .xml)
    let metadata = try read()
    #expect(metadata.metadata.modelVersionHashes == ["A": Data([7])])
    #expect(metadata.metadata.userInfo == ["x": 1.5])
  }

  @Test("A model that is not that of the hashes is none")
  func staleModel() throws {
    try queue.write { try SQLiteMetadata(new()).write(to: $0, model: model) }
    var list = try list()
    list["NSStoreModelVersionHashes"] = ["Person": Data(repeating: 0, count: 32)]
    try put(list, format: .binary)
    #expect(try read().embeddedModel == nil)
  }

  @Test(
    "What is no metadata is said to be none",
    arguments: [
      "DROP TABLE Z_METADATA", "DELETE FROM Z_METADATA", "UPDATE Z_METADATA SET Z_UUID = 'me'",
      "UPDATE Z_METADATA SET Z_UUID = NULL", "UPDATE Z_METADATA SET Z_PLIST = NULL",
      "UPDATE Z_METADATA SET Z_PLIST = x'62706c6973743030ff'", "UPDATE Z_METADATA SET Z_PLIST = 'text'",
      "UPDATE Z_METADATA SET Z_PLIST = '<plist version=\"1.0\"><array/></plist>'",
    ]
  )
  func malformed(_ change: String) throws {
    try queue.write { db in
      try SQLiteMetadata(new()).write(to: db, model: model)
      try db.execute(sql: change)
    }
    let error = try #require(throws: PersistenceError.self) { try read() }
    #expect(error.code == .fileMalformed)
    #expect(error.context.path == "Store.sqlite")
  }

  @Test(
    "Keys that are Core Data's own are no application's",
    arguments: ["NSStoreType", "NSAnything", "_NSThis", "HeartwoodModel"]
  )
  func reservedKeys(_ key: String) throws {
    let error = try #require(throws: PersistenceError.self) { try SQLiteMetadata.validate([key: 1, "fine": 2]) }
    #expect(error.code == .valueUnsupported)
    #expect(error.message.contains(key))
    try SQLiteMetadata.validate(["fine": 2])
  }
}
