/// What it costs to keep the history of a store: each case with it, against the same without it.
extension CaseCatalog {
  static let insertedRows = 100_000

  func historyOne() throws -> BenchmarkCase {
    let original = try data.binary()
    return BenchmarkCase(
      name: "history-one",
      title: "save of one changed row with history, against none",
      ours: saveOne("history.heartwood", original, ["--history"], name: "Heartwood"),
      peer: saveOne("no-history.heartwood", original, [], name: "without")
    )
  }

  func historyInsert() throws -> BenchmarkCase {
    BenchmarkCase(
      name: "history-insert",
      title: "insert of 100,000 rows as objects and save, with history, against none",
      ours: insert("history.heartwood", ["--history"], name: "Heartwood"),
      peer: insert("no-history.heartwood", [], name: "without"),
      expected: .init(rows: Self.insertedRows)
    )
  }

  private func saveOne(_ file: String, _ original: String, _ options: [String], name: String) -> Contestant {
    let store = workspace.scratch(file)
    return Contestant(name, .reported, [workspace.programs.cases, "save-one", store] + options) {
      try Workspace.copy(original, to: store)
    }
  }

  func insert(_ file: String, _ options: [String], name: String) -> Contestant {
    let arguments = ["insert", workspace.scratch(file), "--rows", String(Self.insertedRows)]
    return Contestant(name, .reported, [workspace.programs.cases] + arguments + options)
  }
}
