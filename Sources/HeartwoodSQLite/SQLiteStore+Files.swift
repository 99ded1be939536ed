import GRDB
public import HeartwoodFoundation
public import HeartwoodModel
public import HeartwoodStore
import Synchronization

// MARK: Life of files

extension SQLiteStore {
  /// The model of the store at `url`: the one that Heartwood has put into the file, or else the one that Core Data has last opened it with. Nil
  /// where the file has none.
  public static func model(ofStoreAt url: URL) throws -> ManagedObjectModel? {
    try model(atPath: url.path, options: StoreOptions())
  }

  static func model(atPath path: String, options: StoreOptions) throws -> ManagedObjectModel? {
    try SQLiteFile.inspect(atPath: path, options: options) { db in
      try SQLiteMetadata.read(from: db, path: path).embeddedModel ?? SQLiteModelCache.model(in: db, path: path)
    }
  }

  /// Rebuilds the file of a store, open or not: free pages leave it, and what belongs together lies together. It takes as long as writing
  /// the whole file, and as much room on the disk; others may read meanwhile.
  ///
  /// - Throws: ``PersistenceError/Code/storeBusy`` where somebody writes for longer than ``StoreOptionKey/sqliteBusyTimeout`` says, and
  ///   ``PersistenceError/Code/fileMalformed`` where the database is no store of Core Data: then it stays as it is.
  public static func vacuum(at url: URL, options: StoreOptions = StoreOptions()) throws {
    let file = try SQLiteFile.open(atPath: url.path, options: options, checking: SQLiteMetadata.checkPresence)
    try file.vacuum()
    try file.close()
  }

  /// Writes the store at `url`, as it is at one moment, as another file: open or not, and while others save to it. What they have saved
  /// before is in the copy, and what they save later is not. The copy has the same identifier and permissions, and its large data in the
  /// support folder of its name, which a copy beside the store shares with it where only the extensions of their names differ.
  ///
  /// - Parameters:
  ///   - url: the store's file.
  ///   - destination: the file of the copy.
  ///   - replacing: whether a store that stands at `destination` is replaced. It stays as it is where the copy fails.
  /// - Throws: ``PersistenceError/Code/fileExists``, ``PersistenceError/Code/storeBusy`` where a store that is to be replaced is open in some
  ///   process, or where others save faster than a store can be copied that must not be written here, and what reading and writing can throw.
  public static func backUp(storeAt url: URL, to destination: URL, replacing: Bool = false) throws {
    _ = try SQLiteFile.inspect(atPath: url.path) { db in try SQLiteMetadata.read(from: db, path: url.path) }
    try StorePlacement(IncrementalClassFormat(Self.self), fileSystem: POSIXFileSystem()).write(
      at: destination.path,
      replacing: replacing
    ) {
      try copyStore(at: url.path, to: $0)
    }
  }

  /// Brings the write-ahead log into the file, and what a process that died has left to undo. Where somebody else has the file open in
  /// write-ahead mode, that shows.
  public static func checkpoint(storeAt path: String) throws {
    let fileSystem = POSIXFileSystem()
    let resolved = try fileSystem.resolvingSymbolicLinks(inPath: path)
    if try !SQLiteLocation.hasSideFiles(ofFileAt: resolved, in: fileSystem) { return }
    try SQLiteFile.checkpoint(ofFileAt: resolved)
  }

  /// The write-ahead log with what is shared of it, and the journal of a transaction.
  public static func sideFiles(ofStoreAt path: String) -> [String] { SQLiteLocation.sideFiles(ofFileAt: path) }

  /// `.NAME_SUPPORT`, as Core Data calls it.
  public static func supportFolder(ofStoreAt path: String) -> String? { ExternalFiles(ofStoreAt: path).supportFolder }

  /// Copies a store page by page, with what its log has, and the files that its rows lead to. Others may save meanwhile; where they do so
  /// again and again before what is needed is copied, they wait.
  ///
  /// - Throws: ``PersistenceError/Code/storeBusy`` where they cannot be made to wait, since this process must not write the file.
  public static func copyStore(at source: String, to path: String) throws {
    for _ in 1..<greatestAttempts {
      if try copyOnce(source, to: path) { return }
      try POSIXFileSystem().removeFile(atPath: path)
    }
    if try SQLiteFile.holdingOffWriters(ofFileAt: source, { try copyOnce(source, to: path) }) ?? false { return }
    try POSIXFileSystem().removeFile(atPath: path)
    throw PersistenceError(
      .storeBusy,
      "Others save to the store faster than it can be copied. Nothing was copied.",
      recovery: "Try it again when less is saved.",
      context: .init(path: source, storeType: .sqlite)
    )
  }

  /// False where a save came between: one that has removed a file after the copy of the database had been made, or any to a file that is read
  /// as one that nobody writes.
  private static func copyOnce(_ source: String, to path: String) throws -> Bool {
    let file = try SQLiteFile.open(atPath: source, isReadOnly: true)
    // try?: the copy is made, or an error thrown; a connection that was read has nothing to lose.
    defer { try? file.close() }
    do {
      let mark = try file.mark()
      let names = try file.copy(toPath: path) { db in try ExternalNames.all(in: db) }
      do {
        try ExternalFiles(ofStoreAt: source).copy(names, to: ExternalFiles(ofStoreAt: path))
        return true
      } catch let error as PersistenceError where error.code == .fileNotFound {
        if try file.mark() != mark { return false }
        throw error
      }
    } catch let error as PersistenceError where error.code == .fileChangedOnDisk {
      return false
    }
  }
}

// MARK: An open file

extension SQLiteStore {
  /// Rebuilds the file where the options say so, and removes files with large data that no row leads to: what a process has left that died
  /// before it saved, or after.
  func tidy(_ file: SQLiteFile) throws {
    if setup.options[.sqliteManualVacuum] { try file.vacuum() }
    let files = ExternalFiles(ofStoreAt: path)
    files.removeAbandonedFiles()
    // try?: what is left over can wait for the next time.
    guard let names = try? files.names(), !names.isEmpty, !mayBeOfOthers(files) else { return }
    // try?: who writes to the file at this moment may have made files for rows to come. What is left over can wait.
    try? file.write { db in
      let schema = try schema(db)
      guard schema.writeRefusals.isEmpty, schema.mirroring == nil else { return }
      try remove(Set(try files.names()), unlessNamedIn: db, of: file)
    }
  }

  /// Removes files with large data that no row leads to, unless rows of another store may: one that is taking the place of this one, or has
  /// taken it, or shares the folder, also by a symbolic link.
  private func remove(_ names: Set<String>, unlessNamedIn db: Database, of file: SQLiteFile) throws {
    // Who gives a store its place holds this lock from before its files are there until it is.
    let directory = PathParts.split(file.path).directory
    guard let lock = POSIXFileSystem().lockFileIfFree(atPath: directory) else { return }
    defer { lock.release() }
    let files = ExternalFiles(ofStoreAt: path)
    if try SQLiteFile.isMoved(db) || mayBeOfOthers(files) { return }
    files.remove(names.subtracting(try ExternalNames.all(in: db)))
  }

  private func mayBeOfOthers(_ files: ExternalFiles) -> Bool {
    let placement = StorePlacement(IncrementalClassFormat(Self.self), fileSystem: POSIXFileSystem())
    return files.areBehindLink || placement.isShared(files.support, files.storePath)
  }

  /// Removes files that rows led to before this save or an earlier one, unless others lead there too. To look for these takes as long as the
  /// database is, and so waits until the files that have come together have as many bytes. A failure, or the end of the store, leaves them
  /// to the next who opens it.
  func removeReplacedFiles(_ names: Set<String>) {
    if names.isEmpty { return }
    let files = ExternalFiles(ofStoreAt: path)
    let replaced = replacedFiles.withLock { replaced in
      for name in names { replaced[name] = files.size(of: name) }
      return replaced
    }
    // try?: the file stays as large as it is until the next time.
    try? withDatabase { db in
      let byteCount = try SQLiteFile.byteCount(db)
      guard replaced.values.reduce(0, +) >= byteCount else { return }
      replacedFiles.withLock { for name in replaced.keys { $0[name] = nil } }
      try remove(Set(replaced.keys), unlessNamedIn: db, of: file())
    }
  }
}

extension SQLiteFile {
  /// How many bytes the database has.
  fileprivate static func byteCount(_ db: Database) throws -> Int {
    let (count, size) = (try Int.fetchOne(db, sql: "PRAGMA page_count"), try Int.fetchOne(db, sql: "PRAGMA page_size"))
    return (count ?? 0) * (size ?? 0)
  }

  /// Rebuilds the file.
  fileprivate func vacuum() throws {
    try withoutTransaction { db in
      try db.execute(sql: "VACUUM")
      // In write-ahead mode the new file is in the log; where somebody reads, it stays there for a while.
      _ = try Bool.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
    }
  }
}

// MARK: Foreign contents

extension SQLiteStore {
  /// Core Data's history, and what it has noted for CloudKit and for derived attributes.
  public static func foreignContents(ofStoreAt path: String, options: StoreOptions) throws -> ForeignContents {
    try SQLiteFile.inspect(atPath: path, options: options) { db in
      let catalog = try FileCatalog(db)
      return ForeignContents(
        transactionCount: try WriteRefusals.transactionCount(catalog, db),
        refusals: try WriteRefusals.ofCoreData(catalog, db)
      )
    }
  }

  /// The entities of `Z_PRIMARYKEY` but for Core Data's own, and what stands in the tables that are named as theirs. O(rows).
  public static func recordCounts(ofStoreAt path: String, options: StoreOptions) throws -> RecordCounts? {
    try SQLiteFile.inspect(atPath: path, options: options) { db in
      let catalog = try FileCatalog(db)
      guard catalog[SQLiteName.primaryKeyTable] != nil else { return RecordCounts() }
      return try EntityTree(db).recordCounts(catalog, db)
    }
  }
}

/// The entities that `Z_PRIMARYKEY` lists.
struct EntityTree {
  struct Entity {
    let number: Int
    let name: String
    let parent: Int?
  }

  let entities: [Entity]

  init(_ db: Database) throws {
    entities = try Row.fetchAll(db, sql: "SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY ORDER BY Z_ENT").compactMap {
      row in
      guard let number = Int.fromDatabaseValue(row[0]), number < HistoryTables.firstNumber,
        let name = String.fromDatabaseValue(row[1])
      else { return nil }
      return Entity(number: number, name: name, parent: Int.fromDatabaseValue(row[2]))
    }
  }

  func recordCounts(_ catalog: FileCatalog, _ db: Database) throws -> RecordCounts {
    var result = RecordCounts()
    var countsByTable: [String: [Int: Int]] = [:]
    for entity in entities {
      guard let table = root(of: entity).flatMap({ catalog[SQLiteName.plain($0.name)] }),
        table[SQLiteName.entity] != nil
      else {
        result.entities.append((entity.name, nil))
        continue
      }
      let counts = try countsByTable[table.name] ?? rows(of: table, db)
      countsByTable[table.name] = counts
      result.entities.append((entity.name, counts[entity.number] ?? 0))
    }
    // As in StrayRows: rows of an entity of another table are none, since a migration leaves such rows.
    let known = Set(try EntityNumbers.all(in: db))
    for (number, count) in countsByTable.values.joined() where !known.contains(number) { result.strayCount += count }
    return result
  }

  /// How many rows a table has by the number of their entity. What is no number is counted as 0, which no entity has.
  private func rows(of table: FileCatalog.Table, _ db: Database) throws -> [Int: Int] {
    let sql = "SELECT Z_ENT, count(*) FROM \(SQLiteName.quoted(table.name)) GROUP BY Z_ENT"
    return try Row.fetchAll(db, sql: sql).reduce(into: [:]) { counts, row in
      counts[Int.fromDatabaseValue(row[0]) ?? 0, default: 0] += Int.fromDatabaseValue(row[1]) ?? 0
    }
  }

  /// The topmost superentity, whose table has the records of its subentities; nil if the file names a superentity that it does not list.
  func root(of entity: Entity) -> Entity? {
    var entity = entity
    for _ in entities {
      guard let number = entity.parent, number != 0 else { return entity }
      guard let parent = entities.first(where: { $0.number == number }) else { return nil }
      entity = parent
    }
    return nil
  }
}
