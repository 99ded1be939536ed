/// Work that is too short to be measured once.
package enum Repetition {
  private static let times = 21

  /// The median duration of 21 calls of `work`, after one that warms up, and the number of rows that the last gave.
  package static func median(_ work: () throws -> Int) rethrows -> (seconds: Double, rows: Int) {
    var rows = try work()
    let clock = ContinuousClock()
    var durations: [Double] = []
    for _ in 0..<times {
      let start = clock.now
      rows = try work()
      durations.append((clock.now - start).seconds)
    }
    return (durations.sorted()[times / 2], rows)
  }
}
