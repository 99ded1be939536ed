import BenchmarkSupport

/// Files of other forms, against the libraries that are there for them.
extension CaseCatalog {
  private static let xmlReadGoal = 1.2
  private static let xmlWriteGoal = 0.25
  private static let propertyListGoal = 0.05
  private static let columnFileGoal = 1.5

  func xmlRead() throws -> BenchmarkCase {
    try reading(
      "xml-read",
      "XML → tables",
      data.store("xml"),
      "read-xml",
      "libxml2 SAX2 to C structs",
      Self.xmlReadGoal
    )
  }

  func xmlWrite() throws -> BenchmarkCase {
    try writing("xml-write", "tables → XML, durable", "xml", "write-xml", "xmlTextWriter, flushed", Self.xmlWriteGoal)
  }

  func propertyListRead() throws -> BenchmarkCase {
    try reading(
      "plist-read",
      "binary property list → tables",
      data.store("plist"),
      "read-plist",
      "Foundation",
      Self.propertyListGoal
    )
  }

  func propertyListWrite() throws -> BenchmarkCase {
    try writing(
      "plist-write",
      "tables → binary property list, durable",
      "plist",
      "write-plist",
      "Foundation, flushed",
      Self.propertyListGoal
    )
  }

  /// What an author reaches with the public columns, against our own format of columns.
  func columnFileRead() throws -> BenchmarkCase {
    BenchmarkCase(
      name: "columns-read",
      title: "Examples/ColumnFile → tables, checked",
      ours: Contestant(
        "ColumnFile",
        .reported,
        [workspace.programs.cases, "load", "--checked", try data.store("columns")]
      ),
      peer: Contestant("binary store", .reported, [workspace.programs.cases, "load", "--checked", try data.binary()]),
      goal: .ratio(Self.columnFileGoal),
      expected: .init(rows: data.rows, checksum: data.checksum)
    )
  }

  func columnFileWrite() throws -> BenchmarkCase {
    let source = try data.store("csv")
    let (ours, theirs) = (workspace.scratch("ours.columns"), workspace.scratch("theirs.heartwood"))
    return BenchmarkCase(
      name: "columns-write",
      title: "tables → Examples/ColumnFile, durable",
      ours: Contestant("ColumnFile", .reported, [workspace.programs.cases, "save-as", source, ours]) {
        Workspace.remove(ours)
      },
      peer: Contestant("binary store", .reported, [workspace.programs.cases, "save-as", source, theirs]) {
        Workspace.remove(theirs)
      },
      goal: .ratio(Self.columnFileGoal),
      expected: .init(rows: data.rows)
    )
  }

  private func reading(
    _ name: String,
    _ title: String,
    _ file: String,
    _ command: String,
    _ peer: String,
    _ goal: Double
  ) throws -> BenchmarkCase {
    BenchmarkCase(
      name: name,
      title: title,
      ours: Contestant("Heartwood", .reported, [workspace.programs.cases, "load", file]),
      peer: Contestant(peer, .reported, [workspace.programs.formats, command, file]),
      goal: .ratio(goal),
      expected: .init(rows: data.rows, checksum: data.checksum)
    )
  }

  private func writing(
    _ name: String,
    _ title: String,
    _ fileExtension: String,
    _ command: String,
    _ peer: String,
    _ goal: Double
  ) throws -> BenchmarkCase {
    let binary = try data.binary()
    let source = try data.store(fileExtension)
    let (ours, theirs) = (workspace.scratch("ours.\(fileExtension)"), workspace.scratch("theirs.\(fileExtension)"))
    return BenchmarkCase(
      name: name,
      title: title,
      ours: Contestant("Heartwood", .reported, [workspace.programs.cases, "save-as", binary, ours]) {
        Workspace.remove(ours)
      },
      peer: Contestant(peer, .reported, [workspace.programs.formats, command, source, theirs]) {
        Workspace.remove(theirs)
      },
      goal: .ratio(goal),
      expected: .init(rows: data.rows),
      check: { try Workspace.expectSameBytes(source, ours) }
    )
  }

  // MARK: Memory

  /// Opening a file, or saving our binary file as another type.
  func memoryCase(_ fileExtension: String, _ direction: MemoryPoint.Direction) throws -> BenchmarkCase {
    let name = "memory-\(fileExtension)-\(direction.rawValue)"
    switch direction {
    case .read:
      let command = [workspace.programs.cases, "load", try data.store(fileExtension)]
      return BenchmarkCase(
        name: name,
        title: "open a file",
        ours: Contestant("Heartwood", .reported, command),
        expected: .init(rows: data.rows, checksum: data.checksum)
      )
    case .save:
      let destination = workspace.scratch("memory.\(fileExtension)")
      let command = [workspace.programs.cases, "save-as", try data.binary(), destination]
      return BenchmarkCase(
        name: name,
        title: "save as a type",
        ours: Contestant("Heartwood", .reported, command) { Workspace.remove(destination) },
        expected: .init(rows: data.rows)
      )
    }
  }

  // MARK: Every type to every other

  /// The file name extensions of the types that have files.
  static let fileExtensions = ["heartwood", "csv", "xml", "plist"]

  /// A conversion by the tool, the whole process.
  func conversion(from: String, to: String) throws -> BenchmarkCase {
    let source = try data.store(from)
    let destination = workspace.scratch("converted.\(to)")
    return BenchmarkCase(
      name: "\(from)-to-\(to)",
      title: "\(from) → \(to), durable",
      ours: Contestant(
        "heartwood convert",
        .wholeProcess,
        [workspace.programs.tool, "convert", source, destination, "--model", workspace.programs.model, "--force"]
      )
    )
  }
}
