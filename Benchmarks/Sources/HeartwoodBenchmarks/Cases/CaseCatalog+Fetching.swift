extension CaseCatalog {
  private func ours(_ query: String, _ path: String? = nil) throws -> Contestant {
    Contestant("Heartwood", .reported, [workspace.programs.cases, "query", query, try path ?? data.binary()])
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

  func fetchFilter() throws -> BenchmarkCase {
    BenchmarkCase(
      name: "fetch-filter",
      title: "done AND memo CONTAINS \"tea\", sorted, the first 100",
      ours: try ours("filter"),
      peer: try sqlite("filter"),
      goal: .ratio(0.15),
      expected: .init(rows: 100)
    )
  }

  func fetchFilterDuckDB() throws -> BenchmarkCase {
    BenchmarkCase(
      name: "fetch-filter-duckdb",
      title: "the same",
      ours: try ours("filter"),
      peer: try duckDB("filter"),
      goal: .ratio(1),
      expected: .init(rows: 100)
    )
  }

  func fetchFilterPolars() throws -> BenchmarkCase {
    BenchmarkCase(
      name: "fetch-filter-polars",
      title: "the same",
      ours: try ours("filter"),
      peer: try python("polars, 2 threads", "query-polars", "filter"),
      goal: .ratio(1),
      expected: .init(rows: 100)
    )
  }

  func fetchCount() throws -> BenchmarkCase {
    BenchmarkCase(
      name: "fetch-count",
      title: "count with an equality",
      ours: try ours("count"),
      peer: try sqlite("count"),
      goal: .seconds(0.002)
    )
  }

  func fetchGroup() throws -> BenchmarkCase {
    BenchmarkCase(
      name: "fetch-group",
      title: "group by done with a sum",
      ours: try ours("group"),
      peer: try duckDB("group"),
      goal: .ratio(1),
      expected: .init(rows: 2)
    )
  }

  func fetchManyGroups() throws -> BenchmarkCase {
    BenchmarkCase(
      name: "fetch-group-many",
      title: "group by sortOrder with a sum",
      ours: try ours("group-many"),
      peer: try duckDB("group-many")
    )
  }

  func fetchSort() throws -> BenchmarkCase {
    BenchmarkCase(
      name: "fetch-sort",
      title: "sort of all by an integer to ids",
      ours: try ours("sort"),
      peer: try sqlite("sort"),
      goal: .ratio(1),
      expected: .init(rows: data.rows)
    )
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
