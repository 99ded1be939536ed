import HeartwoodModel
import HeartwoodStore
import Synchronization

/// A store as a parent context would leave it, were it saved now: what the parent's children read from and save to.
///
/// What a child saves is in the tables at once and waits for the parent to take it in, so a child needs not run where its parent
/// does and never waits for it. Locks are taken from the child's side to the store's only.
final class StagedStore: RecordSource {
  private struct State {
    /// What the parent itself reads from.
    var base: any RecordSource
    /// How far the numbers of former bases were ahead.
    var lead: UInt64 = 0
    /// What the parent has published of its changes, by entity ordinal.
    var pending: [Int: PendingRecords] = [:]
    /// What children have saved and is not in ``pending`` yet.
    var arrivals: [Arrival] = []
    /// The tables that differ from the base's, as far as they have been asked for, by entity ordinal.
    var tables: [Int: Version] = [:]
  }

  private struct Version {
    let table: NodeTable
    /// The table of the base that it is built on.
    let base: NodeTable
    /// The ``RecordSource/changeNumber`` of the base then.
    let baseNumber: UInt64
  }

  /// What one save of a child did.
  struct Arrival: Sendable {
    /// By entity ordinal.
    let records: [Int: PendingRecords]
    /// What the parent would have read when the child saved, by entity ordinal.
    let bases: [NodeTable]
    /// Whether the parent's context has it already.
    fileprivate(set) var isTaken = false
  }

  let store: PersistentStore
  let scopes: [ObjectIDScope]
  private let model: ManagedObjectModel
  private let arrivals: ArrivalSignal
  private let changes = ChangeCounter()
  private let state: Mutex<State>

  init(base: any RecordSource, model: ManagedObjectModel, arrivals: ArrivalSignal) {
    store = base.store
    scopes = base.scopes
    state = Mutex(State(base: base))
    self.model = model
    self.arrivals = arrivals
  }
}

// MARK: Reading

extension StagedStore {
  // All grow only, so their sum is the same only where each is.
  var changeNumber: UInt64 { state.withLock { $0.base.changeNumber &+ $0.lead } &+ changes.current }

  func table(of entity: EntityDescription) throws -> NodeTable {
    try state.withLock { try version(of: entity, &$0).table }
  }

  func count(of entity: EntityDescription) throws -> Int {
    let differs = state.withLock { state in
      state.pending[entity.ordinal] != nil || state.arrivals.contains { $0.records[entity.ordinal] != nil }
    }
    return differs ? try table(of: entity).count : try state.withLock { $0.base }.count(of: entity)
  }

  func newReferences(count: Int, for entity: EntityDescription) throws(PersistenceError) -> ReferenceColumn {
    try state.withLock { $0.base }.newReferences(count: count, for: entity)
  }

  private func version(of entity: EntityDescription, _ state: inout State) throws -> Version {
    let ordinal = entity.ordinal
    let changes = [state.pending[ordinal]] + state.arrivals.map { $0.records[ordinal] }
    let pending = changes.compactMap(\.self)
    let number = state.base.changeNumber
    if !pending.isEmpty, let version = state.tables[ordinal], version.baseNumber == number { return version }
    let base = try state.base.table(of: entity)
    if pending.isEmpty { return Version(table: base, base: base, baseNumber: number) }
    var table = base
    for records in pending { try records.apply(to: &table) }
    let version = Version(table: table, base: base, baseNumber: number)
    state.tables[ordinal] = version
    return version
  }
}

// MARK: What children save

extension StagedStore {
  func save(_ changes: ChangeSet, origin: SaveOrigin) throws -> StoreCommit {
    if store.isReadOnly {
      throw PersistenceError(
        .storeReadOnly,
        "The store was opened for reading only, so the parent could not save it. Open it without the option isReadOnly.",
        context: .init(path: store.path, storeType: store.type)
      )
    }
    let commit = try state.withLock { try apply(changes, to: &$0) }
    arrivals.send()
    return commit
  }

  private func apply(_ changes: ChangeSet, to state: inout State) throws -> StoreCommit {
    let number = state.base.changeNumber
    let versions = try model.entities.map { try version(of: $0, &state) }
    var contents = StoreContents(
      model: model,
      entities: store.entities,
      metadata: store.metadata,
      tables: versions.map(\.table)
    )
    let applied = try contents.apply(changes, typeDescription: store.typeDescription)
    let records = changes.records
    for (ordinal, records) in records {
      var table = contents.tables[ordinal]
      if let first = applied.insertedRows[ordinal]?.first { table.noteUnsaved(from: first) }
      let updates = try records.updated.compactMap { try table.row(of: $0.reference) }
      table.setVersion(StagedVersion.next(), of: updates + Array(applied.insertedRows[ordinal] ?? RowRuns()))
      contents.tables[ordinal] = table
      state.tables[ordinal] = Version(table: table, base: versions[ordinal].base, baseNumber: number)
    }
    state.arrivals.append(Arrival(records: records, bases: versions.map(\.base)))
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
  /// What children have saved since the last call. They go on seeing it until ``publish(_:)`` replaces it.
  func takeArrivals() -> [Arrival] {
    state.withLock { state in
      var taken: [Arrival] = []
      for index in state.arrivals.indices where !state.arrivals[index].isTaken {
        taken.append(state.arrivals[index])
        state.arrivals[index].isTaken = true
      }
      return taken
    }
  }

  /// Lets children see the parent's changes, by entity ordinal, over what it reads from. They have in them what the parent took of
  /// its children.
  func publish(_ pending: [Int: PendingRecords], over base: any RecordSource) {
    let differs = state.withLock { state in
      let isOther = state.base !== base
      let differs = isOther || !pending.isEmpty || !state.pending.isEmpty || state.arrivals.contains(where: \.isTaken)
      if isOther {
        let (former, new) = (state.base.changeNumber, base.changeNumber)
        if former > new { state.lead &+= former - new }
        state.base = base
      }
      state.pending = pending
      state.arrivals.removeAll(where: \.isTaken)
      state.tables = [:]
      return differs
    }
    if differs { changes.advance() }
  }
}
