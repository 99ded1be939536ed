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
}
