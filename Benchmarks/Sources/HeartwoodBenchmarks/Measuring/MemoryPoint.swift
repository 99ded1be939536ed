import BenchmarkSupport

/// What opening or writing a file of one type takes of memory, beside the tables that the records are kept in.
struct MemoryPoint {
  enum Direction: String {
    case read
    case save
  }

  /// How much of the tables and the buffers the growth may be.
  static let goal = 1.5

  let fileExtension: String
  let direction: Direction
  let tableBytes: Int
  let bufferBytes: Int
  /// The greatest growth of all runs.
  let growth: Int

  /// The growth over what the tables and the buffers have to take.
  var ratio: Double { Double(growth) / Double(max(1, tableBytes + bufferBytes)) }
  var meetsGoal: Bool { ratio <= Self.goal }

  static func measureAll(rows: Int, runs: Int, in workspace: Workspace) throws -> [MemoryPoint] {
    let catalog = CaseCatalog(workspace: workspace, rows: rows)
    return try CaseCatalog.fileExtensions.flatMap { fileExtension in
      try [Direction.read, .save].map { direction in
        Progress.note("measuring the memory of \(fileExtension), \(direction.rawValue)")
        let benchmark = try catalog.memoryCase(fileExtension, direction)
        let reports = try Comparison.measure(benchmark, runs: runs, in: workspace).ours.samples.compactMap(\.report)
        return try point(fileExtension, direction, rows: rows, reports)
      }
    }
  }

  private static func point(
    _ fileExtension: String,
    _ direction: Direction,
    rows: Int,
    _ reports: [CaseReport]
  ) throws -> MemoryPoint {
    guard let tables = reports.compactMap(\.tableBytes).max(), let growth = reports.compactMap(\.growth).max() else {
      throw BenchmarkError("The system does not tell what memory a process takes.")
    }
    return MemoryPoint(
      fileExtension: fileExtension,
      direction: direction,
      tableBytes: tables,
      bufferBytes: FormatBuffers.bytes(fileExtension, direction, rows: rows),
      growth: growth
    )
  }
}
