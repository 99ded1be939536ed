/// A transaction as it lies in a page.
struct HistoryEntry: Sendable {
  /// The length of 8 bytes, the date, two empty texts, and the least run.
  static let minimumLength = 8 + 8 + 4 + 4 + HistoryRun.minimumLength

  let number: Int64
  /// When it was saved, in seconds since 2001-01-01 00:00 UTC.
  let seconds: Double
  let author: String?
  let contextName: String?
  let runs: [HistoryRun]
  /// Where in its page it begins.
  let start: Int

  init(_ page: inout HistoryCursor, number: Int64) throws(HistoryFault) {
    self.number = number
    start = page.position
    var cursor = try page.part()
    let place = cursor.position
    seconds = try cursor.number(Double.self)
    guard seconds.isFinite else { throw HistoryFault("a transaction of the history has no date", at: place) }
    author = try cursor.optionalText()
    contextName = try cursor.optionalText()
    var runs: [HistoryRun] = []
    while cursor.remainingCount > 0 { runs.append(try HistoryRun(&cursor)) }
    guard !runs.isEmpty else { throw HistoryFault("a transaction of the history has no change", at: place) }
    self.runs = runs
  }

  /// Makes sure of what reading the transaction leaves alone: the names and tombstones of its records.
  func checkRecords() throws(HistoryFault) {
    for run in runs { try run.checkRecords() }
  }
}
