package import HeartwoodFoundation
package import HeartwoodModel

/// Finds the transactions in the history of one store that a request asks for.
package struct HistoryReader: Sendable {
  package let history: any KeptHistory
  private let storeID: UUID
  private let scopes: HistoryScopes
  private let path: String?

  /// - Parameter scopes: those of the store, one for each entity.
  package init(_ history: any KeptHistory, storeID: UUID, scopes: [ObjectIDScope], path: String?) {
    self.history = history
    self.storeID = storeID
    self.scopes = HistoryScopes(scopes, path: path)
    self.path = path
  }
}

extension HistoryReader {
  /// The transactions that `request` asks for, in order.
  ///
  /// - Throws: ``PersistenceError/Code/historyTokenExpired``, ``PersistenceError/Code/fileCorrupt``,
  ///   ``PersistenceError/Code/modelIncompatible``.
  package func transactions(_ request: PersistentHistoryChangeRequest) throws -> [PersistentHistoryTransaction] {
    var transactions: [PersistentHistoryTransaction] = []
    for entry in try history.entries(after: try startNumber(of: request)) where request.includes(entry) {
      let transaction = try PersistentHistoryTransaction(
        entry,
        storeID: storeID,
        scopes: scopes,
        isIncluded: request.includes
      )
      if transaction.changeCount > 0 { transactions.append(transaction) }
    }
    return transactions
  }

  /// How many transactions `request` asks for. Where it asks for all after a token, nothing is read for it.
  package func count(_ request: PersistentHistoryChangeRequest) throws -> Int {
    guard request.isUnfiltered else { return try transactions(request).count }
    return try history.transactionCount(after: try startNumber(of: request))
  }

  /// The number of the transaction behind which `request` begins.
  private func startNumber(of request: PersistentHistoryChangeRequest) throws(PersistenceError) -> Int64 {
    guard case .token(let token) = request.start,
      let number = token.transactionNumber(forStoreWithIdentifier: storeID)
    else { return history.purgedNumber }
    if number < history.purgedNumber {
      throw expired("the transactions up to \(history.purgedNumber) were purged", number)
    }
    if number > history.lastNumber {
      throw expired("the store has had \(history.lastNumber): its file is an older one", number)
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

/// The history of a store as it was when it was asked for, wherever it is kept.
package protocol KeptHistory: Sendable {
  /// The number of the last transaction that is no longer kept; 0 if none was purged.
  var purgedNumber: Int64 { get }
  /// The number of the newest transaction, kept or not; 0 if there was none.
  var lastNumber: Int64 { get }

  /// How many transactions are kept.
  var transactionCount: Int { get throws }

  /// How many transactions there are after the one with a number.
  func transactionCount(after number: Int64) throws -> Int

  /// The transactions after the one with a number, in order.
  func entries(after number: Int64) throws -> [HistoryEntry]

  /// The number of the last transaction of those that were saved before a date and that no later one stands before: what is behind
  /// it stays.
  func lastNumber(beforeDate seconds: Double) throws -> Int64
}

extension KeptHistory {
  /// The transactions after the last gap between their numbers as pages, which are of consecutive ones. What stands before a gap counts as
  /// purged: a token that stands there expires.
  package func pages() throws -> StoreHistory {
    if let pages = self as? StoreHistory {
      try pages.verify()
      return pages
    }
    return try StoreHistory(try entries(after: purgedNumber).map(\.recorded), lastNumber: lastNumber)
  }
}

extension StoreHistory {
  /// The transactions after the last gap between their numbers; all before it count as purged.
  ///
  /// - Parameter lastNumber: the number of the newest transaction, kept or not.
  package init(_ transactions: [RecordedTransaction], lastNumber: Int64) throws(PersistenceError) {
    // A page has no transactions without a change.
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
  /// O(1): numbers have no gaps.
  package func transactionCount(after number: Int64) throws -> Int { Int(lastNumber - max(number, purgedNumber)) }
}

// MARK: The history of an open store

extension PersistentStore {
  /// A reader of the store's history, or nil where it keeps none.
  package func historyReader() throws -> HistoryReader? {
    try engine.history().map { HistoryReader($0, storeID: identifier, scopes: engine.scopes, path: path) }
  }

  /// A reader of the store's history.
  ///
  /// - Throws: ``PersistenceError/Code/capabilityMissing`` where the type of store keeps none,
  ///   ``PersistenceError/Code/historyNotTracked`` where this one does not.
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
  /// Forgets the transactions that were saved before a date, up to the first that was not.
  package func deleteHistory(before date: Date) throws {
    try deleteHistory { try $0.lastNumber(beforeDate: date.timeIntervalSinceReferenceDate) }
  }
}

// MARK: HistoryCursor

/// Reads a page of a history, whose bytes may be anything, and never past its end.
struct HistoryCursor: Sendable {
  let content: ByteSlice
  private(set) var position: Int
  private let end: Int

  init(_ content: ByteSlice) {
    self.init(content, in: 0..<content.count)
  }

  /// - Parameter range: of the bytes of `content`.
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

  /// A length of 8 bytes, and a cursor over so many bytes, which this one skips.
  mutating func part() throws(HistoryFault) -> HistoryCursor {
    let place = position
    guard let length = Int(exactly: try number(UInt64.self)), length <= remainingCount else {
      throw HistoryFault("a part of the history is longer than what it is part of", at: place)
    }
    return HistoryCursor(content, in: try skip(length))
  }

  /// A length of 4 bytes and as many bytes.
  mutating func bytes() throws(HistoryFault) -> UnsafeRawBufferPointer {
    let length = Int(try number(UInt32.self))
    return UnsafeRawBufferPointer(rebasing: content.unsafeBytes[try skip(length)])
  }

  /// A length of 4 bytes and as many bytes of UTF-8.
  mutating func text() throws(HistoryFault) -> String {
    let place = position
    guard let text = String(validating: try bytes(), as: UTF8.self) else {
      throw HistoryFault("a text of the history is not UTF-8", at: place)
    }
    return text
  }

  /// A text, or nil for one without a character.
  mutating func optionalText() throws(HistoryFault) -> String? {
    let text = try text()
    return text.isEmpty ? nil : text
  }

  /// A text that has a character.
  mutating func name() throws(HistoryFault) -> String {
    let place = position
    if let name = try optionalText() { return name }
    throw HistoryFault("a name in the history is empty", at: place)
  }
}

// MARK: HistoryFault

/// What is wrong with bytes that should be a page of a history, and where.
package struct HistoryFault: Error, Sendable {
  package let what: String
  /// In the page.
  package let offset: Int

  init(_ what: String, at offset: Int) {
    self.what = what
    self.offset = offset
  }
}
