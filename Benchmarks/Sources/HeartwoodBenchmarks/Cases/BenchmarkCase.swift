import BenchmarkSupport

/// What is measured under a name.
struct BenchmarkCase {
  /// What our side has to reach.
  enum Goal {
    /// At most this part of the peer's time.
    case ratio(Double)
    /// At most this long.
    case seconds(Double)
  }

  let name: String
  /// What is done, for the table.
  let title: String
  let ours: Contestant
  /// nil where nothing is compared, or the peer cannot be had here.
  var peer: Contestant?
  var goal: Goal?
  /// Whether the goal includes a peak of memory no higher than the peer's.
  var limitsMemory = false
  /// What every run has to report.
  var expected: Expectation?
  /// Looks at what the last runs have left and throws where it is wrong.
  var check: () throws -> Void = {}

  /// What runs report when they have done all the work.
  struct Expectation {
    let rows: Int
    var checksum: UInt64?
  }

  /// Throws where a side has not done the whole work.
  func checkReport(_ report: CaseReport?, of side: Contestant) throws {
    guard let expected, let report else { return }
    guard report.rows == expected.rows else {
      throw BenchmarkError("\(name): \(side.name) worked on \(report.rows) rows instead of \(expected.rows).")
    }
    guard let checksum = expected.checksum, report.checksum != checksum else { return }
    throw BenchmarkError("\(name): \(side.name) read other values than were written.")
  }
}
