/// All cases, by name.
struct CaseCatalog {
  let workspace: Workspace
  let data: DataSet

  /// A case, made only when it is asked for: making it may write the files that it reads.
  typealias Entry = (name: String, make: () throws -> BenchmarkCase)

  init(workspace: Workspace, rows: Int) {
    self.workspace = workspace
    self.data = workspace.dataSet(rows: rows)
  }

  var entries: [Entry] {
    [
      ("csv-to-binary", csvToBinary), ("binary-to-csv", binaryToCSV), ("open-count", openAndCount),
      ("objects", objects),
      ("faults", faults), ("save-one", saveOne), ("save-many", saveMany),
      ("load-added-1", { try loadAdded(1, goal: 1.1) }), ("load-added-100", { try loadAdded(100, goal: 1.2) }),
      ("load-added-10000", { try loadAdded(10_000, goal: 2) }), ("save-all", saveAll), ("save-gaps", saveGaps),
      ("insert-all", insertAll),
      ("insert-linked", insertLinked), ("property-read", readProperty), ("property-write", writeProperty),
      ("property-read-loop", readPropertyInLoop), ("property-write-loop", writePropertyInLoop),
      ("history-one", historyOne), ("history-insert", historyInsert),
      ("unique-insert", uniqueInsert), ("derived-insert", derivedInsert), ("startup", startup),
      ("disk-binary", diskBinary), ("disk-csv", diskCSV),
      ("xml-read", xmlRead), ("xml-write", xmlWrite), ("plist-read", propertyListRead),
      ("plist-write", propertyListWrite), ("columns-read", columnFileRead), ("columns-write", columnFileWrite),
      ("fetch-filter", fetchFilter), ("fetch-filter-duckdb", fetchFilterDuckDB),
      ("fetch-filter-polars", fetchFilterPolars), ("fetch-count", fetchCount), ("fetch-group", fetchGroup),
      ("fetch-group-many", fetchManyGroups), ("fetch-sort", fetchSort), ("predicate", compilePredicate),
      ("fetch-indexed", indexedFetch), ("live-change", liveChange),
      ("batch-update", batchUpdate), ("batch-insert", batchInsert),
      ("sqlite-objects", sqliteObjects), ("core-data-objects", coreDataObjects),
      ("sqlite-insert", sqliteInsert), ("sqlite-insert-floor", sqliteInsertDirectly),
      ("sqlite-save-one", sqliteSaveOne), ("sqlite-filter", sqliteFilter),
      ("sqlite-filter-same", sqliteFilterInSameTable),
      ("sqlite-prefetch", sqlitePrefetch), ("sqlite-update", sqliteUpdate),
      ("sqlite-migrate", sqliteMigrate), ("sqlite-migrate-dry", sqliteMigrateDryRun),
    ]
  }

  /// The name of the table of growth, which is chosen like a case.
  static let growth = "growth"
  /// The name of the table of conversions between all types.
  static let pairs = "pairs"
  /// The name of the table of what reading and saving take of memory.
  static let memory = "memory"

  private static let tables = [growth, pairs, memory]

  /// The cases called `names`, or all where there are none.
  func entries(named names: [String]) throws -> [Entry] {
    if names.isEmpty { return entries }
    return try names.filter { !Self.tables.contains($0) }.map { name in
      if let entry = entries.first(where: { $0.name == name }) { return entry }
      let known = (entries.map(\.name) + Self.tables).joined(separator: ", ")
      throw BenchmarkError("There is no case \(name). There are \(known).")
    }
  }
}
