public import HeartwoodFoundation
public import HeartwoodModel

/// A save of a store, as its history records it.
///
///     for transaction in try coordinator.execute(.fetchHistory(after: token)) {
///       print(transaction.timestamp, transaction.author ?? "", transaction.changeCount)
///     }
///
/// The changes are decoded when they are asked for, so holding transactions takes little memory.
public struct PersistentHistoryTransaction: Sendable {
  private let entry: HistoryEntry
  private let runs: [Run]
  /// The identifier of the store that was saved.
  public let storeID: UUID

  private struct Run: Sendable {
    let records: HistoryRun
    let scope: ObjectIDScope
    /// The changes of the transaction before the first of the run.
    let changesBefore: Int64
  }

  /// - Parameter isIncluded: returns whether changes of an entity were requested.
  /// - Throws: ``PersistenceError/Code/modelIncompatible`` if the model lacks an entity of the history.
  init(
    _ entry: HistoryEntry,
    storeID: UUID,
    scopes: HistoryScopes,
    isIncluded: (EntityDescription) -> Bool
  ) throws(PersistenceError) {
    self.entry = entry
    self.storeID = storeID
    var runs: [Run] = []
    var changesBefore: Int64 = 0
    for records in entry.runs {
      let scope = try scopes.scope(ofEntity: records.entityName)
      if isIncluded(scope.entity) { runs.append(Run(records: records, scope: scope, changesBefore: changesBefore)) }
      changesBefore += Int64(records.count)
    }
    self.runs = runs
  }
}

extension PersistentHistoryTransaction {
  /// The number of the transaction in its store. The first is 1, and each number is greater by one than the number
  /// before. No number is used twice, even if transactions are purged. There are gaps only in files that other programs
  /// write, too.
  public var transactionNumber: Int64 { entry.number }

  /// When the store was saved.
  public var timestamp: Date { Date(timeIntervalSinceReferenceDate: entry.seconds) }

  /// The author of the context's transactions; nil if it had none.
  public var author: String? { entry.author }

  /// The name of the context that saved; nil if it had none.
  public var contextName: String? { entry.contextName }

  /// The identifier of the application that saved; nil if it had none, or if the store does not keep it. Of the stores
  /// that ship, SQLite files keep it.
  public var bundleID: String? { entry.bundleID }

  /// The name of the process that saved; nil if the store does not keep it. Of the stores that ship, SQLite files keep
  /// it.
  public var processID: String? { entry.processID }

  /// The point in the history directly after this transaction.
  public var token: PersistentHistoryToken { PersistentHistoryToken([storeID: transactionNumber]) }

  /// The number of changes. O(entities that were changed).
  public var changeCount: Int { runs.reduce(0) { $0 + $1.records.count } }

  /// Returns the number of changes of a kind. O(entities that were changed).
  public func changeCount(of type: PersistentHistoryChange.ChangeType) -> Int {
    runs.reduce(0) { $1.records.kind == type ? $0 + $1.records.count : $0 }
  }

  /// The changes: insertions, then updates, then deletions. They are decoded at each call, which is O(changes).
  public var changes: [PersistentHistoryChange] {
    var changes: [PersistentHistoryChange] = []
    changes.reserveCapacity(changeCount)
    for run in runs {
      var number = run.changesBefore
      let names = run.records.propertyNames
      run.records.forEachRecord { reference, values in
        number += 1
        let tombstone = Dictionary(zip(names, values)) { first, _ in first }
        changes.append(
          PersistentHistoryChange(
            changeID: number,
            changedObjectID: ManagedObjectID(scope: run.scope, reference: reference),
            changeType: run.records.kind,
            updatedProperties: run.records.kind == .update ? run.records.propertyNames : [],
            tombstone: tombstone
          )
        )
      }
    }
    return changes
  }

  /// Returns the ids of the records that were inserted, updated or deleted. O(changes).
  public func objectIDs(of type: PersistentHistoryChange.ChangeType) -> [ManagedObjectID] {
    var ids: [ManagedObjectID] = []
    for run in runs where run.records.kind == type {
      ids.reserveCapacity(ids.count + run.records.count)
      run.records.forEachRecord { reference, _ in ids.append(ManagedObjectID(scope: run.scope, reference: reference)) }
    }
    return ids
  }
}

// MARK: PersistentHistoryChange

/// The change of one record by one transaction.
public struct PersistentHistoryChange: Sendable, Hashable {
  /// What was done to a record.
  public enum ChangeType: UInt8, Sendable, Hashable, CaseIterable {
    /// The record is new.
    case insert = 0
    /// Properties of the record were set.
    case update = 1
    /// The record was deleted.
    case delete = 2
  }

  /// The position of the change in its transaction, counted from 1. Changes that a request leaves out are counted, too.
  public let changeID: Int64
  /// The record. It may have been deleted since.
  public let changedObjectID: ManagedObjectID
  /// What was done to the record.
  public let changeType: ChangeType
  /// The names of the properties that an update set, in the order of the model at that time; empty for another change.
  public let updatedProperties: [String]
  /// The values of a deleted record's attributes that are preserved on deletion, by name
  /// (`AttributeDescription.preservesValueInHistoryOnDeletion`); empty for another change. An attribute without a value
  /// is `null`.
  public let tombstone: [String: PropertyValue]

  package init(
    changeID: Int64,
    changedObjectID: ManagedObjectID,
    changeType: ChangeType,
    updatedProperties: [String],
    tombstone: [String: PropertyValue]
  ) {
    self.changeID = changeID
    self.changedObjectID = changedObjectID
    self.changeType = changeType
    self.updatedProperties = updatedProperties
    self.tombstone = tombstone
  }
}

// MARK: PersistentHistoryChangeRequest

/// A request for transactions of the histories of stores.
///
///     var request = PersistentHistoryChangeRequest.fetchHistory(after: token)
///     request.excludedAuthors = ["import"]
///     let transactions = try coordinator.execute(request)
public struct PersistentHistoryChangeRequest: Sendable {
  enum Start: Sendable {
    case beginning
    case token(PersistentHistoryToken)
    case date(Date)
  }

  let start: Start
  /// The authors whose transactions are requested; nil means all transactions, including those without an author.
  public var authors: Set<String>?
  /// The authors whose transactions are left out: the application's own, for example.
  public var excludedAuthors: Set<String> = []
  /// The entity whose changes are requested, including those of its subentities. Transactions without such changes are
  /// left out. Nil means all changes.
  public var entityName: String?

  private init(_ start: Start) {
    self.start = start
  }
}

extension PersistentHistoryChangeRequest {
  /// Returns a request for the transactions after a token. With nil, or for a store that the token does not contain,
  /// these are all transactions that are kept.
  public static func fetchHistory(after token: PersistentHistoryToken?) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(token.map(Start.token) ?? .beginning)
  }

  /// Returns a request for the transactions of the same store that came after one.
  public static func fetchHistory(after transaction: PersistentHistoryTransaction) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(.token(transaction.token))
  }

  /// Returns a request for the transactions that were saved later than a date, by the clock of the process that saved.
  public static func fetchHistory(after date: Date) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(.date(date))
  }
}

// MARK: What belongs to it

extension PersistentHistoryChangeRequest {
  /// Whether every transaction after the start is requested, so that they can be counted without being read.
  var isUnfiltered: Bool {
    if case .date = start { return false }
    return authors == nil && excludedAuthors.isEmpty && entityName == nil
  }

  /// Returns whether a transaction is requested, as far as that is known without its changes.
  func includes(_ entry: HistoryEntry) -> Bool {
    if case .date(let date) = start, entry.seconds <= date.timeIntervalSinceReferenceDate { return false }
    if let author = entry.author, excludedAuthors.contains(author) { return false }
    guard let authors else { return true }
    return entry.author.map(authors.contains) ?? false
  }

  /// Returns whether changes of an entity are requested.
  func includes(_ entity: EntityDescription) -> Bool {
    guard let entityName else { return true }
    var ancestor: EntityDescription? = entity
    while let current = ancestor {
      if current.name == entityName { return true }
      ancestor = current.superentity
    }
    return false
  }
}

// MARK: PersistentHistoryToken

/// A point in the histories of one or several stores: the number of a transaction for each store.
///
/// Keep the token of the last transaction that you have processed, and fetch the transactions after it. A token is
/// `Codable`, so it can outlive the process: its JSON is an object with a number for each store, by the store's
/// identifier.
///
/// Tokens are compared for one store at a time. If two tokens contain several stores, neither need be the earlier one.
public struct PersistentHistoryToken: Sendable, Hashable {
  private var numbers: [UUID: Int64]

  /// Creates a token after the transaction with each number, by the identifier of its store.
  public init(_ transactionNumbers: [UUID: Int64]) {
    numbers = transactionNumbers
  }
}

extension PersistentHistoryToken {
  /// The stores that the token contains.
  public var storeIdentifiers: Set<UUID> { Set(numbers.keys) }

  /// Returns the number of the last transaction of a store before the token, 0 for none; nil if the token does not
  /// contain the store.
  public func transactionNumber(forStoreWithIdentifier identifier: UUID) -> Int64? { numbers[identifier] }

  /// Returns whether this token is before `other` in the history of a store, so that there are transactions between
  /// them. A token that does not contain the store is before all of its history.
  public func precedes(_ other: PersistentHistoryToken, inStoreWithIdentifier identifier: UUID) -> Bool {
    numbers[identifier] ?? 0 < other.numbers[identifier] ?? 0
  }

  /// Returns a token with the numbers of `other`, and with those of this token for all other stores.
  public func updated(with other: PersistentHistoryToken) -> PersistentHistoryToken {
    PersistentHistoryToken(numbers.merging(other.numbers) { $1 })
  }
}

extension PersistentHistoryToken: Codable {
  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// Decodes a token from an object with a number for each store.
  ///
  /// - Throws: `DecodingError` if a number is negative, or if a key is not a UUID.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    numbers = [:]
    for key in container.allKeys {
      let number = try container.decode(Int64.self, forKey: key)
      guard let identifier = UUID(uuidString: key.stringValue), number >= 0 else {
        throw DecodingError.dataCorruptedError(
          forKey: key,
          in: container,
          debugDescription: "A token has a number, which is not negative, for each UUID of a store."
        )
      }
      numbers[identifier] = number
    }
  }

  /// Encodes the token as an object with a number for each store.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    for (identifier, number) in numbers {
      try container.encode(number, forKey: Key(stringValue: identifier.uuidString))
    }
  }
}
