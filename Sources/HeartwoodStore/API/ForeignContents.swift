/// A store of a format that is another program's too, which keeps more in its files than records.
package protocol SharedFormatStore: IncrementalStore {
  /// What the other program keeps for itself in the store's file at `path`.
  static func foreignContents(ofStoreAt path: String, options: StoreOptions) throws -> ForeignContents
}

/// What another program keeps in a store's file that the framework does not read: whatever takes the place of the file has it not.
package struct ForeignContents: Sendable {
  /// How many transactions its history has.
  package let transactionCount: Int
  /// Why the file must not be replaced by what is read of it, each a sentence; empty where it may.
  let refusals: [String]

  package init(transactionCount: Int = 0, refusals: [String] = []) {
    self.transactionCount = transactionCount
    self.refusals = refusals
  }
}

extension StoreOpener {
  /// What another program keeps for itself in the file of a store.
  package func foreignContents(_ request: Request) throws -> ForeignContents {
    guard let path = request.path,
      let storeClass = try registry.storeClass(for: request.type) as? any SharedFormatStore.Type
    else { return ForeignContents() }
    return try storeClass.foreignContents(ofStoreAt: path, options: request.options)
  }

  /// Makes sure that a migration may replace the file of a store.
  ///
  /// - Throws: ``PersistenceError/Code/storeReadOnly``.
  package func checkMigratesInPlace(_ request: Request) throws {
    let refusals = try foreignContents(request).refusals
    guard refusals.isEmpty else {
      throw PersistenceError(
        .storeReadOnly,
        "The store can be read, but not migrated where it is: what another program keeps in its file would be lost. "
          + refusals.joined(separator: " ") + " The store was left as it is.",
        recovery: .migrateToOtherFile,
        context: .init(path: request.path, storeType: request.type)
      )
    }
    try checkPlace(request, replacing: true)
  }
}
