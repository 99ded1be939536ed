/// The history of an atomic store: its transactions since tracking began, or since older ones were purged.
///
/// It is a value: copying it is O(pages), and a copy does not change. A store that keeps history writes
/// ``purgedNumber``, and the count and bytes of each of the ``pages``, and passes them to ``init(purgedNumber:pages:)``
/// when the file is loaded.
public struct StoreHistory: Sendable {
  /// The number of the last transaction that was purged; 0 if none was.
  public private(set) var purgedNumber: Int64
  /// The transactions that are kept, in order.
  public private(set) var pages: [HistoryPage]
  /// The number of transactions that are kept. O(1).
  public private(set) var transactionCount: Int

  /// Creates an empty history.
  package init() {
    purgedNumber = 0
    pages = []
    transactionCount = 0
  }

  /// Creates a history from what a store has saved. O(pages).
  ///
  /// - Throws: ``PersistenceError/Code/fileCorrupt`` if the numbers are negative or too great.
  public init(purgedNumber: Int64, pages: [HistoryPage]) throws(PersistenceError) {
    var last = purgedNumber
    for page in pages {
      let (sum, overflow) = last.addingReportingOverflow(Int64(page.transactionCount))
      last = overflow ? -1 : sum
      if last < 0 { break }
    }
    guard purgedNumber >= 0, last >= 0 else {
      throw PersistenceError(
        .fileCorrupt,
        "The history was altered: its transactions have no such numbers.",
        recovery: .restoreCopy
      )
    }
    self.purgedNumber = purgedNumber
    self.pages = pages
    self.transactionCount = Int(last - purgedNumber)
  }
}

extension StoreHistory {
  /// The number of the newest transaction, even if it was purged; 0 if there was none.
  public var lastNumber: Int64 { purgedNumber + Int64(transactionCount) }

  /// Checks that all pages can be read. After the first success it takes O(pages).
  package func verify() throws(PersistenceError) {
    let pages = pages
    let faults = Parallel.map(pages.count) { index -> PersistenceError? in
      do throws(PersistenceError) {
        try pages[index].verify()
        return nil
      } catch {
        return error
      }
    }
    if let first = faults.lazy.compactMap(\.self).first { throw first }
  }
}

// MARK: Reading

extension StoreHistory {
  /// Returns the transactions after the one with a number, in order. Pages that contain only earlier ones are not read.
  package func entries(after number: Int64) throws(PersistenceError) -> [HistoryEntry] {
    try entries(after: number, limit: .max)
  }

  /// Returns the first transactions after the one with a number, in order, and at most `limit`. Other pages are not
  /// read.
  package func entries(after number: Int64, limit: Int) throws(PersistenceError) -> [HistoryEntry] {
    var entries: [HistoryEntry] = []
    var first = purgedNumber + 1
    for page in pages where entries.count < limit {
      let next = first + Int64(page.transactionCount)
      if next - 1 > number {
        try page.verify()
        entries += page.entries(from: first).drop { $0.number <= number }
      }
      first = next
    }
    return entries.count > limit ? Array(entries.prefix(limit)) : entries
  }

  /// Returns the number of the last transaction before the first one that was saved at a date or later. That
  /// transaction and all after it stay.
  package func lastNumber(beforeDate seconds: Double) throws(PersistenceError) -> Int64 {
    var number = purgedNumber
    for page in pages {
      try page.verify()
      for entry in page.entries(from: number + 1) {
        guard entry.seconds < seconds else { return number }
        number = entry.number
      }
    }
    return number
  }
}

// MARK: Changing

extension StoreHistory {
  /// Adds a transaction, which gets the next number. The last page must have been verified. O(bytes of the transaction
  /// and of a page that is not full).
  package mutating func append(_ transaction: ByteSlice) throws(PersistenceError) {
    guard lastNumber < .max else {
      throw PersistenceError(
        .capabilityMissing,
        "The history has no number left.",
        recovery: "Begin a new one: convert the store."
      )
    }
    if let last = pages.last, last.content.count < HistoryPage.fullByteCount {
      pages[pages.count - 1] = last.appending(transaction)
    } else {
      pages.append(HistoryPage(sound: transaction, transactionCount: 1))
    }
    transactionCount += 1
  }

  /// Removes the transactions up to and including the one with a number. All of their pages must have been verified.
  mutating func removeTransactions(through number: Int64) {
    while let page = pages.first, purgedNumber < number {
      let count = Int(min(number - purgedNumber, Int64(page.transactionCount)))
      if count == page.transactionCount {
        pages.removeFirst()
      } else {
        pages[0] = page.removingFirst(count)
      }
      purgedNumber += Int64(count)
      transactionCount -= count
    }
  }
}
