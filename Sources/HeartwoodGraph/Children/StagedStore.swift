import HeartwoodModel
import HeartwoodStore
import Synchronization

/// A store with the changes of a parent context, as if the parent were saved now: the parent's children read from it
/// and save to it.
///
/// A child's save is in the tables immediately and waits for the parent to merge it, so that a child need not run in
/// the isolation of its parent and never waits for it. Locks are acquired only from the child's side to the store's.
final class StagedStore: RecordSource {
  private struct State {
    /// The parent's source, with the changes that the parent has published and those that children have saved.
    var view: StagedView
    /// The sum by which the change numbers of former bases were ahead.
    var lead: UInt64 = 0
    /// The changes that the parent has published, by entity ordinal.
    var pending: [Int: PendingRecords] = [:]
    /// The saves of children that are not in ``pending`` yet.
    var childSaves: [ChildSave] = []

    /// The changes of the records of each entity, one after the other, by entity ordinal.
    var changes: [Int: [PendingRecords]] {
      childSaves.reduce(into: pending.mapValues { [$0] }) { changes, childSave in
        for (ordinal, records) in childSave.records { changes[ordinal, default: []].append(records) }
      }
    }
  }

  /// The changes of one save of a child.
  struct ChildSave: Sendable {
    /// By entity ordinal.
    let records: [Int: PendingRecords]
    /// The tables on which the child's save is based, by entity ordinal.
    let tables: [NodeTable]
    /// The tables that the parent would have read when the child saved, by entity ordinal.
    let bases: [NodeTable]
    /// Whether the parent's context has merged it already.
    fileprivate(set) var isTaken = false
  }

  let store: PersistentStore
  let scopes: [ObjectIDScope]
  private let model: ManagedObjectModel
  private let childSaves: ChildSaveSignal
  private let changes = ChangeCounter()
  private let state: Mutex<State>

  init(base: any RecordSource, model: ManagedObjectModel, childSaves: ChildSaveSignal) {
    store = base.store
    scopes = base.scopes
    state = Mutex(State(view: StagedView(base: base, model: model, pending: [:])))
    self.model = model
    self.childSaves = childSaves
  }
}

// MARK: Reading

extension StagedStore {
  // All of them only grow, so their sum is the same only if each is.
  var changeNumber: UInt64 { state.withLock { $0.view.base.changeNumber &+ $0.lead } &+ changes.current }

  /// The records that can be read now. Taking it does not wait for a store.
  private var view: StagedView { state.withLock { $0.view } }

  var readsAsNeeded: Bool { view.base.readsAsNeeded }
  func table(of entity: EntityDescription) throws -> NodeTable { try view.wholeTable(of: entity) }
  func count(of entity: EntityDescription) throws -> Int { try view.count(of: entity) }

  func knownTable(of entity: EntityDescription) throws -> (table: NodeTable, isWhole: Bool) {
    try view.knownTable(of: entity)
  }

  func table(of entity: EntityDescription, reading references: [ReferenceID]) throws -> NodeTable {
    try view.version(of: entity, reading: references).table
  }

  func find(_ fetch: RecordFetch) throws -> FoundRecords? { try view.find(fetch) }
  func count(_ fetch: RecordFetch) throws -> Int? { try view.count(fetch) }
  func queryPlan(_ fetch: RecordFetch) throws -> QueryPlan.Step? { try view.queryPlan(fetch) }
  func groups(_ fetch: GroupFetch) throws -> [RecordGroup]? { try view.groups(fetch) }
  func queryPlan(_ fetch: GroupFetch) throws -> QueryPlan.Step? { try view.queryPlan(fetch) }

  func newReferences(count: Int, for entity: EntityDescription) throws(PersistenceError) -> ReferenceColumn {
    try view.base.newReferences(count: count, for: entity)
  }
}

// MARK: Saves of children

extension StagedStore {
  func save(_ changes: ChangeSet, origin: SaveOrigin) throws -> StoreCommit {
    if store.isReadOnly {
      throw PersistenceError(
        .storeReadOnly,
        "The store was opened for reading only, so the parent could not save it.",
        recovery: "Open it without the option isReadOnly.",
        context: .init(path: store.placeName, storeType: store.type)
      )
    }
    let commit = try state.withLock { try apply(changes, to: &$0) }
    childSaves.send()
    return commit
  }

  private func apply(_ changes: ChangeSet, to state: inout State) throws -> StoreCommit {
    let view = state.view
    let number = view.base.changeNumber
    let named = changes.recordReferences
    let versions = try model.entities.map { try view.version(of: $0, reading: named[$0.name] ?? []) }
    var contents = StoreContents(
      model: model,
      entities: store.entities,
      metadata: store.metadata,
      tables: versions.map(\.table)
    )
    let applied = try contents.apply(changes, typeDescription: store.typeDescription)
    let childSave = ChildSave(
      records: changes.records,
      tables: versions.map(\.table),
      bases: versions.map(\.base)
    )
    var (known, stamps) = (view.knownVersions, view.knownStamps)
    for (ordinal, records) in childSave.records {
      let stamp = StagedVersion.next()
      var table = contents.tables[ordinal]
      if let first = applied.insertedRows[ordinal]?.first { table.noteUnsaved(from: first) }
      let updates = try records.updated.compactMap { try table.row(of: $0.reference) }
      table.setVersion(stamp, of: updates + Array(applied.insertedRows[ordinal] ?? RowRuns()))
      contents.tables[ordinal] = table
      known[ordinal] = StagedView.Version(table: table, base: versions[ordinal].base, baseNumber: number)
      let earlier = stamps[ordinal].flatMap { $0.baseNumber == number ? $0.numbers : nil }
      stamps[ordinal] = StagedView.Stamps(baseNumber: number, numbers: (earlier ?? []) + [stamp])
    }
    state.childSaves.append(childSave)
    state.view = StagedView(base: view.base, model: model, pending: state.changes, versions: known, stamps: stamps)
    return StoreCommit(
      permanentIDs: applied.permanentIDs,
      insertedRows: applied.insertedRows,
      tables: contents.tables,
      number: number &+ state.lead &+ self.changes.advance()
    )
  }
}

extension ChangeSet {
  /// The changes by entity ordinal. All ids are permanent.
  fileprivate var records: [Int: PendingRecords] {
    var records: [Int: PendingRecords] = [:]
    for snapshot in inserted {
      let id = snapshot.objectID
      records[id.entity.ordinal, default: .init()].inserted.append(
        .init(reference: id.reference, values: snapshot.values)
      )
    }
    for update in updated {
      let id = update.objectID
      records[id.entity.ordinal, default: .init()].updated.append(.init(reference: id.reference, values: update.values))
    }
    for deletion in deleted {
      records[deletion.objectID.entity.ordinal, default: .init()].deleted.append(deletion.objectID.reference)
    }
    return records
  }
}

// MARK: For the parent

extension StagedStore {
  /// The first of the saves of children that have not been merged; nil if there is none.
  var nextChildSave: ChildSave? { state.withLock { state in state.childSaves.first { !$0.isTaken } } }

  /// Notes that it is merged. Children continue to see it until ``publish(_:over:)`` replaces it.
  func takeNextChildSave() {
    state.withLock { state in
      if let index = state.childSaves.firstIndex(where: { !$0.isTaken }) { state.childSaves[index].isTaken = true }
    }
  }

  /// Publishes the parent's changes to children, by entity ordinal, over the parent's source. They include the saves of
  /// children that the parent has merged.
  func publish(_ pending: [Int: PendingRecords], over base: any RecordSource) {
    let differs = state.withLock { state in
      let isOther = state.view.base !== base
      let differs = isOther || !pending.isEmpty || !state.pending.isEmpty || state.childSaves.contains(where: \.isTaken)
      if !differs { return false }
      if isOther {
        let (former, new) = (state.view.base.changeNumber, base.changeNumber)
        if former > new { state.lead &+= former - new }
      }
      state.pending = pending
      state.childSaves.removeAll(where: \.isTaken)
      state.view = StagedView(base: base, model: model, pending: state.changes)
      return true
    }
    if differs { changes.advance() }
  }
}

// MARK: RecordSource

/// The source of a context's records, to which it also saves: an open store, or a store with a parent's changes.
protocol RecordSource: RecordReading, AnyObject, Sendable {
  /// The open store to which the records belong in the end.
  var store: PersistentStore { get }
  /// Grows with each change of the records. Read it before a table: then the table is in the state after this change,
  /// or newer.
  var changeNumber: UInt64 { get }

  /// Takes all changes or none. The number of the commit is the ``changeNumber`` after it.
  ///
  /// - Parameter origin: the author of the save. Changes that are saved to a parent are reported as the parent's own,
  ///   when the parent is saved.
  func save(_ changes: ChangeSet, origin: SaveOrigin) throws -> StoreCommit
}

extension PersistentStore: RecordSource {
  var store: PersistentStore { self }
  var changeNumber: UInt64 { engine.saves.current }

  func save(_ changes: ChangeSet, origin: SaveOrigin) throws -> StoreCommit {
    try engine.save(changes, origin: origin)
  }
}
