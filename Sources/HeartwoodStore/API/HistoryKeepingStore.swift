public import HeartwoodFoundation
public import HeartwoodModel

/// An incremental store that keeps the history of its saves itself, such as a database with tables for it.
///
/// A store of this kind declares ``StoreCapabilities/Features/history``. The framework puts together what each save did and hands it over in the
/// transaction of the save, so that a change and its record are durable together; the store numbers transactions, and gives them back.
///
///     func record(_ transaction: RecordedTransaction) throws -> Int64 {
///       try execute("INSERT INTO history (saved, author) VALUES (?, ?)", transaction.date, transaction.author)
///       let number = lastInsertedNumber
///       for changes in transaction.changes { … }
///       return number
///     }
///
/// Numbers ascend, also across processes, and none is given twice, whatever is deleted. There may be gaps between them.
public protocol HistoryKeepingStore: IncrementalStore {
  /// Which transactions there are; nil if the store keeps no history. Called within ``IncrementalStore/reading(_:)`` or
  /// ``IncrementalStore/saving(_:)``, and before each save, so it should be quick.
  func historyExtent() throws -> HistoryExtent?

  /// Begins a history in a store that has none. The first transaction gets the number after `number`. Called within
  /// ``IncrementalStore/saving(_:)``.
  func beginHistory(after number: Int64) throws

  /// Keeps a transaction, and returns its number. Called within ``IncrementalStore/saving(_:)``, after the changes were saved.
  ///
  /// - Parameter transaction: what the save did. Its ``RecordedTransaction/number`` is 0: the store chooses the next one.
  func record(_ transaction: RecordedTransaction) throws -> Int64

  /// The transactions after the one with a number, in order. Called within ``IncrementalStore/reading(_:)``.
  ///
  /// - Throws: an error if what is kept cannot be understood. No part of a transaction is left out.
  func transactions(after number: Int64) throws -> [RecordedTransaction]

  /// How many transactions there are after the one with a number. Called within ``IncrementalStore/reading(_:)``.
  func transactionCount(after number: Int64) throws -> Int

  /// The number of the last transaction before the first one that was saved at `date` or later; that of the last one if there is none.
  /// Called within ``IncrementalStore/reading(_:)``.
  func lastTransactionNumber(before date: Date) throws -> Int64

  /// Deletes the transactions up to the one with a number. Called within ``IncrementalStore/saving(_:)``.
  func deleteHistory(through number: Int64) throws
}

extension HistoryKeepingStore {
  /// Counts what ``transactions(after:)`` returns.
  public func transactionCount(after number: Int64) throws -> Int { try transactions(after: number).count }

  /// Looks through all transactions.
  public func lastTransactionNumber(before date: Date) throws -> Int64 {
    guard let extent = try historyExtent() else { return 0 }
    let transactions = try transactions(after: extent.purgedNumber)
    guard let end = transactions.firstIndex(where: { $0.date >= date }) else { return extent.lastNumber }
    return end == 0 ? extent.purgedNumber : transactions[end - 1].number
  }
}

/// Which transactions the history of a store has.
public struct HistoryExtent: Sendable, Hashable {
  /// The number of the last transaction that was deleted; 0 if none was.
  public var purgedNumber: Int64
  /// The number of the newest transaction, kept or not; 0 if there was none.
  public var lastNumber: Int64

  /// Makes an extent.
  public init(purgedNumber: Int64, lastNumber: Int64) {
    self.purgedNumber = purgedNumber
    self.lastNumber = lastNumber
  }
}

// MARK: RecordedTransaction

/// A save, as a store keeps it in its history.
public struct RecordedTransaction: Sendable, Equatable {
  /// The number of the transaction; 0 in one that has yet to get one.
  public var number: Int64
  /// When the store was saved.
  public var date: Date
  /// The author of the context's transactions, if it had one.
  public var author: String?
  /// The name of the context that saved, if it had one.
  public var contextName: String?
  /// The identifier of the application that saved, if it is known.
  public var bundleID: String?
  /// The name of the process that saved, if it is known.
  public var processID: String?
  /// What was done, in the order of ``PersistentHistoryTransaction/changes``.
  public var changes: [RecordedChanges]

  /// Makes a transaction.
  public init(
    number: Int64 = 0,
    date: Date,
    author: String? = nil,
    contextName: String? = nil,
    bundleID: String? = nil,
    processID: String? = nil,
    changes: [RecordedChanges]
  ) {
    self.number = number
    self.date = date
    self.author = author
    self.contextName = contextName
    self.bundleID = bundleID
    self.processID = processID
    self.changes = changes
  }
}

/// Records of one entity to which a save did the same.
public struct RecordedChanges: Sendable, Equatable {
  /// What was done.
  public var kind: PersistentHistoryChange.ChangeType
  /// The name of the entity.
  public var entityName: String
  /// The properties that an update gave values to, or whose values are kept of deleted records, in the order of the model.
  public var propertyNames: [String]
  /// The records.
  public var references: [ReferenceID]
  /// The kept values of each deleted record, in the order of ``propertyNames``; empty if no values are kept.
  public var preservedValues: [[PropertyValue]]

  /// Makes changes.
  public init(
    _ kind: PersistentHistoryChange.ChangeType,
    entityName: String,
    propertyNames: [String] = [],
    references: [ReferenceID],
    preservedValues: [[PropertyValue]] = []
  ) {
    self.kind = kind
    self.entityName = entityName
    self.propertyNames = propertyNames
    self.references = references
    self.preservedValues = preservedValues
  }
}
