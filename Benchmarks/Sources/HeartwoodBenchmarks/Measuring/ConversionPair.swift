/// What converting a file of one type to another takes.
struct ConversionPair {
  let from: String
  let to: String
  let series: Series

  static func measureAll(rows: Int, runs: Int, in workspace: Workspace) throws -> [ConversionPair] {
    let catalog = CaseCatalog(workspace: workspace, rows: rows)
    let extensions = CaseCatalog.fileExtensions
    return try extensions.flatMap { from in
      try extensions.filter { $0 != from }.map { to in
        Progress.note("measuring \(from) to \(to)")
        let benchmark = try catalog.conversion(from: from, to: to)
        return ConversionPair(
          from: from,
          to: to,
          series: try Comparison.measure(benchmark, runs: runs, in: workspace).ours
        )
      }
    }
  }
}
