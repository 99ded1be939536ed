/// What was measured, and how, as text or as Markdown.
struct Report {
  let machine: Machine
  let rows: Int
  let runs: Int
  let comparisons: [Comparison]
  let growth: [GrowthPoint]
  let pairs: [ConversionPair]
  let memory: [MemoryPoint]

  var text: String {
    sections(heading: { $0 + "\n" + String(repeating: "-", count: $0.count) }, table: \.text)
  }

  var markdown: String {
    "# Benchmarks\n\n" + sections(heading: { "## " + $0 + "\n" }, table: \.markdown)
  }

  private func sections(heading: (String) -> String, table: (Table) -> String) -> String {
    var parts = [machine.lines.map { "- " + $0 }.joined(separator: "\n"), method]
    if !comparisons.isEmpty {
      parts += [heading("\(rows) rows"), table(comparisonTable)]
      if !notes.isEmpty { parts.append(notes.map { "- " + $0 }.joined(separator: "\n")) }
    }
    if !growth.isEmpty { parts += [heading("Growth"), table(growthTable)] }
    if !pairs.isEmpty { parts += [heading("From every type to every other, \(rows) rows"), table(pairTable)] }
    if !memory.isEmpty { parts += [heading("Memory beside the program itself, \(rows) rows"), table(memoryTable)] }
    return parts.joined(separator: "\n\n") + "\n"
  }

  private var method: String {
    "Medians of \(runs) runs after one that warms up, in brackets the fastest and the slowest; the sides take turns, each run is a "
      + "new process, and the disk is idle when it begins. Memory is the highest peak of all runs."
  }
}

// MARK: Tables

extension Report {
  private var comparisonTable: Table {
    var table = Table(["case", "ours", "peer", "ratio", "goal", "met", "our peak", "peer's peak"])
    for comparison in comparisons {
      let benchmark = comparison.benchmark
      table.rows.append([
        "\(benchmark.name): \(benchmark.title)",
        Figures.spread(comparison.ours.seconds),
        comparison.peer.map { "\(benchmark.peer?.name ?? "") \(Figures.spread($0.seconds))" } ?? "–",
        comparison.ratio.map(Figures.ratio) ?? "–",
        Self.goal(of: benchmark),
        Self.verdict(comparison),
        Figures.megabytes(comparison.ours.peakBytes),
        comparison.peer.map { Figures.megabytes($0.peakBytes) } ?? "–",
      ])
    }
    return table
  }

  private static func goal(of benchmark: BenchmarkCase) -> String {
    let memory = benchmark.limitsMemory ? ", memory ≤ peer" : ""
    switch benchmark.goal {
    case .ratio(let limit): return "≤ \(limit)\(memory)"
    case .seconds(let limit): return "≤ \(Figures.duration(limit))\(memory)"
    case nil: return "–"
    }
  }

  private static func verdict(_ comparison: Comparison) -> String {
    guard let isMet = comparison.meetsGoal else { return "–" }
    if isMet { return "yes" }
    return comparison.usesNoMoreMemory == false ? "no (memory)" : "no"
  }

  private var pairTable: Table {
    var table = Table(["from", "to", "heartwood convert", "peak"])
    for pair in pairs {
      table.rows.append([
        pair.from, pair.to, Figures.spread(pair.series.seconds), Figures.megabytes(pair.series.peakBytes),
      ])
    }
    return table
  }

  private var memoryTable: Table {
    var table = Table(["type", "direction", "tables", "buffers", "growth", "ratio", "goal", "met"])
    for point in memory {
      table.rows.append([
        point.fileExtension, point.direction.rawValue, Figures.megabytes(point.tableBytes),
        Figures.megabytes(point.bufferBytes), Figures.megabytes(point.growth), Figures.ratio(point.ratio),
        "≤ \(MemoryPoint.goal)", point.meetsGoal ? "yes" : "no",
      ])
    }
    return table
  }

  private var growthTable: Table {
    var table = Table(["rows", "convert", "a row", "peak", "load and read", "a row", "peak"])
    for point in growth {
      table.rows.append(["\(point.rows)"] + cells(point.conversion, point.rows) + cells(point.loading, point.rows))
    }
    return table
  }

  private func cells(_ series: Series, _ rows: Int) -> [String] {
    let seconds = series.seconds.median
    return [
      Figures.duration(seconds), "\(Figures.significant(seconds / Double(rows) * 1e9)) ns",
      Figures.megabytes(series.peakBytes),
    ]
  }

  /// Durations beside those that count.
  private var notes: [String] {
    comparisons.flatMap { comparison in
      let benchmark = comparison.benchmark
      let sides =
        [(benchmark.ours, comparison.ours)]
        + zip([benchmark.peer], [comparison.peer]).compactMap { contestant, series in
          contestant.flatMap { contestant in series.map { (contestant, $0) } }
        }
      return sides.flatMap { contestant, series in
        notes(on: contestant, series).map { "\(benchmark.name): \($0)" }
      }
    }
  }

  private func notes(on contestant: Contestant, _ series: Series) -> [String] {
    var notes = series.details.map { "\(contestant.name), \($0.name): \(Figures.spread($0.seconds))" }
    if let memory = series.bytesPerRow {
      notes.append("\(contestant.name), memory for each row: \(Int(memory.median.rounded())) bytes")
    }
    if contestant.measure == .reported {
      notes.append("\(contestant.name), the whole process: \(Figures.spread(series.processSeconds))")
    }
    return notes
  }
}
