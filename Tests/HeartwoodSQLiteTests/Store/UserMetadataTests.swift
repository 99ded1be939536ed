import Foundation
import Heartwood
import HeartwoodSQLite
import HeartwoodStore
import Testing

/// What an application keeps in the metadata, where a file has no place for it.
@Suite struct UserMetadataTests {
  private let bench: SQLiteBench

  init() throws {
    bench = try SQLiteBench()
  }

  /// They would lie among Core Data's own, and nobody would find them again.
  @Test(arguments: ["NSFWFilter", "_NSAutoVacuumLevel", "HeartwoodModel"], [StoreType.binary, .sqlite])
  func keysOfCoreDataAreNotTakenAlong(_ key: String, _ type: StoreType) throws {
    let coordinator = try bench.coordinator()
    let store = try coordinator.addPersistentStore(type: type, at: bench.url("Old"))
    try store.setUserInfo([key: true])
    let copy = bench.url("Copy.sqlite")
    let error = bench.error { try coordinator.copyPersistentStore(store, to: copy, type: .sqlite) }
    #expect(error?.code == .valueUnsupported)
    #expect(error?.message.contains(key) == true)
    #expect(!FileManager.default.fileExists(atPath: copy.path))
  }

  /// Arrays in each other, with a text in the innermost.
  private static func nested(_ depth: Int) -> MetadataValue {
    (0..<depth).reduce(.string("x")) { value, _ in .array([value]) }
  }

  /// A file whose metadata cannot be read does not open, whatever else is in it.
  @Test func whatCouldNotBeReadAgainIsNotSaved() throws {
    let context = try bench.context()
    let store = try #require(context.persistentStoreCoordinator.persistentStores.first)
    try bench.insert("a", in: context)
    for value in [Self.nested(31), .binary(Data(count: 64 << 20)), .array(Array(repeating: true, count: 4_000_000))] {
      try store.setUserInfo(["value": value])
      let error = bench.error { try context.save() }
      #expect(error?.code == .valueUnsupported)
      #expect(error?.message.contains("could not be read again") == true)
      #expect(try bench.contents().isEmpty)
    }
    try store.setUserInfo(["value": Self.nested(30)])
    try context.save()
    context.persistentStoreCoordinator.close()
    let again = try bench.context()
    #expect(again.persistentStoreCoordinator.persistentStores.first?.metadata.userInfo == ["value": Self.nested(30)])
    #expect(try bench.items(again).count == 1)
  }

  @Test func whatCouldNotBeReadAgainIsNotConverted() throws {
    let coordinator = try bench.coordinator()
    let store = try coordinator.addPersistentStore(type: .binary, at: bench.url("Old"))
    try store.setUserInfo(["tree": Self.nested(31)])
    let copy = bench.url("Copy.sqlite")
    let code = bench.code { try coordinator.copyPersistentStore(store, to: copy, type: .sqlite) }
    #expect(code == .valueUnsupported)
    #expect(!FileManager.default.fileExists(atPath: copy.path))
  }

  @Test func whatCouldNotBeReadAgainIsNotSetInAFile() throws {
    try bench.makeStore(items: ["a": nil])
    let coordinator = try bench.coordinator()
    var metadata = try coordinator.metadataForPersistentStore(type: .sqlite, at: bench.url())
    metadata.userInfo["tree"] = Self.nested(31)
    #expect(bench.code { try coordinator.setMetadata(metadata, type: .sqlite, at: bench.url()) } == .valueUnsupported)
    #expect(try Array(bench.contents().keys) == ["a"])
  }
}
