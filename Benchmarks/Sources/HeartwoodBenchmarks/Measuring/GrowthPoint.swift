/// How time and memory are at one number of rows.
struct GrowthPoint {
  let rows: Int
  let conversion: Series
  let loading: Series

  static func measureAll(upToTenMillion: Bool, runs: Int, in workspace: Workspace) throws -> [GrowthPoint] {
    let sizes = [10_000, 100_000, 1_000_000] + (upToTenMillion ? [10_000_000] : [])
    return try sizes.map { rows in
      Progress.note("measuring growth at \(rows) rows")
      let catalog = CaseCatalog(workspace: workspace, rows: rows)
      var conversion = try catalog.csvToBinary()
      var loading = try catalog.objects()
      conversion.peer = nil
      loading.peer = nil
      return GrowthPoint(
        rows: rows,
        conversion: try Comparison.measure(conversion, runs: runs, in: workspace).ours,
        loading: try Comparison.measure(loading, runs: runs, in: workspace).ours
      )
    }
  }
}
