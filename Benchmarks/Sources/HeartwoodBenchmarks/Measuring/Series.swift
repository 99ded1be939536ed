import BenchmarkSupport

/// One run of one side.
struct Sample {
  /// What counts in the comparison.
  let seconds: Double
  /// The whole process, its start included.
  let processSeconds: Double
  let peakBytes: Int
  /// What the process reported itself, where it did.
  let report: CaseReport?
}

/// The runs of one side.
struct Series {
  private(set) var samples: [Sample] = []

  mutating func append(_ sample: Sample) {
    samples.append(sample)
  }

  var seconds: Spread { Spread(samples.map(\.seconds)) }
  var processSeconds: Spread { Spread(samples.map(\.processSeconds)) }
  var peakBytes: Int { samples.map(\.peakBytes).max() ?? 0 }

  /// By how much memory has grown for each row, where the side reported it.
  var bytesPerRow: Spread? {
    let values = samples.compactMap { $0.report?.bytesPerRow }
    return values.isEmpty ? nil : Spread(values)
  }

  /// The durations that the side reported beside the one that counts.
  var details: [(name: String, seconds: Spread)] {
    let names = Set(samples.flatMap { $0.report?.details.map { Array($0.keys) } ?? [] })
    return names.sorted().map { name in (name, Spread(samples.compactMap { $0.report?.details?[name] })) }
  }
}

/// The middle and the ends of some numbers.
struct Spread {
  let median: Double
  let lowest: Double
  let highest: Double

  init(_ values: [Double]) {
    let sorted = values.sorted()
    lowest = sorted.first ?? .nan
    highest = sorted.last ?? .nan
    let middle = sorted.count / 2
    if sorted.isEmpty {
      median = .nan
    } else if sorted.count.isMultiple(of: 2) {
      median = (sorted[middle - 1] + sorted[middle]) / 2
    } else {
      median = sorted[middle]
    }
  }
}
