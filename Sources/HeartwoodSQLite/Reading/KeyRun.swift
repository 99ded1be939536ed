/// Keys that lie near each other, and are looked for together.
struct KeyRun {
  /// Up to so many rows between two that are wanted are passed over: it takes longer to look for one anew.
  private static let greatestGap: UInt64 = 8

  let range: ClosedRange<Int64>
  /// The keys, ascending; nil means all within the range.
  let keys: [Int64]?

  /// The runs of `keys`, which may be in any order.
  static func runs(of keys: [Int64]) -> [KeyRun] {
    var runs: [KeyRun] = []
    var run: [Int64] = []
    func end() {
      if let first = run.first, let last = run.last { runs.append(KeyRun(range: first...last, keys: run)) }
      run = []
    }
    for key in keys.sorted() {
      if let last = run.last, UInt64(bitPattern: key &- last) > greatestGap { end() }
      if run.last != key { run.append(key) }
    }
    end()
    return runs
  }
}
