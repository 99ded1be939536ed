import HeartwoodFoundation
import HeartwoodModel

// The store keeps the history. The engine reports the changes of each save to it, within the save.

extension IncrementalStoreEngine {
  /// The store, if its type keeps histories and this one may have one.
  fileprivate var historyStore: (any HistoryKeepingStore)? {
    typeDescription.capabilities.supports(.history) ? store as? any HistoryKeepingStore : nil
  }

  /// Refuses to track the history of a store that declares support for one and does not conform to the protocol.
  static func checkKeepsHistory(
    _ store: any IncrementalStore,
    _ type: StoreType,
    _ setup: StoreSetup
  ) throws(PersistenceError) {
    guard setup.options[.tracksPersistentHistory], !(store is any HistoryKeepingStore) else { return }
    throw PersistenceError(
      .capabilityMissing,
      "The type declares a history, and its class does not keep one.",
      recovery: "Make the class conform to HistoryKeepingStore.",
      context: .init(path: setup.placeName, storeType: type)
    )
  }

  private var tracksHistory: Bool { setup.options[.tracksPersistentHistory] }

  package func history() throws -> (any KeptHistory)? {
    guard let extent = try readingHistory({ try $0.historyExtent() }) else { return nil }
    if let extent { return IncrementalHistory(engine: self, extent: extent) }
    // It begins with the first save.
    return tracksHistory ? StoreHistory() : nil
  }

  package func deleteHistory(through number: (any KeptHistory) throws -> Int64) throws {
    try checkWritable(setup, typeDescription.type)
    guard let store = historyStore, let history = try history() else { return }
    let number = min(try number(history), history.lastNumber)
    guard number > history.purgedNumber else { return }
    try checkPlace()
    try using { try store.saving { try store.deleteHistory(through: number) } }
  }

  /// Calls `body`, which reads the history as of one moment; nil if the type of store keeps none.
  fileprivate func readingHistory<Result>(_ body: (any HistoryKeepingStore) throws -> Result) throws -> Result? {
    guard let store = historyStore else { return nil }
    return try usingForReading { try store.reading { try body(store) } }
  }
}

// MARK: Recording

extension IncrementalStoreEngine {
  /// Records the changes of a save, if the store keeps a history or is to keep one from now on. Must be called within a
  /// call that saves.
  func record(_ applied: AppliedChanges, over before: StoreContents, _ origin: SaveOrigin) throws {
    try record(origin) {
      try HistoryRecorder(before: before, after: applied.contents).changes(
        ChangeSet(byColumn: applied.columns),
        insertedRows: applied.insertedRows
      )
    }
  }

  /// Returns whether what is saved now has to be recorded. A store continues its history whether or not the options ask
  /// for one: readers of the history would miss a save that is not in it.
  func recordsHistory() throws -> Bool {
    guard let store = historyStore else { return false }
    if tracksHistory { return true }
    return try store.historyExtent() != nil
  }

  func record(_ origin: SaveOrigin, _ changes: () throws -> [RecordedChanges]) throws {
    guard let store = historyStore, try recordsHistory() else { return }
    if try store.historyExtent() == nil { try store.beginHistory(after: 0) }
    let changes = try changes()
    if !changes.isEmpty { _ = try store.record(origin.transaction(changes)) }
  }

  /// Records what a store itself has done to many records.
  ///
  /// - Parameter done: the result of the batch, with all references.
  func record(_ batch: RecordBatch, _ done: RecordBatchResult, _ origin: SaveOrigin) throws {
    try record(origin) {
      let entities = setup.model.entities
      let unlinked = done.unlinked.map { link in
        // Deleted records count as deleted only, and not as updated.
        let gone = Set(done.references[link.entityOrdinal] ?? [])
        return RecordedChanges(
          .update,
          entityName: entities[link.entityOrdinal].name,
          propertyNames: [entities[link.entityOrdinal].properties[link.propertyOrdinal].name],
          references: link.references.filter { !gone.contains($0) }
        )
      }
      let changed = done.references.sorted { $0.key < $1.key }.map { ordinal, references in
        switch batch.action {
        case .update(let assignments):
          let ordinals = Set(assignments.map(\.ordinal))
          let properties = entities[ordinal].properties
          return RecordedChanges(
            .update,
            entityName: entities[ordinal].name,
            propertyNames: properties.indices.filter(ordinals.contains).map { properties[$0].name },
            references: references
          )
        case .delete: return RecordedChanges(.delete, entityName: entities[ordinal].name, references: references)
        }
      }
      return (unlinked + changed).filter { !$0.references.isEmpty }
    }
  }
}

// MARK: Taking along

extension StoreManager {
  /// Begins a history in a store that continues the numbers of another store's, if its type keeps histories and the
  /// options do not leave it out.
  package func beginHistory(after number: Int64, _ request: Request) throws {
    let store = try open(request)
    defer { _ = store.engine.close(unlessSavedSince: nil) }
    try (store.engine as? IncrementalStoreEngine)?.beginHistory(after: number)
  }
}

extension IncrementalStoreEngine {
  fileprivate func beginHistory(after number: Int64) throws {
    guard let store = historyStore, setup.keepsHistory(typeDescription) else { return }
    try using { try store.saving { try store.beginHistory(after: number) } }
  }
}

extension IncrementalStore {
  /// Keeps the history that a new store takes over from the store that it is made from.
  ///
  /// - Parameter rename: the references that records have in the new store.
  func takeOver(
    _ history: StoreHistory,
    _ context: PersistenceError.Context,
    rename: (RecordedChanges) throws -> [ReferenceID]
  ) throws {
    guard let store = self as? any HistoryKeepingStore else { return }
    try history.verify()
    try store.beginHistory(after: history.purgedNumber)
    for entry in try history.entries(after: history.purgedNumber) {
      var transaction = entry.recorded
      transaction.number = 0
      for index in transaction.changes.indices {
        transaction.changes[index].references = try rename(transaction.changes[index])
      }
      let number = try store.record(transaction)
      guard number == entry.number else {
        throw PersistenceError(
          .capabilityMissing,
          "The store assigned number \(number) to a transaction of a history, and \(entry.number) was the next one.",
          context: context
        )
      }
    }
  }
}

/// The references of the records in a history in a store that cannot use the old ones. Deleted records get references
/// too, so that no other record has one of theirs.
struct HistoryRenaming {
  private var names: [String: [ReferenceID: ReferenceID]] = [:]
  private let newReferences: (Int, EntityDescription) throws -> [ReferenceID]
  private let model: ManagedObjectModel

  /// - Parameters:
  ///   - old: the records.
  ///   - new: the same records in the same rows, under other references.
  ///   - newReferences: returns references for as many records of an entity as it is asked for.
  init(
    from old: StoreContents,
    to new: StoreContents,
    _ newReferences: @escaping (Int, EntityDescription) throws -> [ReferenceID]
  ) {
    model = new.model
    self.newReferences = newReferences
    for (table, renamed) in zip(old.tables, new.tables) {
      for row in table.liveRows {
        names[table.entity.name, default: [:]][table.reference(row)] = renamed.reference(row)
      }
    }
  }

  mutating func names(in changes: RecordedChanges) throws -> [ReferenceID] {
    let entity = try model.knownEntity(named: changes.entityName)
    return try changes.references.map { reference in
      if let name = names[entity.name]?[reference] { return name }
      guard let name = try newReferences(1, entity).first else {
        throw PersistenceError(
          .capabilityMissing,
          "The store returned no reference.",
          context: .init(entity: entity.name)
        )
      }
      names[entity.name, default: [:]][reference] = name
      return name
    }
  }
}

// MARK: IncrementalHistory

/// The history that an incremental store keeps, read on demand.
private struct IncrementalHistory: KeptHistory {
  let engine: IncrementalStoreEngine
  let extent: HistoryExtent

  var purgedNumber: Int64 { extent.purgedNumber }
  var lastNumber: Int64 { extent.lastNumber }
  var transactionCount: Int { get throws { try transactionCount(after: purgedNumber) } }

  func transactionCount(after number: Int64) throws -> Int {
    try engine.readingHistory { try $0.transactionCount(after: number) } ?? 0
  }

  func entries(after number: Int64) throws -> [HistoryEntry] {
    try engine.readingHistory { try $0.transactions(after: number).map(HistoryEntry.init) } ?? []
  }

  func page(after number: Int64, limit: Int) throws -> (purgedNumber: Int64, entries: [HistoryEntry]) {
    let page = try engine.readingHistory { store in
      let extent = try store.historyExtent() ?? self.extent
      return (extent.purgedNumber, try store.transactions(after: number, limit: limit).map(HistoryEntry.init))
    }
    return page ?? (purgedNumber, [])
  }

  func lastNumber(beforeDate seconds: Double) throws -> Int64 {
    let date = Date(timeIntervalSinceReferenceDate: seconds)
    return try engine.readingHistory { try $0.lastTransactionNumber(before: date) } ?? purgedNumber
  }
}
