import GRDB
package import HeartwoodStore

extension SQLiteStore: SharedFormatStore {
  /// Core Data's history, and what it has noted for CloudKit and for derived attributes.
  package static func foreignContents(ofStoreAt path: String, options: StoreOptions) throws -> ForeignContents {
    try SQLiteFile.inspect(atPath: path, options: options) { db in
      let catalog = try FileCatalog(db)
      return ForeignContents(
        transactionCount: try WriteRefusals.transactionCount(catalog, db),
        refusals: try WriteRefusals.ofCoreData(catalog, db)
      )
    }
  }
}
