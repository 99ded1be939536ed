package import HeartwoodModel
import Synchronization

// Records are read as they are needed: those with certain references, those that a fetch finds, or all of an entity.
// They are added after the ones in the tables. All are of one moment: changes that other processes have saved are read
// before any further records.

extension IncrementalStoreEngine {
  package var readsAsNeeded: Bool { true }

  package func table(of entity: EntityDescription) throws -> NodeTable {
    if let table = wholeTable(of: entity) { return table }
    return try readingMore {
      // The thread that used the store before may have read it.
      if let table = wholeTable(of: entity) { return table }
      try readAll([entity])
      return state.withLock { $0.contents.tables[entity.ordinal] }
    }
  }

  package func contents(withUnreadable: Bool) throws -> StoreContents {
    // This happens even if all was read: other processes may have saved since.
    let contents = try readingMore {
      let unread = state.withLock { unreadEntities($0) }
      if !unread.isEmpty { try readAll(unread) }
      return state.withLock { $0.contents }
    }
    if !withUnreadable { try contents.checkReadable() }
    return contents
  }

  package func knownContents() throws -> StoreContents { state.withLock { $0.contents } }

  package func fileFaults(limit: Int) throws -> [String] {
    try using { try store.reading { try store.damage(limit: limit) } }
  }

  package func unreadableValues(limit: Int) throws -> UnreadableValues {
    try using { try store.reading { try store.unreadableValues(limit: limit) } }
  }

  package func compact() throws -> Bool {
    try checkWritable(setup, typeDescription.type)
    try checkPlace()
    return try using { try store.compact() }
  }

  package func knownTable(of entity: EntityDescription) throws -> (table: NodeTable, isWhole: Bool) {
    state.withLock { ($0.contents.tables[entity.ordinal], $0.whole.contains(entity.ordinal)) }
  }

  package func table(of entity: EntityDescription, reading references: [ReferenceID]) throws -> NodeTable {
    let (known, isWhole) = try knownTable(of: entity)
    if try isWhole || references.allSatisfy({ try known.row(of: $0) != nil }) { return known }
    return try readingMore { try readMissing(references, of: entity) }
  }

  package func count(of entity: EntityDescription) throws -> Int {
    if let table = wholeTable(of: entity) { return table.count }
    return try usingForReading { try store.count(of: entity) }
  }

  /// Returns about how many records of `entity` the store has. It is asked once as long as nothing is saved.
  func estimatedCount(of entity: EntityDescription) throws -> Int {
    let (known, mark) = state.withLock { ($0.estimatedCounts[entity.ordinal], $0.mark) }
    if let known { return known }
    let count = try store.estimatedCount(of: entity)
    state.withLock { if $0.mark == mark, mark != nil { $0.estimatedCounts[entity.ordinal] = count } }
    return count
  }

  private func wholeTable(of entity: EntityDescription) -> NodeTable? {
    state.withLock { $0.whole.contains(entity.ordinal) ? $0.contents.tables[entity.ordinal] : nil }
  }

  private func unreadEntities(_ state: State) -> [EntityDescription] {
    setup.entities.filter { !state.whole.contains($0.ordinal) }
  }
}

// MARK: Fetching

extension IncrementalStoreEngine {
  package func find(_ fetch: RecordFetch) throws -> FoundRecords? {
    if wholeTable(of: fetch.entity) != nil { return nil }
    return try readingMore {
      guard let references = try store.fetch(fetch) else { return try findAmongCandidates(fetch) }
      let table = try readMissing(references, of: fetch.entity)
      return FoundRecords(rows: try references.compactMap { try table.row(of: $0) }, table: table)
    }
  }

  package func findsReferences(_ fetch: RecordFetch) throws -> Bool {
    try usingForReading { try store.canAnswer(fetch) }
  }

  package func references(_ fetch: RecordFetch) throws -> [ReferenceID]? {
    try usingForReading { try store.fetch(fetch) }
  }

  package func count(_ fetch: RecordFetch) throws -> Int? {
    if wholeTable(of: fetch.entity) != nil { return nil }
    return try usingForReading { try store.count(fetch) }
  }

  package func queryPlan(_ fetch: RecordFetch) throws -> QueryPlan.Step? {
    if let step = try queryPlan(of: fetch.entity, { try store.queryPlan(fetch) }) { return step }
    if wholeTable(of: fetch.entity) != nil { return nil }
    return try usingForReading {
      guard var step = try candidatePlan(fetch) else { return nil }
      step.recordCount = try store.count(of: fetch.entity)
      return step
    }
  }

  package func groups(_ fetch: GroupFetch) throws -> [RecordGroup]? {
    guard wholeTable(of: fetch.records.entity) == nil else { return nil }
    return try usingForReading { try store.groups(fetch.scoped(scopes)) }
  }

  package func queryPlan(_ fetch: GroupFetch) throws -> QueryPlan.Step? {
    try queryPlan(of: fetch.records.entity) { try store.queryPlan(fetch) }
  }

  private func queryPlan(of entity: EntityDescription, _ lines: () throws -> [String]?) throws -> QueryPlan.Step? {
    if wholeTable(of: entity) != nil { return nil }
    return try usingForReading {
      guard let lines = try lines() else { return nil }
      var step = QueryPlan.Step(entityName: entity.name, recordCount: try store.count(of: entity))
      step.storeLines = lines
      return step
    }
  }
}

// MARK: Reading more

extension IncrementalStoreEngine {
  /// Calls `body`, which uses the store, while no other thread does.
  func using<Result>(_ body: () throws -> Result) throws -> Result {
    try writing.having { try havingTurn(body) }
  }

  /// Calls `body`, which reads from the store, while no other thread uses it except a save that waits for the disk. It
  /// sees all records as they were before that save, or after it.
  func usingForReading<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try havingTurn(body)
    } catch let error where error.tellsOfVisibleSave {
      // The save is on the disk, and about to be taken into account.
      return try using(body)
    }
  }

  private func havingTurn<Result>(_ body: () throws -> Result) throws -> Result {
    try turn.having {
      try checkNotClosed(usage.withLock { $0 != .open }, typeDescription.type)
      return try body()
    }
  }

  /// Calls `body`, which reads records, after bringing the known ones to the state of the store at the same moment.
  private func readingMore<Result>(_ body: () throws -> Result) throws -> Result {
    try usingForReading {
      let before = state.withLock { $0 }
      do {
        return try store.reading {
          try renewIfNeeded()
          return try body()
        }
      } catch {
        forgetWhatWasRead(since: before)
        throw error
      }
    }
  }

  /// Forgets all that was read while the store failed: it may be of several moments. Records that were renewed before
  /// are of one.
  private func forgetWhatWasRead(since before: State) {
    state.withLock { state in
      if state.mark == before.mark { (state.contents.tables, state.whole) = (before.contents.tables, before.whole) }
    }
  }

  /// Reads those of the records that are not known yet. If these are most of the entity's records, reads all, which is
  /// faster.
  @discardableResult
  func readMissing(_ references: [ReferenceID], of entity: EntityDescription) throws -> NodeTable {
    var (table, isWhole) = try knownTable(of: entity)
    if isWhole { return table }
    var seen = ReferenceSet(for: references)
    let knowsNone = table.groups.isEmpty
    let missing = try references.filter { try (knowsNone || table.row(of: $0) == nil) && seen.insert($0) }
    if missing.isEmpty { return table }
    if missing.count > Self.fewRecords, try missing.count > estimatedCount(of: entity) / 2 {
      try readAll([entity])
      return state.withLock { $0.contents.tables[entity.ordinal] }
    }
    let read = try load { try store.load(missing, of: entity, into: $0) }
    // Records that are known already would be there twice.
    guard read.tables[entity.ordinal].count <= missing.count else { throw tooMany(missing.count, entity) }
    table.insert(read.tables[entity.ordinal].groups, fillingGroupsBelow: NodeTable.groupSize(forCount: table.count))
    let result = table
    state.withLock { $0.contents.tables[entity.ordinal] = result }
    return result
  }

  private func tooMany(_ count: Int, _ entity: EntityDescription) -> PersistenceError {
    PersistenceError(
      .capabilityMissing,
      "The store was asked for \(count) records and returned more.",
      recovery: "load(_:of:into:) must add only the requested records.",
      context: .init(path: placeName, storeType: typeDescription.type, entity: entity.name)
    )
  }

  /// Up to this number, records are read one by one, whatever their share of all.
  static let fewRecords = NodeTable.fewRows

  /// Reads all records of entities.
  func readAll(_ entities: [EntityDescription]) throws {
    let read = try load { try store.load(entities.filter { !$0.isAbstract }, into: $0) }
    let known = state.withLock { $0.contents }
    for entity in entities {
      let (all, some) = (read.tables[entity.ordinal], known.tables[entity.ordinal])
      var table = some.groups.isEmpty ? all : try some.renewed(by: all, scopes: known.scopes)
      table.epoch = some.epoch
      state.withLock { state in
        state.contents.tables[entity.ordinal] = table
        state.whole.insert(entity.ordinal)
      }
    }
  }

  func load(_ body: (StoreLoader) throws -> Void) throws -> StoreContents {
    let loader = StoreLoader(setup: setup, metadata: state.withLock { $0.contents.metadata })
    do {
      try body(loader)
      return try loader.finish()
    } catch var error as PersistenceError where error.context.path == nil {
      error.context.path = placeName
      throw error
    }
  }
}

// MARK: What others save

extension IncrementalStoreEngine {
  package func followOthers() throws(PersistenceError) {
    try withStoreErrors(.fileReadFailed, "The store cannot find out whether others have saved.") {
      try usingForReading {
        let mark = try store.dataVersion()
        if state.withLock({ $0.mark == mark }) { return }
        try store.reading { try renewIfNeeded() }
      }
    }
  }

  /// Reads what other processes have saved since the records were read. Must be called while the store shows one
  /// moment. Records stay in their rows, unless there are too many to be read again at once: then all are forgotten, if
  /// nothing relies on their rows.
  func renewIfNeeded(for purpose: RowKeepers.Purpose = .reading) throws {
    let mark = try store.dataVersion()
    let before = state.withLock { $0 }
    guard before.mark != mark else { return }
    let metadata = try store.metadata()
    defer { uniqueness.withLock { $0 = UniquenessCheck(setup.model) } }
    let changed = try changedRecords(since: before)
    let isTooMuch = changed == nil && before.knownCount > setup.options[.recordsComparedAtOnce]
    let hasForgotten =
      isTooMuch
      && forget(for: purpose, releasingAfter: .milliseconds(100)) { state in
        state.noteRenewal(mark, metadata, .unknown)
        return true
      }
    if hasForgotten { return }
    let (tables, changes) =
      try changed.map { try renewedTables(before, reading: $0) } ?? renewedTables(before, of: setup.entities)
    state.withLock { state in
      state.contents.tables = tables
      state.noteRenewal(mark, metadata, changes)
    }
    saves.advance()
  }

  /// Returns the records that others have changed, by the store's own account; nil if it does not know them, or if
  /// there are so many that reading all known records is not slower.
  private func changedRecords(since before: State) throws -> [ChangedRecords]? {
    guard let mark = before.mark, let changed = try store.changes(since: mark) else { return nil }
    let count = changed.reduce(0) { $0 + $1.references.count }
    return count <= max(Self.fewRecords, before.knownCount / 2) ? changed : nil
  }

  package func takeRemoteChanges() -> RemoteChanges? {
    state.withLock { $0.remoteChanges.take() }
  }

  /// Returns the known records, with those of some entities as the store has them now, and what has changed in these.
  func renewedTables(
    _ before: State,
    of entities: [EntityDescription]
  ) throws -> (tables: [NodeTable], changes: RemoteChanges) {
    let entities = entities.filter { !$0.isAbstract }
    let whole = entities.filter { before.whole.contains($0.ordinal) }
    let partial = entities.filter { !before.whole.contains($0.ordinal) && before.contents.table(of: $0).count > 0 }
    let newest = try load { loader in
      if !whole.isEmpty { try store.load(whole, into: loader) }
      for entity in partial {
        let table = before.contents.table(of: entity)
        try store.load(table.liveRows.map(table.reference), of: entity, into: loader)
      }
    }
    var tables = before.contents.tables
    let scopes = before.contents.scopes
    var changes = RemoteChanges()
    changes.mayHaveMore = whole.count < entities.count
    for entity in whole + partial {
      let ordinal = entity.ordinal
      tables[ordinal] = try tables[ordinal].renewed(by: newest.tables[ordinal], scopes: scopes) { fate, reference in
        changes.note(fate, ManagedObjectID(scope: scopes[ordinal], reference: reference))
      }
    }
    return (tables, changes)
  }

  /// Returns the known records, of which the `changed` ones are as the store has them now, and what has changed.
  private func renewedTables(
    _ before: State,
    reading changed: [ChangedRecords]
  ) throws -> (tables: [NodeTable], changes: RemoteChanges) {
    var survey = ChangeSurvey(before, setup)
    for records in changed { try survey.add(records) }
    let newest = try load { loader in
      for (ordinal, references) in survey.toRead.sorted(by: { $0.key < $1.key }) {
        try store.load(Array(references), of: setup.model.entities[ordinal], into: loader)
      }
    }
    var tables = before.contents.tables
    let scopes = before.contents.scopes
    var changes = RemoteChanges()
    changes.mayHaveMore = survey.hasUnread
    for (ordinal, references) in survey.toRead {
      let rows = try references.compactMap { try tables[ordinal].row(of: $0) }
      tables[ordinal] = try tables[ordinal].renewed(by: newest.tables[ordinal], rows: rows, scopes: scopes) {
        changes.note($0, ManagedObjectID(scope: scopes[ordinal], reference: $1))
      }
    }
    return (tables, changes)
  }
}

/// Finds which changed records have to be read: those that are known, and new ones of entities of which all records
/// are known.
private struct ChangeSurvey {
  private let before: IncrementalStoreEngine.State
  private let setup: StoreSetup
  /// The records to read, by the ordinal of their entity.
  private(set) var toRead: [Int: Set<ReferenceID>] = [:]
  /// Whether a record has changed that is not known and need not be.
  private(set) var hasUnread = false

  init(_ before: IncrementalStoreEngine.State, _ setup: StoreSetup) {
    self.before = before
    self.setup = setup
  }

  mutating func add(_ records: ChangedRecords) throws(PersistenceError) {
    let entities = setup.entities.filter { !$0.isAbstract && $0.isKind(of: records.entity) }
    let ordinals = entities.map(\.ordinal)
    for reference in Set(records.references) {
      var isKnown = false
      for ordinal in ordinals where try before.contents.tables[ordinal].row(of: reference) != nil {
        toRead[ordinal, default: []].insert(reference)
        isKnown = true
      }
      if isKnown { continue }
      for ordinal in ordinals {
        if before.whole.contains(ordinal) { toRead[ordinal, default: []].insert(reference) } else { hasUnread = true }
      }
    }
  }
}

extension IncrementalStoreEngine.State {
  /// Notes that the known records are of the moment of `mark`, up to which other processes have made `changes`.
  fileprivate mutating func noteRenewal(_ mark: UInt64, _ metadata: StoreMetadata, _ changes: RemoteChanges) {
    self.mark = mark
    if !hasUnsavedMetadata { contents.metadata = metadata }
    if changes.isEmpty, !changes.mayHaveMore { return }
    remoteChanges = remoteChanges ?? RemoteChanges()
    remoteChanges?.append(changes)
  }
}

extension RemoteChanges {
  /// Changes of which the records are not known.
  fileprivate static var unknown: RemoteChanges {
    var changes = RemoteChanges()
    (changes.mayHaveMore, changes.mayBeAny) = (true, true)
    return changes
  }
}

extension Error {
  /// Whether a read from the store would show a save that is not taken into account yet.
  fileprivate var tellsOfVisibleSave: Bool {
    self is SaveIsVisible || (self as? PersistenceError)?.underlyingError is SaveIsVisible
  }
}

// MARK: What a save looks at

extension IncrementalStoreEngine {
  /// Reads the records that `changes` depend on and that have not been read by this engine.
  func read(whatMattersTo changes: ChangeSet) throws {
    for (name, references) in changes.recordReferences {
      // Records of entities that are not the store's are found when the changes are made.
      guard let entity = setup.entities.first(where: { $0.name == name }) else { continue }
      try readMissing(references, of: entity)
    }
  }
}

// MARK: Narrowing

// Conditions that a store cannot test are tested in memory, on the records that pass those that it can.

extension IncrementalStoreEngine {
  /// Returns the results among the records to which the store has narrowed a fetch; nil if it cannot narrow it.
  func findAmongCandidates(_ fetch: RecordFetch) throws -> FoundRecords? {
    guard let narrowed = try narrowed(fetch), let references = try store.fetch(narrowed.part) else { return nil }
    let tables = try tables(of: references, reading: narrowed.survey(fetch), fetch.entity)
    guard let table = tables.table(fetch.entity.ordinal) else { return nil }
    try tables.checkReadable(narrowed.rest?.dataRead ?? [])
    var rows = try references.compactMap { try table.row(of: $0) }
    if let rest = narrowed.rest {
      let passing = Set(TableQuery(tables, table, where: rest, among: rows).rows())
      rows = rows.filter(passing.contains)
    }
    if !narrowed.isSorted { rows = tables.sorted(rows, by: fetch.compiledSorts, entityOrdinal: fetch.entity.ordinal) }
    return FoundRecords(rows: Array(rows.dropFirst(fetch.offset).prefix(fetch.limit ?? .max)), table: table)
  }

  /// Returns the part of a fetch that the store can answer; nil if it can answer none of the conditions, or if the rest
  /// cannot be evaluated on the records that are read for it.
  private func narrowed(_ fetch: RecordFetch) throws -> NarrowedFetch? {
    var (answered, rest): ([RecordFetch], [CompiledPredicate]) = ([], [])
    for part in fetch.conjuncts {
      if try store.canAnswer(part) {
        answered.append(part)
      } else if let condition = part.compiledPredicate {
        rest.append(condition)
      }
    }
    if answered.isEmpty { return nil }
    let isSorted = try store.canAnswer(fetch.ofAllInOrder)
    let narrowed = NarrowedFetch(
      part: fetch.part(of: answered, isSorted: isSorted),
      rest: rest.isEmpty ? nil : .and(rest),
      isSorted: isSorted
    )
    return narrowed.survey(fetch).isOpaque ? nil : narrowed
  }

  /// Returns the tables with the records of `references` and those that the conditions follow relationships to.
  private func tables(
    of references: [ReferenceID],
    reading survey: DependencySurvey,
    _ entity: EntityDescription
  ) throws -> QueryTables {
    var reading = RelatedReading(setup.model.entities, scopes: scopes) { try self.readMissing($1, of: $0) }
    try reading.follow(survey.paths, from: [entity.ordinal: references])
    return reading.tables
  }

  /// Returns the plan for such a fetch.
  func candidatePlan(_ fetch: RecordFetch) throws -> QueryPlan.Step? {
    guard let narrowed = try narrowed(fetch), let lines = try store.queryPlan(narrowed.part) else { return nil }
    let (known, _) = try knownTable(of: fetch.entity)
    let query = TableQuery(QueryTables(tables: [], scopes: scopes), known, where: narrowed.rest, indexUse: .never)
    var step = query.plan(
      sortedBy: narrowed.isSorted ? [] : fetch.compiledSorts,
      offset: fetch.offset,
      limit: fetch.limit
    )
    step.storeLines = lines
    return step
  }
}

/// The part of a fetch that a store can answer, and the rest of it.
private struct NarrowedFetch {
  /// A fetch that finds all matching records, and others, without the limits of the original fetch.
  let part: RecordFetch
  /// The conditions that the store cannot test; nil if it tests all of them.
  let rest: CompiledPredicate?
  /// Whether the records come in the order of the fetch.
  let isSorted: Bool

  /// Returns what has to be read to test the rest in memory.
  func survey(_ fetch: RecordFetch) -> DependencySurvey {
    DependencySurvey(rest, isSorted ? [] : fetch.compiledSorts.map(\.expression))
  }
}

extension QueryTables {
  /// Returns rows of an entity in another order; rows that compare as equal keep theirs.
  fileprivate func sorted(_ rows: [RowID], by sorts: [CompiledSort], entityOrdinal: Int) -> [RowID] {
    if sorts.isEmpty { return rows }
    let values = values(sorts.map(\.expression), of: rows, entityOrdinal: entityOrdinal)
    let keys = rows.indices.map { Array(values[($0 * sorts.count)..<(($0 + 1) * sorts.count)]) }
    // The sort of the standard library keeps the order of equal elements.
    return rows.indices.sorted { sorts.comes(keys[$0], before: keys[$1]) }.map { rows[$0] }
  }
}
