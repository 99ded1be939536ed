extension CaseCatalog {
  private func ours(_ query: String) throws -> Contestant {
    Contestant("Heartwood", .reported, [workspace.programs.cases, "query", query, try data.binary()])
  }

  private func sqlite(_ query: String) throws -> Contestant {
    Contestant("SQLite by GRDB", .reported, [workspace.programs.grdb, "query", query, try data.sqlite()])
  }

  private func duckDB(_ query: String) throws -> Contestant? {
    try python("DuckDB, 2 threads", "query", query)
  }

  private func python(_ name: String, _ job: String, _ query: String) throws -> Contestant? {
    try workspace.programs.python.map { python in
      Contestant(
        name,
        .reported,
        [python, workspace.programs.duckdb, job, try data.duckDB(python), "--query", query, "--threads", "2"]
      )
    }
  }

  /// A query of the case program and, under the same name, of the peer.
  private func fetch(
    _ name: String,
    _ title: String,
    _ query: String,
    against peer: Contestant?,
    _ goal: BenchmarkCase.Goal? = nil,
    rows: Int? = nil
  ) throws -> BenchmarkCase {
    BenchmarkCase(
      name: name,
      title: title,
      ours: try ours(query),
      peer: peer,
      goal: goal,
      expected: rows.map { .init(rows: $0) }
    )
  }

  func fetchFilter() throws -> BenchmarkCase {
    let title = "done AND memo CONTAINS \"tea\", sorted, the first 100"
    return try fetch("fetch-filter", title, "filter", against: sqlite("filter"), .ratio(0.15), rows: 100)
  }

  func fetchFilterDuckDB() throws -> BenchmarkCase {
    try fetch("fetch-filter-duckdb", "the same", "filter", against: duckDB("filter"), .ratio(1), rows: 100)
  }

  func fetchFilterPolars() throws -> BenchmarkCase {
    let polars = try python("polars, 2 threads", "query-polars", "filter")
    return try fetch("fetch-filter-polars", "the same", "filter", against: polars, .ratio(1), rows: 100)
  }

  func fetchCount() throws -> BenchmarkCase {
    try fetch("fetch-count", "count with an equality", "count", against: sqlite("count"), .seconds(0.002))
  }

  func fetchGroup() throws -> BenchmarkCase {
    try fetch("fetch-group", "group by done with a sum", "group", against: duckDB("group"), .ratio(1), rows: 2)
  }

  func fetchManyGroups() throws -> BenchmarkCase {
    try fetch("fetch-group-many", "group by sortOrder with a sum", "group-many", against: duckDB("group-many"))
  }

  func fetchSort() throws -> BenchmarkCase {
    let title = "sort of all by an integer to ids"
    return try fetch("fetch-sort", title, "sort", against: sqlite("sort"), .ratio(1), rows: data.rows)
  }

  func compilePredicate() throws -> BenchmarkCase {
    let empty = workspace.scratch("empty.heartwood")
    return BenchmarkCase(
      name: "predicate",
      title: "parse and compile a predicate of four terms, and count nothing by it",
      ours: Contestant(
        "Heartwood",
        .reported,
        [workspace.programs.cases, "query", "predicate", empty],
        prepare: { Workspace.remove(empty) }
      ),
      goal: .seconds(0.000_02)
    )
  }

  func batchUpdate() throws -> BenchmarkCase {
    let original = try data.binary()
    let store = workspace.scratch("changed.heartwood")
    return BenchmarkCase(
      name: "batch-update",
      title: "batch update of all rows: a constant and an expression, saved",
      ours: Contestant(
        "Heartwood",
        .reported,
        [workspace.programs.cases, "query", "update", store],
        prepare: { try Workspace.copy(original, to: store) }
      ),
      expected: .init(rows: data.rows)
    )
  }

  func batchInsert() throws -> BenchmarkCase {
    let store = workspace.scratch("inserted.heartwood")
    return BenchmarkCase(
      name: "batch-insert",
      title: "batch insertion of all rows by a closure, saved",
      ours: Contestant(
        "Heartwood",
        .reported,
        [workspace.programs.cases, "query", "insert", store, "--rows", String(data.rows)],
        prepare: { Workspace.remove(store) }
      ),
      expected: .init(rows: data.rows)
    )
  }
}
