extension CaseCatalog {
  /// How many threads DuckDB may use.
  private static let threads = "2"

  func csvToBinary() throws -> BenchmarkCase {
    let source = try data.csv()
    let destination = workspace.scratch("converted.heartwood")
    let duckDB = workspace.programs.python.map { python in
      Contestant(
        "DuckDB, 2 threads",
        .reported,
        [
          python, workspace.programs.duckdb, "import", source, workspace.scratch("converted.duckdb"), "--threads",
          Self.threads,
        ]
      )
    }
    return BenchmarkCase(
      name: "csv-to-binary",
      title: "CSV → binary, durable",
      ours: Contestant(
        "heartwood convert",
        .wholeProcess,
        [workspace.programs.tool, "convert", source, destination, "--model", workspace.programs.model],
        prepare: { Workspace.remove(destination) }
      ),
      peer: duckDB,
      goal: .ratio(0.25),
      limitsMemory: true,
      expected: .init(rows: data.rows)
    )
  }

  func binaryToCSV() throws -> BenchmarkCase {
    let original = try data.csv()
    let source = try data.binary()
    let destination = workspace.scratch("exported.csv")
    let duckDB = try workspace.programs.python.map { python in
      Contestant(
        "DuckDB, 2 threads",
        .reported,
        [
          python, workspace.programs.duckdb, "export", try data.duckDB(python),
          workspace.scratch("exported-by-duckdb.csv"),
          "--threads", Self.threads,
        ]
      )
    }
    return BenchmarkCase(
      name: "binary-to-csv",
      title: "binary → CSV, durable (DuckDB does not flush)",
      ours: Contestant(
        "heartwood convert",
        .wholeProcess,
        [workspace.programs.tool, "convert", source, destination],
        prepare: { Workspace.remove(destination) }
      ),
      peer: duckDB,
      goal: .ratio(0.5),
      expected: .init(rows: data.rows),
      check: { try Workspace.expectSameBytes(original, destination) }
    )
  }

  func startup() throws -> BenchmarkCase {
    BenchmarkCase(
      name: "startup",
      title: "start of the tool: heartwood --version",
      ours: Contestant("heartwood --version", .wholeProcess, [workspace.programs.tool, "--version"]),
      goal: .seconds(0.015)
    )
  }
}
