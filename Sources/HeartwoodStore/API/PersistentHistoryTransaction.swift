public import HeartwoodFoundation
public import HeartwoodModel

/// One save of one store, as its history keeps it.
///
/// The changes stay as they lie in the history until they are asked for, so holding transactions costs little.
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

  /// - Parameter isIncluded: whether changes of an entity belong to what was asked for.
  /// - Throws: ``PersistenceError/Code/modelIncompatible`` where the model lacks an entity of the history.
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
  /// The number of the transaction in its store: the first is 1, and each has one more than that before it. No number is given twice,
  /// whatever is purged. Only other programs leave gaps between numbers, in files that they write too.
  public var transactionNumber: Int64 { entry.number }

  /// When the store was saved.
  public var timestamp: Date { Date(timeIntervalSinceReferenceDate: entry.seconds) }

  /// Who saved: the author of the context's transactions, or nil where it had none.
  public var author: String? { entry.author }

  /// The name of the context that saved, or nil where it had none.
  public var contextName: String? { entry.contextName }

  /// The identifier of the application that saved. Nil if it had none, and for stores that keep none: of those that ship, SQLite files do.
  public var bundleID: String? { entry.bundleID }

  /// The name of the process that saved. Nil for stores that keep none: of those that ship, SQLite files do.
  public var processID: String? { entry.processID }

  /// The point behind this transaction.
  public var token: PersistentHistoryToken { PersistentHistoryToken([storeID: transactionNumber]) }

  /// How many changes there are. O(entities that were changed).
  public var changeCount: Int { runs.reduce(0) { $0 + $1.records.count } }

  /// How many changes of a kind there are. O(entities that were changed).
  public func changeCount(of type: PersistentHistoryChange.ChangeType) -> Int {
    runs.reduce(0) { $1.records.kind == type ? $0 + $1.records.count : $0 }
  }

  /// The changes: insertions, then updates, then deletions. Each call reads them anew, which is O(changes).
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

  /// The ids of the records that were inserted, updated or deleted. O(changes).
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

/// What one transaction did to one record.
public struct PersistentHistoryChange: Sendable, Hashable {
  /// What was done to a record.
  public enum ChangeType: UInt8, Sendable, Hashable, CaseIterable {
    /// The record is new.
    case insert = 0
    /// Properties of the record got other values.
    case update = 1
    /// The record is gone.
    case delete = 2
  }

  /// The place of the change in its transaction, counted from 1, with those counted that a request leaves out.
  public let changeID: Int64
  /// The record. It may be gone by now.
  public let changedObjectID: ManagedObjectID
  /// What was done to it.
  public let changeType: ChangeType
  /// The names of the properties that an update gave values to, in the order of the model at that time; else empty.
  public let updatedProperties: [String]
  /// What a deleted record had in the attributes that are preserved on deletion, by name
  /// (`AttributeDescription.preservesValueInHistoryOnDeletion`); else empty. An attribute without a value is `null`.
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

/// Which transactions of the histories of stores are asked for.
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
  /// Only the transactions of these authors; nil means all, those without an author too.
  public var authors: Set<String>?
  /// Not the transactions of these authors: one's own, for example.
  public var excludedAuthors: Set<String> = []
  /// Only changes of this entity and its subentities, and only transactions that have some; nil means all.
  public var entityName: String?

  private init(_ start: Start) {
    self.start = start
  }
}

extension PersistentHistoryChangeRequest {
  /// Asks for the transactions after a token; nil asks for all that are kept, and so does a token for a store that it says nothing
  /// about.
  public static func fetchHistory(after token: PersistentHistoryToken?) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(token.map(Start.token) ?? .beginning)
  }

  /// Asks for the transactions of the same store that came after one.
  public static func fetchHistory(after transaction: PersistentHistoryTransaction) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(.token(transaction.token))
  }

  /// Asks for the transactions that were saved later than a date, by the clock of whoever saved.
  public static func fetchHistory(after date: Date) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(.date(date))
  }
}

// MARK: What belongs to it

extension PersistentHistoryChangeRequest {
  /// Whether every transaction behind the start belongs to the request, so that they can be counted without being read.
  var isUnfiltered: Bool {
    if case .date = start { return false }
    return authors == nil && excludedAuthors.isEmpty && entityName == nil
  }

  /// Whether a transaction belongs to the request, as far as can be told without its changes.
  func includes(_ entry: HistoryEntry) -> Bool {
    if case .date(let date) = start, entry.seconds <= date.timeIntervalSinceReferenceDate { return false }
    if let author = entry.author, excludedAuthors.contains(author) { return false }
    guard let authors else { return true }
    return entry.author.map(authors.contains) ?? false
  }

  /// Whether changes of an entity belong to the request.
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

/// A point in the histories of stores: behind which transaction of each of them somebody stands.
///
/// Keep the token of the last transaction that you have seen, and fetch what came after it. It is `Codable`, so it outlives the
/// process: as JSON it is an object with a number for each store, by the store's identifier.
///
/// Tokens are compared for one store at a time: of two tokens of several stores, neither need come first.
public struct PersistentHistoryToken: Sendable, Hashable {
  private var numbers: [UUID: Int64]

  /// Makes a token that stands behind the transaction with each number, by the identifier of its store.
  public init(_ transactionNumbers: [UUID: Int64]) {
    numbers = transactionNumbers
  }
}

extension PersistentHistoryToken {
  /// The stores that the token says something about.
  public var storeIdentifiers: Set<UUID> { Set(numbers.keys) }

  /// The number of the last transaction of a store that the token stands behind, 0 for none; nil where it says nothing about the
  /// store.
  public func transactionNumber(forStoreWithIdentifier identifier: UUID) -> Int64? { numbers[identifier] }

  /// Whether this token stands before `other` in the history of a store, so that there is something between them. A token that
  /// says nothing about a store stands before all of its history.
  public func precedes(_ other: PersistentHistoryToken, inStoreWithIdentifier identifier: UUID) -> Bool {
    numbers[identifier] ?? 0 < other.numbers[identifier] ?? 0
  }

  /// A token that stands where this one does, but for the stores of `other`, for which it stands where that one does.
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

  /// Reads a token from an object with a number for each store.
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

  /// Writes the token as an object with a number for each store.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    for (identifier, number) in numbers {
      try container.encode(number, forKey: Key(stringValue: identifier.uuidString))
    }
  }
}
