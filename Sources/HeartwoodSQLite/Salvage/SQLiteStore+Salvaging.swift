import GRDB
import HeartwoodFoundation
public import HeartwoodModel
public import HeartwoodStore

extension SQLiteStore: SalvagingStore {
  /// Reads everything that SQLite can read, row by row. A damaged page costs its rows, an unreadable value or a missing
  /// file beside the store costs the value, and a missing table costs its records.
  ///
  /// - Throws: an error if SQLite cannot open the file, because its first page is damaged.
  public func salvage(_ file: StoreInput, into salvage: StoreSalvage) throws {
    let damaged = try SalvagedFile.open(path, options: setup.options)
    defer { damaged.close() }
    if let fault = damaged.fault { salvage.note(.fileParts, fault, count: 0) }
    // SQLite may fail to end a transaction after a damaged page: the data that was read before is still valid.
    var isRead = false
    let result = Result<Void, any Error> {
      try damaged.file.read { db in
        try read(db, into: salvage)
        isRead = true
      }
    }
    if isRead { return }
    if case .failure(var error as PersistenceError) = result {
      // The copy of a truncated file has another name.
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
      try salvage.loader.setCheckedRowGroups(try reader.records(), of: placement.entity)
    }
    SQLiteLinkSalvage(schema, db, into: salvage).noteLostLinks()
    readHistory(db, schema, into: salvage)
  }

  /// Reads the history as a whole, or reports that it is lost.
  private func readHistory(_ db: Database, _ schema: SQLiteSchema, into salvage: StoreSalvage) {
    do {
      switch try HistoryTables.find(in: try FileCatalog(db), db) {
      case .none: return
      case .known(let tables):
        let rows = HistoryRows(tables: tables, schema: schema, path: path, db: db)
        let transactions = try rows.transactions(after: 0)
        let last = try max(rows.greatestNumber(), transactions.last?.number ?? 0)
        salvage.loader.history = try StoreHistory(transactions, lastNumber: last)
      case .unknown(let reason):
        let error = PersistenceError(.fileMalformed, "The history is lost: \(reason).", context: .init(path: path))
        salvage.note(.fileParts, error, count: 0)
      }
    } catch {
      salvage.note(.fileParts, SQLiteFailure.error(error, path: path), count: 0)
    }
  }

  /// Returns the model in the file, if it can be read.
  public static func salvageModel(from file: StoreInput, options: StoreOptions) -> ManagedObjectModel? {
    guard let damaged = try? SalvagedFile.open(file.path, options: options) else { return nil }
    defer { damaged.close() }
    var model: ManagedObjectModel?
    // Either model may be damaged, and so may pages that the transaction reads.
    try? damaged.file.read { db in
      model = try? SQLiteMetadata.read(from: db, path: file.path).embeddedModel
      if model == nil { model = try? SQLiteModelCache.model(in: db, path: file.path) }
    }
    return model
  }
}

// MARK: SalvagedFile

/// A damaged database, open for reading; for a truncated file, a copy of its remaining pages.
struct SalvagedFile {
  let file: SQLiteFile
  /// The fault of the file as a whole.
  let fault: PersistenceError?
  private let copyPath: String?

  private static let headerLength = 100
  private static let blockLength = 1 << 20
  private static let ownerOnly: UInt32 = 0o600

  private init(_ file: SQLiteFile, fault: PersistenceError? = nil, copyPath: String? = nil) {
    self.file = file
    self.fault = fault
    self.copyPath = copyPath
  }

  /// - Throws: an error if SQLite cannot open it, because its first page is damaged.
  static func open(_ path: String, options: StoreOptions) throws -> SalvagedFile {
    let whole = Result<SQLiteFile, any Error> { try SQLiteFile.open(atPath: path, options: options, isReadOnly: true) }
    guard case .failure(let error as PersistenceError) = whole, error.code == .fileCorrupt else {
      return SalvagedFile(try whole.get())
    }
    let copyPath = try copyPages(ofFileAt: path, orThrow: error)
    let copy = Result<SQLiteFile, any Error> {
      try SQLiteFile.open(atPath: copyPath, options: options, isReadOnly: true)
    }
    guard case .success(let file) = copy else {
      try? POSIXFileSystem().removeFile(atPath: copyPath)
      throw error
    }
    return SalvagedFile(file, fault: error, copyPath: copyPath)
  }

  /// Closes the file, and removes the copy.
  func close() {
    // A connection that only reads has nothing to lose.
    try? file.close()
    if let copyPath { try? POSIXFileSystem().removeFile(atPath: copyPath) }
  }

  /// Copies the whole pages of a truncated file to a temporary one, whose header gives the actual number of pages:
  /// SQLite then detects a missing page, which it would otherwise read as zeros.
  private static func copyPages(ofFileAt path: String, orThrow error: PersistenceError) throws -> String {
    let input = try StoreInput(try POSIXFileSystem().openFile(atPath: path))
    var header = try input.bytes(from: 0, count: headerLength)
    guard header.count == headerLength else { throw error }
    let stated = Int(header[16]) << 8 | Int(header[17])
    let pageSize = stated == 1 ? 1 << 16 : stated
    guard pageSize >= 512, input.size >= pageSize else { throw error }
    let pageCount = input.size / pageSize
    // Disables the write-ahead log.
    (header[18], header[19]) = (1, 1)
    for index in 0..<4 { header[28 + index] = UInt8(truncatingIfNeeded: pageCount >> (24 - index * 8)) }
    let place = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-salvage.sqlite").path
    let output = try POSIXFileSystem().createTemporaryFile(besidePath: place, permissions: ownerOnly)
    do {
      try header.withUnsafeBytes { try output.write($0) }
      var position = header.count
      while position < pageCount * pageSize {
        let block = try input.bytes(from: position, count: min(blockLength, pageCount * pageSize - position))
        guard !block.isEmpty else { break }
        try block.withUnsafeBytes { try output.write($0) }
        position += block.count
      }
      try output.close()
    } catch {
      try? POSIXFileSystem().removeFile(atPath: output.path)
      throw error
    }
    return output.path
  }
}

// MARK: SQLiteLinkSalvage

/// Finds rows of relationships that refer to missing records, which reading the relationships does not show.
struct SQLiteLinkSalvage {
  private let schema: SQLiteSchema
  private let db: Database
  private let salvage: StoreSalvage

  init(_ schema: SQLiteSchema, _ db: Database, into salvage: StoreSalvage) {
    self.schema = schema
    self.db = db
    self.salvage = salvage
  }

  func noteLostLinks() {
    var seen: Set<String> = []
    for placement in schema.entities.compactMap(\.self) {
      for (ordinal, property) in placement.properties.enumerated() {
        guard let query = query(property, ordinal, placement), seen.insert(query.key).inserted else { continue }
        // Unreadable rows have been reported already.
        let rows = (try? Row.fetchAll(db, sql: query.text)) ?? []
        for row in rows { note(row, placement.entity, ordinal) }
      }
    }
  }

  private func note(_ row: Row, _ entity: EntityDescription, _ ordinal: Int) {
    let owner = Int64.fromDatabaseValue(row[0])
    let member = Int64.fromDatabaseValue(row[1])
    salvage.note(
      .init(
        .links,
        entity: entity.name,
        property: entity.properties[ordinal].name,
        references: owner.map { [.integer($0)] } ?? [],
        count: 1,
        reason:
          "It joins this record and the one with the key \(member.map { "\($0)" } ?? "NULL"), and one of both is not there."
      )
    )
  }

  private func query(
    _ property: PropertyPlacement?,
    _ ordinal: Int,
    _ placement: EntityPlacement
  ) -> (text: String, key: String)? {
    guard let target = placement.entity.relationshipTargets[ordinal],
      let destination = schema.entities[target.entityOrdinal]
    else { return nil }
    func isMissing(_ column: String, _ table: String) -> String {
      "NOT EXISTS (SELECT 1 FROM \(SQLiteName.quoted(table)) AS record WHERE record.Z_PK = link.\(column))"
    }
    switch property {
    case .join(let place):
      let (own, other) = (SQLiteName.quoted(place.ownColumn), SQLiteName.quoted(place.otherColumn))
      let text =
        "SELECT \(own), \(other) FROM \(SQLiteName.quoted(place.table)) AS link"
        + " WHERE \(isMissing(own, placement.tableName)) OR \(isMissing(other, destination.tableName))"
      return (text, place.table)
    case .toMany(let place) where place.ownsColumn:
      let column = SQLiteName.quoted(place.column)
      let text =
        "SELECT \(column), Z_PK FROM \(SQLiteName.quoted(place.table)) AS link"
        + " WHERE \(column) IS NOT NULL AND \(isMissing(column, placement.tableName))"
      return (text, "\(place.table).\(place.column)")
    default: return nil
    }
  }
}
