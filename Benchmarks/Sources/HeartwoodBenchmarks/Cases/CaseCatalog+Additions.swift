import BenchmarkSupport

/// What it costs, and what it gains, to have more in a model than attributes: each case with it, against the same without it.
extension CaseCatalog {
  func uniqueInsert() throws -> BenchmarkCase {
    insert("unique-insert", "with a uniqueness constraint, against none", with: "unique")
  }

  func derivedInsert() throws -> BenchmarkCase {
    insert("derived-insert", "with a derived attribute, canonical:(memo), against none", with: "derived")
  }

  private func insert(_ name: String, _ title: String, with addition: String) -> BenchmarkCase {
    BenchmarkCase(
      name: name,
      title: "insert of 100,000 rows as objects and save, \(title)",
      ours: insert("\(name).heartwood", ["--with", addition], name: "Heartwood"),
      peer: insert("\(name)-without.heartwood", [], name: "without"),
      expected: .init(rows: Self.insertedRows)
    )
  }

  func indexedFetch() throws -> BenchmarkCase {
    let arguments = [workspace.programs.cases, "query", "equality", try data.binary()]
    return BenchmarkCase(
      name: "fetch-indexed",
      title: "fetch by an equality with an integer, with an index, against none",
      ours: Contestant("Heartwood", .reported, arguments + ["--with", "index"]),
      peer: Contestant("without", .reported, arguments),
      expected: .init(rows: ToDoSequence(count: data.rows).count { $0.sortOrder == ToDoSequence.wantedPlace })
    )
  }

  func liveChange() throws -> BenchmarkCase {
    let arguments = [workspace.programs.cases, "live", try data.binary()]
    return BenchmarkCase(
      name: "live-change",
      title: "one object moves in live results of all rows, sorted, against fetching them again",
      ours: Contestant("Heartwood", .reported, arguments),
      peer: Contestant("fetching again", .reported, arguments + ["--again"]),
      expected: .init(rows: data.rows)
    )
  }
}
