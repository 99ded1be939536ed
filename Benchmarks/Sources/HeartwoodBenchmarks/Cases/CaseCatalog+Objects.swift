extension CaseCatalog {
  private func ours(
    _ arguments: [String],
    prepare: @escaping () throws -> Void = {}
  ) -> Contestant {
    Contestant("Heartwood", .reported, [workspace.programs.cases] + arguments, prepare: prepare)
  }

  private func grdb(_ command: String) throws -> Contestant {
    Contestant("GRDB", .reported, [workspace.programs.grdb, command, try data.sqlite()])
  }

  func openAndCount() throws -> BenchmarkCase {
    BenchmarkCase(
      name: "open-count",
      title: "open a binary store and count",
      ours: ours(["open-count", try data.binary()]),
      peer: try grdb("count"),
      goal: .seconds(0.005),
      expected: .init(rows: data.rows)
    )
  }

  func objects() throws -> BenchmarkCase {
    BenchmarkCase(
      name: "objects",
      title: "binary → registered objects, every value read",
      ours: ours(["objects", try data.binary()]),
      peer: try grdb("objects"),
      goal: .ratio(0.3),
      expected: .init(rows: data.rows, checksum: data.checksum)
    )
  }

  func faults() throws -> BenchmarkCase {
    BenchmarkCase(
      name: "faults",
      title: "binary → registered faults (GRDB: every value)",
      ours: ours(["faults", try data.binary()]),
      peer: try grdb("objects"),
      goal: .ratio(0.15),
      expected: .init(rows: data.rows)
    )
  }

  func saveOne() throws -> BenchmarkCase {
    let original = try data.binary()
    let (store, file) = (workspace.scratch("changed.heartwood"), workspace.scratch("appended"))
    return BenchmarkCase(
      name: "save-one",
      title: "durable save of one changed row, against 4 KB added to a file with two flushes",
      ours: ours(["save-one", store]) { try Workspace.copy(original, to: store) },
      peer: Contestant("bare append", .reported, [workspace.programs.cases, "append", file]) {
        try Workspace.copy(original, to: file)
      },
      goal: .ratio(2.5)
    )
  }

  func saveMany() throws -> BenchmarkCase {
    let original = try data.binary()
    let store = workspace.scratch("changed.heartwood")
    return BenchmarkCase(
      name: "save-many",
      title: "mean of 10,000 durable saves of one changed row each, whole saves included",
      ours: ours(["save-one", store, "--saves", "10000"]) { try Workspace.copy(original, to: store) },
      goal: .seconds(0.0012)
    )
  }

  /// A file with so many saves behind it, against the file without any.
  func loadAdded(_ saves: Int, goal: Double) throws -> BenchmarkCase {
    let original = try data.binary()
    return BenchmarkCase(
      name: "load-added-\(saves)",
      title: "open a file with \(saves) saves behind it and look at a record, against the file without them",
      ours: ours(["load", try data.binary(withSaves: saves), "--checked"]),
      peer: Contestant("without", .reported, [workspace.programs.cases, "load", original, "--checked"]),
      goal: .ratio(goal)
    )
  }

  func saveAll() throws -> BenchmarkCase {
    let original = try data.binary()
    let store = workspace.scratch("changed.heartwood")
    return BenchmarkCase(
      name: "save-all",
      title: "save of all rows changed, against a bare write of the file",
      ours: ours(["save", store]) { try Workspace.copy(original, to: store) },
      peer: try bareWrite(of: original)
    )
  }

  func saveGaps() throws -> BenchmarkCase {
    let store = workspace.scratch("gaps.heartwood")
    return BenchmarkCase(
      name: "save-gaps",
      title: "worst gap of a task that wants to run every 10 ms, while two background contexts save for 3 s",
      ours: ours(["gaps", store]) { Workspace.remove(store) },
      goal: .seconds(0.05)
    )
  }

  func insertAll() throws -> BenchmarkCase {
    BenchmarkCase(
      name: "insert-all",
      title: "insert of all rows as objects, and save",
      ours: ours(["insert", workspace.scratch("inserted.heartwood"), "--rows", String(data.rows)]),
      expected: .init(rows: data.rows)
    )
  }

  func insertLinked() throws -> BenchmarkCase {
    let rows = 100_000
    let database = workspace.scratch("linked.sqlite")
    return BenchmarkCase(
      name: "insert-linked",
      title: "insert of 100,000 objects with a to-one relationship, and save",
      ours: ours(["link", workspace.scratch("linked.heartwood"), "--rows", String(rows)]),
      peer: Contestant("GRDB", .reported, [workspace.programs.grdb, "link", database, "--rows", String(rows)]),
      goal: .ratio(1),
      expected: .init(rows: rows)
    )
  }

  func readProperty() throws -> BenchmarkCase {
    property("property-read", "read", .plain, "a property read through its typed accessor, 20 million times")
  }

  func writeProperty() throws -> BenchmarkCase {
    property("property-write", "write", .plain, "a property written through its typed accessor, 20 million times")
  }

  func readPropertyInLoop() throws -> BenchmarkCase {
    property("property-read-loop", "read", .transparent, "the same, beside a loop that the compiler vectorises")
  }

  func writePropertyInLoop() throws -> BenchmarkCase {
    property("property-write-loop", "write", .transparent, "the same, beside a loop that the compiler vectorises")
  }

  private enum PlainClass: String { case plain, transparent }

  private func property(_ name: String, _ access: String, _ peer: PlainClass, _ title: String) -> BenchmarkCase {
    BenchmarkCase(
      name: name,
      title: title,
      ours: ours(["properties", access, "managed"]),
      peer: Contestant("\(peer) class", .reported, [workspace.programs.cases, "properties", access, peer.rawValue]),
      goal: peer == .plain ? .ratio(3) : nil,
      expected: .init(rows: 20_000_000)
    )
  }

  func diskBinary() throws -> BenchmarkCase {
    let file = try data.binary()
    return BenchmarkCase(
      name: "disk-binary",
      title: "limit: write + fsync + rename of the binary file",
      ours: try bareWrite(of: file)
    )
  }

  func diskCSV() throws -> BenchmarkCase {
    let file = try data.csv()
    return BenchmarkCase(
      name: "disk-csv",
      title: "limit: write + fsync + rename of the CSV file",
      ours: try bareWrite(of: file)
    )
  }

  /// What no atomic save of a file of this size can do without.
  private func bareWrite(of file: String) throws -> Contestant {
    let target = workspace.scratch("bare-write")
    return Contestant("bare write", .reported, [workspace.programs.cases, "write", file, target]) {
      try Workspace.copy(file, to: target)
    }
  }
}
