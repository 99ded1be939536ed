import GRDB
public import HeartwoodFoundation
public import HeartwoodModel
public import HeartwoodStore
import Synchronization

// MARK: Life of files

extension SQLiteStore {
  /// Returns the model of the store at `url`: the one that Heartwood wrote to the file, or else the one with which Core
  /// Data last opened it. Nil if the file contains none.
  public static func model(ofStoreAt url: URL) throws -> ManagedObjectModel? {
    try model(atPath: url.path, options: StoreOptions())
  }

  static func model(atPath path: String, options: StoreOptions) throws -> ManagedObjectModel? {
    try SQLiteFile.inspect(atPath: path, options: options) { db in
      try SQLiteMetadata.read(from: db, path: path).embeddedModel ?? SQLiteModelCache.model(in: db, path: path)
    }
  }

  /// Rebuilds the file of a store, whether it is open or not: free pages are removed, and related data is stored
  /// together. It takes as long as writing the whole file, and as much disk space; others may read in the meantime.
  ///
  /// - Throws: ``PersistenceError/Code/storeBusy`` if another connection writes for longer than
  ///   ``StoreOptionKey/sqliteBusyTimeout``, and ``PersistenceError/Code/fileMalformed`` if the database is not a Core
  ///   Data store: it then stays as it is.
  public static func vacuum(at url: URL, options: StoreOptions = StoreOptions()) throws {
    let file = try SQLiteFile.open(atPath: url.path, options: options, checking: SQLiteMetadata.checkPresence)
    try file.vacuum()
    try file.close()
  }

  /// Rebuilds the file; see ``vacuum(at:options:)``.
  public func compact() throws -> Bool {
    try file().vacuum()
    return true
  }

  /// Copies the store at `url`, as it is at one moment, to another file. The store may be open, and others may save to
  /// it: the copy contains what they saved before that moment, and nothing they save later.
  ///
  /// The copy has the same identifier and permissions. Its large data is in the support folder of its name; a copy
  /// beside the store shares that folder with the store if only the extensions of their names differ.
  ///
  /// - Parameters:
  ///   - url: the store's file.
  ///   - destination: the file of the copy.
  ///   - replacing: whether a store at `destination` is replaced. It stays as it is if the copy fails.
  /// - Throws: ``PersistenceError/Code/fileExists``; ``PersistenceError/Code/storeBusy`` if a store that is to be
  ///   replaced is open in any process, or if this process must not write the store and others save faster than it can
  ///   be copied; and the errors of reading and writing.
  public static func backUp(storeAt url: URL, to destination: URL, replacing: Bool = false) throws {
    _ = try SQLiteFile.inspect(atPath: url.path) { db in try SQLiteMetadata.read(from: db, path: url.path) }
    try StorePlacement(Self.format, fileSystem: POSIXFileSystem()).write(
      at: destination.path,
      replacing: replacing
    ) {
      try copyStore(at: url.path, to: $0)
    }
  }

  /// Copies the write-ahead log to the file, and rolls back the unfinished transaction of a process that died. If
  /// another connection has the file open in write-ahead mode, an error is thrown.
  public static func checkpoint(storeAt path: String) throws {
    let fileSystem = POSIXFileSystem()
    let resolved = try fileSystem.resolvingSymbolicLinks(inPath: path)
    if try !SQLiteLocation.hasSideFiles(ofFileAt: resolved, in: fileSystem) { return }
    try SQLiteFile.checkpoint(ofFileAt: resolved)
  }

  /// Returns the paths of the write-ahead log, its shared memory, and the rollback journal.
  public static func sideFiles(ofStoreAt path: String) -> [String] { SQLiteLocation.sideFiles(ofFileAt: path) }

  /// Returns the path of `.NAME_SUPPORT`, as Core Data names it.
  public static func supportFolder(ofStoreAt path: String) -> String? { ExternalFiles(ofStoreAt: path).supportFolder }

  /// Copies a store page by page, including its log and the files that its rows refer to. Others may save in the
  /// meantime; if they do so repeatedly before everything is copied, they are made to wait.
  ///
  /// - Throws: ``PersistenceError/Code/storeBusy`` if they cannot be made to wait, because this process must not write
  ///   the file.
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

  /// Returns false if a save interfered: one that removed a file after the database was copied, or any save to a file
  /// that is read as if nothing writes to it.
  private static func copyOnce(_ source: String, to path: String) throws -> Bool {
    let file = try SQLiteFile.open(atPath: source, isReadOnly: true)
    // try?: the copy is complete or an error is thrown; a connection that only reads has nothing to lose.
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
  /// Rebuilds the file if the options request it, and removes files with large data that no row refers to: those of a
  /// process that died before or after its save.
  func tidy(_ file: SQLiteFile) throws {
    if setup.options[.sqliteManualVacuum] { try file.vacuum() }
    let files = ExternalFiles(ofStoreAt: path)
    files.removeAbandonedFiles()
    // try?: unused files can wait for the next time.
    guard let names = try? files.names(), !names.isEmpty, !mayBeOfOthers(files) else { return }
    // try?: another process that writes now may have made files for rows to come. Unused files can wait.
    try? file.write { db in
      let schema = try schema(db)
      guard schema.writeRefusals.isEmpty, schema.mirroring == nil else { return }
      try remove(Set(try files.names()), unlessNamedIn: db, of: file)
    }
  }

  /// Removes files with large data that no row refers to, unless rows of another store may: a store that is replacing
  /// this one, or has replaced it, or shares the folder, also through a symbolic link.
  private func remove(_ names: Set<String>, unlessNamedIn db: Database, of file: SQLiteFile) throws {
    // A process that moves a store into place holds this lock from before its files exist until it is in place.
    let directory = PathParts.split(file.path).directory
    guard let lock = POSIXFileSystem().lockFileIfFree(atPath: directory) else { return }
    defer { lock.release() }
    let files = ExternalFiles(ofStoreAt: path)
    if try SQLiteFile.isMoved(db) || mayBeOfOthers(files) { return }
    files.remove(names.subtracting(try ExternalNames.all(in: db)))
  }

  private func mayBeOfOthers(_ files: ExternalFiles) -> Bool {
    let placement = StorePlacement(Self.format, fileSystem: POSIXFileSystem())
    return files.areBehindLink || placement.isShared(files.support, files.storePath)
  }

  /// Removes files that rows referred to before this save or an earlier one, unless other rows refer to them too. To
  /// find those takes time in proportion to the size of the database, and so waits until the collected files have as
  /// many bytes. If it fails, or the store is closed before, the files are removed when the store is opened next.
  func removeReplacedFiles(_ names: Set<String>) {
    if names.isEmpty { return }
    let files = ExternalFiles(ofStoreAt: path)
    let replaced = replacedFiles.withLock { replaced in
      for name in names { replaced[name] = files.size(of: name) }
      return replaced
    }
    // try?: the files stay until the next time.
    try? withDatabase { db in
      let byteCount = try SQLiteFile.byteCount(db)
      guard replaced.values.reduce(0, +) >= byteCount else { return }
      replacedFiles.withLock { for name in replaced.keys { $0[name] = nil } }
      try remove(Set(replaced.keys), unlessNamedIn: db, of: file())
    }
  }
}

extension SQLiteFile {
  /// Returns the size of the database in bytes.
  fileprivate static func byteCount(_ db: Database) throws -> Int {
    let (count, size) = (try Int.fetchOne(db, sql: "PRAGMA page_count"), try Int.fetchOne(db, sql: "PRAGMA page_size"))
    return (count ?? 0) * (size ?? 0)
  }

  /// Rebuilds the file.
  fileprivate func vacuum() throws {
    try withoutTransaction { db in
      try db.execute(sql: "VACUUM")
      // In write-ahead mode the rebuilt file is in the log; if another connection is reading, it stays there for a
      // while.
      _ = try Bool.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
    }
  }
}

// MARK: Foreign contents

extension SQLiteStore {
  /// Reports Core Data's history, and its data for CloudKit and for derived attributes.
  public static func foreignContents(ofStoreAt path: String, options: StoreOptions) throws -> ForeignContents {
    try SQLiteFile.inspect(atPath: path, options: options) { db in
      let catalog = try FileCatalog(db)
      return ForeignContents(
        transactionCount: try WriteRefusals.transactionCount(catalog, db),
        refusals: try WriteRefusals.ofCoreData(catalog, db)
      )
    }
  }

  /// Counts the records of each entity in `Z_PRIMARYKEY`, except for Core Data's own, in the tables that are named
  /// after the entities. O(rows).
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
    // As in StrayRows: rows of an entity of another table are not counted, because a migration leaves such rows.
    let known = Set(try EntityNumbers.all(in: db))
    for (number, count) in countsByTable.values.joined() where !known.contains(number) { result.strayCount += count }
    return result
  }

  /// Returns the number of rows of a table, by the number of their entity. A number that is not an integer is counted
  /// as 0, which no entity has.
  private func rows(of table: FileCatalog.Table, _ db: Database) throws -> [Int: Int] {
    let sql = "SELECT Z_ENT, count(*) FROM \(SQLiteName.quoted(table.name)) GROUP BY Z_ENT"
    return try Row.fetchAll(db, sql: sql).reduce(into: [:]) { counts, row in
      counts[Int.fromDatabaseValue(row[0]) ?? 0, default: 0] += Int.fromDatabaseValue(row[1]) ?? 0
    }
  }

  /// Returns the root entity, whose table contains the records of its subentities; nil if the file names a superentity
  /// that it does not list.
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
