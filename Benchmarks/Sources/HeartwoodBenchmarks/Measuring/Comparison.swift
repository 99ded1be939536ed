import BenchmarkSupport

/// A case that has been measured.
struct Comparison {
  let benchmark: BenchmarkCase
  let ours: Series
  let peer: Series?

  /// Measures a case: our side and the peer take turns, so that a change of the machine's pace hits both. A first run of each
  /// warms the caches and is not counted.
  static func measure(_ benchmark: BenchmarkCase, runs: Int, in workspace: Workspace) throws -> Comparison {
    let sides = [benchmark.ours] + (benchmark.peer.map { [$0] } ?? [])
    for side in sides { _ = try side.run(in: workspace) }
    var series = sides.map { _ in Series() }
    for _ in 0..<runs {
      for (index, side) in sides.enumerated() {
        let sample = try side.run(in: workspace)
        try benchmark.checkReport(sample.report, of: side)
        series[index].append(sample)
      }
    }
    try benchmark.check()
    return Comparison(benchmark: benchmark, ours: series[0], peer: series.count > 1 ? series[1] : nil)
  }

  /// Our median over the peer's.
  var ratio: Double? { peer.map { ours.seconds.median / $0.seconds.median } }

  /// Whether the goal is met, the memory's included; nil where the case has none.
  var meetsGoal: Bool? {
    let isFast: Bool
    switch benchmark.goal {
    case .ratio(let limit):
      guard let ratio else { return nil }
      isFast = ratio <= limit
    case .seconds(let limit): isFast = ours.seconds.median <= limit
    case nil: return nil
    }
    return isFast && usesNoMoreMemory ?? true
  }

  /// Whether our side's peak is no higher than the peer's; nil where the case does not ask.
  var usesNoMoreMemory: Bool? {
    guard benchmark.limitsMemory, let peer else { return nil }
    return ours.peakBytes <= peer.peakBytes
  }
}
