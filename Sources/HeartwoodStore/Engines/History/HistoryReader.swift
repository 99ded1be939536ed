package import HeartwoodFoundation
package import HeartwoodModel

/// Finds the transactions in the history of one store that a request asks for.
package struct HistoryReader: Sendable {
  package let history: any KeptHistory
  private let storeID: UUID
  private let scopes: HistoryScopes
  private let path: String?

  /// - Parameter scopes: the object id scopes of the store, one for each entity.
  package init(_ history: any KeptHistory, storeID: UUID, scopes: [ObjectIDScope], path: String?) {
    self.history = history
    self.storeID = storeID
    self.scopes = HistoryScopes(scopes, path: path)
    self.path = path
  }
}

extension HistoryReader {
  /// The number of transactions that are read at once.
  private static let pageLength = 256

  /// Returns the transactions that `request` asks for, in order.
  ///
  /// - Throws: ``PersistenceError/Code/historyTokenExpired``, ``PersistenceError/Code/fileCorrupt``,
  ///   ``PersistenceError/Code/modelIncompatible``.
  package func transactions(_ request: PersistentHistoryChangeRequest) throws -> [PersistentHistoryTransaction] {
    try history.entries(after: try startNumber(of: request)).compactMap { try transaction($0, request) }
  }

  /// Calls `body` with the transactions that `request` asks for, in order, and at most `limit`. They are read in pages,
  /// so that only one page is in memory.
  ///
  /// - Throws: the errors of ``transactions(_:)``, ``PersistenceError/Code/historyTokenExpired`` if transactions are
  ///   purged meanwhile, and the errors of `body`.
  package func forEachTransaction(
    _ request: PersistentHistoryChangeRequest,
    limit: Int = .max,
    _ body: (PersistentHistoryTransaction) throws -> Void
  ) throws {
    var number = try startNumber(of: request)
    var left = limit
    while left > 0 {
      let (purgedNumber, entries) = try history.page(after: number, limit: Self.pageLength)
      if number < purgedNumber { throw expired("the transactions up to \(purgedNumber) were purged", number) }
      for entry in entries where left > 0 {
        guard let transaction = try transaction(entry, request) else { continue }
        try body(transaction)
        left -= 1
      }
      guard entries.count == Self.pageLength, let last = entries.last else { return }
      number = last.number
    }
  }

  /// Returns the transaction; nil if `request` does not ask for it.
  private func transaction(
    _ entry: HistoryEntry,
    _ request: PersistentHistoryChangeRequest
  ) throws(PersistenceError) -> PersistentHistoryTransaction? {
    guard request.includes(entry) else { return nil }
    let transaction = try PersistentHistoryTransaction(
      entry,
      storeID: storeID,
      scopes: scopes,
      isIncluded: request.includes
    )
    return transaction.changeCount > 0 ? transaction : nil
  }

  /// Returns the number of transactions that `request` asks for. If it asks for all after a token, this reads none of
  /// them.
  package func count(_ request: PersistentHistoryChangeRequest) throws -> Int {
    guard request.isUnfiltered else { return try transactions(request).count }
    return try history.transactionCount(after: try startNumber(of: request))
  }

  /// Returns the number of the transaction after which `request` begins.
  private func startNumber(of request: PersistentHistoryChangeRequest) throws(PersistenceError) -> Int64 {
    guard case .token(let token) = request.start,
      let number = token.transactionNumber(forStoreWithIdentifier: storeID)
    else { return history.purgedNumber }
    if number < history.purgedNumber {
      throw expired("the transactions up to \(history.purgedNumber) were purged", number)
    }
    if number > history.lastNumber {
      throw expired("the last one has number \(history.lastNumber): the file is older", number)
    }
    return number
  }

  private func expired(_ reason: String, _ number: Int64) -> PersistenceError {
    PersistenceError(
      .historyTokenExpired,
      "The transactions after number \(number) were asked for, but \(reason).",
      recovery: .restartHistory,
      context: .init(path: path)
    )
  }
}

// MARK: KeptHistory

/// The history of a store as it was when it was requested, wherever it is kept.
package protocol KeptHistory: Sendable {
  /// The number of the last transaction that was purged; 0 if none was.
  var purgedNumber: Int64 { get }
  /// The number of the newest transaction, purged or not; 0 if there was none.
  var lastNumber: Int64 { get }

  /// The number of transactions that are kept.
  var transactionCount: Int { get throws }

  /// Returns the number of transactions after the one with a number.
  func transactionCount(after number: Int64) throws -> Int

  /// Returns the transactions after the one with a number, in order.
  func entries(after number: Int64) throws -> [HistoryEntry]

  /// Returns the first transactions after the one with a number, in order, and at most `limit`, with the number of the
  /// last transaction that has been purged by then.
  func page(after number: Int64, limit: Int) throws -> (purgedNumber: Int64, entries: [HistoryEntry])

  /// Returns the number of the last transaction that was saved before a date and that has no later one before it. The
  /// transactions after it stay.
  func lastNumber(beforeDate seconds: Double) throws -> Int64
}

extension KeptHistory {
  /// Returns the transactions after the last gap between their numbers as pages, which hold consecutive ones. Those
  /// before a gap count as purged: a token that refers to one of them expires.
  package func pages() throws -> StoreHistory {
    if let pages = self as? StoreHistory {
      try pages.verify()
      return pages
    }
    return try StoreHistory(try entries(after: purgedNumber).map(\.recorded), lastNumber: lastNumber)
  }
}

extension StoreHistory {
  /// Makes a history of the transactions after the last gap between their numbers; all before it count as purged. A
  /// store that keeps its history in a form of its own salvages it with this (``StoreLoader/history``).
  ///
  /// - Parameters:
  ///   - transactions: the transactions, in order.
  ///   - lastNumber: the number of the newest transaction, purged or not.
  /// - Throws: ``PersistenceError/Code/fileCorrupt`` if the numbers are negative or too great.
  public init(_ transactions: [RecordedTransaction], lastNumber: Int64) throws(PersistenceError) {
    // A page contains no transactions without a change.
    let transactions = transactions.filter { !$0.changes.isEmpty }
    let first = transactions.indices.last { $0 > 0 && transactions[$0].number != transactions[$0 - 1].number + 1 } ?? 0
    let kept = transactions.last?.number == lastNumber ? transactions[first...] : []
    try self.init(purgedNumber: kept.first.map { $0.number - 1 } ?? lastNumber, pages: [])
    for transaction in kept {
      if let bytes = HistoryTransactionEncoder.bytes(of: transaction) { try append(bytes) }
    }
  }
}

extension StoreHistory: KeptHistory {
  /// Returns the number of transactions after the one with a number. O(1): numbers have no gaps.
  package func transactionCount(after number: Int64) throws -> Int { Int(lastNumber - max(number, purgedNumber)) }

  /// Reads the pages with the transactions. A purge makes another history, and does not change this one.
  package func page(after number: Int64, limit: Int) throws -> (purgedNumber: Int64, entries: [HistoryEntry]) {
    (purgedNumber, try entries(after: number, limit: limit))
  }
}

// MARK: The history of an open store

extension PersistentStore {
  /// Returns a reader of the store's history, or nil if it keeps none.
  package func historyReader() throws -> HistoryReader? {
    try engine.history().map { HistoryReader($0, storeID: identifier, scopes: engine.scopes, path: path) }
  }

  /// Returns a reader of the store's history.
  ///
  /// - Throws: ``PersistenceError/Code/capabilityMissing`` if the type of store keeps none,
  ///   ``PersistenceError/Code/historyNotTracked`` if this store does not.
  package func requiredHistoryReader() throws -> HistoryReader {
    if let reader = try historyReader() { return reader }
    try CapabilityCheck(typeDescription).checkHistory(path: path, recovery: "Convert it to a type that does.")
    throw PersistenceError(
      .historyNotTracked,
      "The store keeps no history.",
      recovery: .trackHistory,
      context: .init(path: path, storeType: type)
    )
  }
}

extension StoreEngine {
  /// Removes the transactions that were saved before a date, up to the first that was not.
  package func deleteHistory(before date: Date) throws {
    try deleteHistory { try $0.lastNumber(beforeDate: date.timeIntervalSinceReferenceDate) }
  }
}

// MARK: HistoryCursor

/// Reads the bytes of a history page, which may be invalid, and never past the page's end.
struct HistoryCursor: Sendable {
  let content: ByteSlice
  private(set) var position: Int
  private let end: Int

  init(_ content: ByteSlice) {
    self.init(content, in: 0..<content.count)
  }

  /// - Parameter range: the range of the bytes in `content`.
  init(_ content: ByteSlice, in range: Range<Int>) {
    self.content = content
    self.position = range.lowerBound
    self.end = range.upperBound
  }

  var remainingCount: Int { end - position }

  func expectEnd(_ what: String) throws(HistoryFault) {
    if remainingCount > 0 { throw HistoryFault(what, at: position) }
  }

  mutating func skip(_ count: Int) throws(HistoryFault) -> Range<Int> {
    guard count >= 0, count <= remainingCount else {
      throw HistoryFault("the history ends inside of a transaction", at: position)
    }
    defer { position += count }
    return position..<(position + count)
  }

  mutating func number<Number: BitwiseCopyable>(_ type: Number.Type) throws(HistoryFault) -> Number {
    let place = try skip(MemoryLayout<Number>.size).lowerBound
    return content.unsafeBytes.loadUnaligned(fromByteOffset: place, as: Number.self)
  }

  /// Reads a length of 8 bytes, and returns a cursor over so many bytes, which this one skips.
  mutating func part() throws(HistoryFault) -> HistoryCursor {
    let place = position
    guard let length = Int(exactly: try number(UInt64.self)), length <= remainingCount else {
      throw HistoryFault("a part of the history is longer than the whole", at: place)
    }
    return HistoryCursor(content, in: try skip(length))
  }

  /// Reads a length of 4 bytes and as many bytes.
  mutating func bytes() throws(HistoryFault) -> UnsafeRawBufferPointer {
    let length = Int(try number(UInt32.self))
    return UnsafeRawBufferPointer(rebasing: content.unsafeBytes[try skip(length)])
  }

  /// Reads a length of 4 bytes and as many bytes of UTF-8.
  mutating func text() throws(HistoryFault) -> String {
    let place = position
    guard let text = String(validating: try bytes(), as: UTF8.self) else {
      throw HistoryFault("a text of the history is not UTF-8", at: place)
    }
    return text
  }

  /// Reads a text; nil for an empty one.
  mutating func optionalText() throws(HistoryFault) -> String? {
    let text = try text()
    return text.isEmpty ? nil : text
  }

  /// Reads a text that must not be empty.
  mutating func name() throws(HistoryFault) -> String {
    let place = position
    if let name = try optionalText() { return name }
    throw HistoryFault("a name in the history is empty", at: place)
  }
}

// MARK: HistoryFault

/// A fault in bytes that should be a page of a history, and its offset.
package struct HistoryFault: Error, Sendable {
  package let what: String
  /// The offset in the page.
  package let offset: Int

  init(_ what: String, at offset: Int) {
    self.what = what
    self.offset = offset
  }
}
