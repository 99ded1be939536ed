public import HeartwoodFoundation
public import HeartwoodModel

/// An incremental store that keeps the history of its saves itself, such as a database with tables for it.
///
/// Such a store declares ``StoreCapabilities/Features/history``. The framework collects what each save did and passes
/// it to the store in the same transaction, so that a change and its record are durable together. The store numbers the
/// transactions, and returns them.
///
///     func record(_ transaction: RecordedTransaction) throws -> Int64 {
///       try execute("INSERT INTO history (saved, author) VALUES (?, ?)", transaction.date, transaction.author)
///       let number = lastInsertedNumber
///       for changes in transaction.changes { … }
///       return number
///     }
///
/// Numbers ascend, even across processes, and no number is used twice, even after transactions were deleted. There may
/// be gaps between them.
public protocol HistoryKeepingStore: IncrementalStore {
  /// Returns which transactions there are; nil if the store has no history. It is called within
  /// ``IncrementalStore/reading(_:)`` or ``IncrementalStore/saving(_:)``, and before each save, so it should be quick.
  func historyExtent() throws -> HistoryExtent?

  /// Begins a history in a store that has none. The first transaction gets the number after `number`. It is called
  /// within ``IncrementalStore/saving(_:)``.
  func beginHistory(after number: Int64) throws

  /// Saves a transaction, and returns its number. It is called within ``IncrementalStore/saving(_:)``, after the
  /// changes were saved.
  ///
  /// - Parameter transaction: what the save did. Its ``RecordedTransaction/number`` is 0: the store chooses the next
  ///   one.
  func record(_ transaction: RecordedTransaction) throws -> Int64

  /// Returns the transactions after the one with a number, in order. It is called within
  /// ``IncrementalStore/reading(_:)``.
  ///
  /// - Throws: an error if the stored history cannot be understood. It must not leave out a part of a transaction.
  func transactions(after number: Int64) throws -> [RecordedTransaction]

  /// Returns the first transactions after the one with a number, in order, and at most `limit`. A long history is read
  /// in such pages. It is called within ``IncrementalStore/reading(_:)``.
  ///
  /// - Throws: the errors of ``transactions(after:)``.
  func transactions(after number: Int64, limit: Int) throws -> [RecordedTransaction]

  /// Returns the number of transactions after the one with a number. It is called within
  /// ``IncrementalStore/reading(_:)``.
  func transactionCount(after number: Int64) throws -> Int

  /// Returns the number of the last transaction before the first one that was saved at `date` or later; the number of
  /// the last transaction if none was. It is called within ``IncrementalStore/reading(_:)``.
  func lastTransactionNumber(before date: Date) throws -> Int64

  /// Deletes the transactions up to and including the one with a number. It is called within
  /// ``IncrementalStore/saving(_:)``.
  func deleteHistory(through number: Int64) throws
}

extension HistoryKeepingStore {
  /// Reads all transactions after the one with a number, and returns the first of them.
  public func transactions(after number: Int64, limit: Int) throws -> [RecordedTransaction] {
    Array(try transactions(after: number).prefix(limit))
  }

  /// Counts the transactions that ``transactions(after:)`` returns.
  public func transactionCount(after number: Int64) throws -> Int { try transactions(after: number).count }

  /// Reads all transactions to find the number.
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
  /// The number of the newest transaction, even if it was deleted; 0 if there was none.
  public var lastNumber: Int64

  /// Creates an extent.
  public init(purgedNumber: Int64, lastNumber: Int64) {
    self.purgedNumber = purgedNumber
    self.lastNumber = lastNumber
  }
}

// MARK: RecordedTransaction

/// A save, as a store keeps it in its history.
public struct RecordedTransaction: Sendable, Equatable {
  /// The number of the transaction; 0 if it has none yet.
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
  /// The changes, in the order of ``PersistentHistoryTransaction/changes``.
  public var changes: [RecordedChanges]

  /// Creates a transaction.
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

/// Records of one entity to which a save did the same thing.
public struct RecordedChanges: Sendable, Equatable {
  /// What was done to the records.
  public var kind: PersistentHistoryChange.ChangeType
  /// The name of the entity.
  public var entityName: String
  /// The properties that an update set, or whose values are kept for deleted records, in the order of the model.
  public var propertyNames: [String]
  /// The records.
  public var references: [ReferenceID]
  /// The kept values of each deleted record, in the order of ``propertyNames``; empty if no values are kept.
  public var preservedValues: [[PropertyValue]]

  /// Creates changes.
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
