import GRDB
public import HeartwoodModel
public import HeartwoodStore

extension SQLiteStore: SalvagingStore {
  /// Reads row by row what SQLite can read: a damaged page costs its rows, a value that cannot be read or a file beside the store that is missing
  /// costs the value, and a missing table its records.
  ///
  /// - Throws: an error if SQLite cannot open the file, because its first page is damaged.
  public func salvage(_ file: StoreInput, into salvage: StoreSalvage) throws {
    let damaged = try SalvagedFile.open(path, options: setup.options)
    defer { damaged.close() }
    if let fault = damaged.fault { salvage.note(.fileParts, fault, count: 0) }
    // SQLite may fail to end a transaction that has met a damaged page: what was read before counts.
    var isRead = false
    let result = Result<Void, any Error> {
      try damaged.file.read { db in
        try read(db, into: salvage)
        isRead = true
      }
    }
    if isRead { return }
    if case .failure(var error as PersistenceError) = result {
      // The copy of a file that was cut short has another name.
      error.context.path = path
      throw error
    }
    try result.get()
  }

  private func read(_ db: Database, into salvage: StoreSalvage) throws {
    do {
      salvage.loader.metadata = try SQLiteMetadata.read(from: db, path: path).metadata
    } catch {
      salvage.note(.fileParts, SQLiteFailure.error(error, path: path), count: 0)
    }
    let (schema, gaps) = try SQLiteSchema.remaining(in: db, model: setup.model, entities: setup.entities, path: path)
    for gap in gaps { salvage.note(gap.context.property == nil ? .records : .values, gap, count: nil) }
    for placement in schema.entities.compactMap(\.self) where !placement.entity.isAbstract {
      var reader = SQLiteEntitySalvage(placement, schema, path: path, db, into: salvage)
      salvage.loader.setTable(try reader.table())
    }
    SQLiteLinkSalvage(schema, db, into: salvage).noteLostLinks()
  }

  /// The model in the file, if it can be read.
  public static func salvageModel(from file: StoreInput, options: StoreOptions) -> ManagedObjectModel? {
    guard let damaged = try? SalvagedFile.open(file.path, options: options) else { return nil }
    defer { damaged.close() }
    var model: ManagedObjectModel?
    // Each of both may be damaged, and so may pages that the transaction meets.
    try? damaged.file.read { db in
      model = try? SQLiteMetadata.read(from: db, path: file.path).embeddedModel
      if model == nil { model = try? SQLiteModelCache.model(in: db, path: file.path) }
    }
    return model
  }
}
