/// The SQLite store, against GRDB and SQLite's own functions on tables that were made by hand.
extension CaseCatalog {
  private func ours(
    _ arguments: [String],
    name: String = "Heartwood",
    prepare: @escaping () throws -> Void = {}
  ) -> Contestant {
    Contestant(name, .reported, [workspace.programs.sqlite] + arguments, prepare: prepare)
  }

  private func grdb(
    _ arguments: [String],
    name: String = "GRDB",
    prepare: @escaping () throws -> Void = {}
  ) -> Contestant {
    Contestant(name, .reported, [workspace.programs.grdb] + arguments, prepare: prepare)
  }

  func sqliteObjects() throws -> BenchmarkCase {
    BenchmarkCase(
      name: "sqlite-objects",
      title: "SQLite → registered objects, every value read (GRDB: structs by index)",
      ours: ours(["objects", try data.coreDataSQLite()]),
      peer: grdb(["objects", try data.sqlite()]),
      goal: .ratio(1),
      expected: .init(rows: data.rows, checksum: data.checksum)
    )
  }

  func coreDataObjects() throws -> BenchmarkCase {
    let path = try data.coreDataSQLite()
    return BenchmarkCase(
      name: "core-data-objects",
      title: "SQLite → objects of Core Data's API, every value read (Heartwood's own API)",
      ours: Contestant("import CoreData", .reported, [workspace.programs.coreData, "objects", path], prepare: {}),
      peer: ours(["objects", path]),
      goal: .ratio(3),
      expected: .init(rows: data.rows, checksum: data.checksum)
    )
  }

  func sqliteInsert() throws -> BenchmarkCase {
    let rows = ["--rows", String(data.rows)]
    return BenchmarkCase(
      name: "sqlite-insert",
      title: "insert of all rows as objects, and one save (GRDB: a cached statement)",
      ours: ours(["insert", workspace.scratch("inserted-items.sqlite")] + rows),
      peer: grdb(["create", workspace.scratch("created.sqlite")] + rows),
      goal: .ratio(0.6),
      expected: .init(rows: data.rows)
    )
  }

  func sqliteInsertDirectly() throws -> BenchmarkCase {
    let rows = ["--rows", String(data.rows)]
    return BenchmarkCase(
      name: "sqlite-insert-floor",
      title: "insert of all rows by SQLite's own functions (not ours: the least that the insert can take)",
      ours: grdb(["insert", workspace.scratch("inserted-directly.sqlite")] + rows, name: "SQLite in C"),
      peer: grdb(["create", workspace.scratch("created.sqlite")] + rows),
      expected: .init(rows: data.rows)
    )
  }

  func sqliteSaveOne() throws -> BenchmarkCase {
    let (ownOriginal, original) = (try data.coreDataSQLite(), try data.sqlite())
    let (ownCopy, copy) = (workspace.scratch("changed-items.sqlite"), workspace.scratch("changed.sqlite"))
    return BenchmarkCase(
      name: "sqlite-save-one",
      title: "durable save of one changed row, again and again",
      ours: ours(["save-one", ownCopy]) { try Workspace.copyDatabase(ownOriginal, to: ownCopy) },
      peer: grdb(["save-one", copy], name: "SQLite in C") { try Workspace.copyDatabase(original, to: copy) },
      goal: .ratio(1.5)
    )
  }

  func sqliteUpdate() throws -> BenchmarkCase {
    let original = try data.coreDataSQLite()
    let (ownCopy, copy) = (workspace.scratch("updated-items.sqlite"), workspace.scratch("updated.sqlite"))
    return BenchmarkCase(
      name: "sqlite-update",
      title: "batch update of every other row: a constant and an expression",
      ours: ours(["update", ownCopy]) { try Workspace.copyDatabase(original, to: ownCopy) },
      peer: grdb(["update", copy], name: "SQL by hand") { try Workspace.copyDatabase(original, to: copy) }
    )
  }

  func sqliteFilter() throws -> BenchmarkCase {
    try filter(
      "sqlite-filter",
      "done AND memo CONTAINS \"tea\", sorted, the first 100, in SQL",
      byHand: ["filter", try data.sqlite()]
    )
  }

  func sqliteFilterInSameTable() throws -> BenchmarkCase {
    try filter(
      "sqlite-filter-same",
      "the same, by hand in the same file",
      byHand: ["core-data-filter", try data.coreDataSQLite()]
    )
  }

  private func filter(_ name: String, _ title: String, byHand query: [String]) throws -> BenchmarkCase {
    BenchmarkCase(
      name: name,
      title: title,
      ours: ours(["filter", try data.coreDataSQLite()]),
      peer: grdb(["query"] + query, name: "SQL by hand"),
      goal: .ratio(1.1),
      expected: .init(rows: 100)
    )
  }

  func sqlitePrefetch() throws -> BenchmarkCase {
    BenchmarkCase(
      name: "sqlite-prefetch",
      title: "10,000 lists with their 10 to-dos each, prefetched (GRDB: one join)",
      ours: ours(["prefetch", try data.coreDataSQLiteLists()]),
      peer: grdb(["join", try data.sqliteLists()]),
      goal: .ratio(1.2),
      expected: .init(rows: 100_000)
    )
  }

  func sqliteMigrate() throws -> BenchmarkCase {
    try migration("sqlite-migrate", "migration to the next version of the model, into another file, in SQL")
  }

  func sqliteMigrateDryRun() throws -> BenchmarkCase {
    try migration("sqlite-migrate-dry", "dry run of the same, in SQL", options: ["--dry-run"])
  }

  private func migration(_ name: String, _ title: String, options: [String] = []) throws -> BenchmarkCase {
    let command = ["migrate", try data.coreDataSQLite(), workspace.scratch("migrated-items.sqlite")] + options
    return BenchmarkCase(
      name: name,
      title: title,
      ours: ours(command),
      peer: ours(command + ["--through-memory"], name: "through memory"),
      expected: .init(rows: data.rows)
    )
  }
}
