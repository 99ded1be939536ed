import Foundation
import HeartwoodModel
import HeartwoodStore

@testable import HeartwoodSQLite

extension SQLiteStore {
  /// Checks the records that `fill` puts into another store's tables, as they are before a file is made of them.
  static func checkRecords(of model: ManagedObjectModel, _ fill: (inout StoreContents) throws -> Void) throws {
    let setup = StoreSetup(
      model: model,
      configurationName: nil,
      entities: model.entities,
      path: "Store.sqlite",
      options: StoreOptions()
    )
    var contents = StoreContents(
      model: model,
      entities: model.entities,
      metadata: StoreMetadata(identifier: UUID(), storeType: .binary)
    )
    try fill(&contents)
    try check(contents, for: setup)
  }
}
