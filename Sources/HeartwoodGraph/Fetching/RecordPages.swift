package import HeartwoodModel
package import HeartwoodStore
import Synchronization

/// The records that a request finds in the first store, in its order, in pages.
///
/// If the store reads records as they are needed and can keep a snapshot, each page is read from the snapshot when it is
/// asked for and nothing else is kept, so that memory use does not grow with the number of records. All pages are of one
/// moment, whatever others save meanwhile. The records of other stores are in memory anyway.
package struct RecordPages: Sendable {
  private enum Source: Sendable {
    case tables([NodeTable])
    case snapshot(RecordSnapshot)
  }

  private let source: Source

  fileprivate init(_ tables: [NodeTable]) { source = .tables(tables) }
  fileprivate init(_ snapshot: RecordSnapshot) { source = .snapshot(snapshot) }

  /// The number of records.
  package var count: Int {
    switch source {
    case .tables(let tables): tables.reduce(0) { $0 + $1.count }
    case .snapshot(let snapshot): snapshot.count
    }
  }

  /// The number of pages. There is at least one, which may be empty.
  package var pageCount: Int {
    switch source {
    case .tables: 1
    case .snapshot(let snapshot): snapshot.pages.count
    }
  }

  /// The entities of the records, each once in the order of its first record; the entity of the request if nothing is
  /// found.
  package var entities: [EntityDescription] {
    let all =
      switch source {
      case .tables(let tables): tables.map(\.entity)
      case .snapshot(let snapshot): snapshot.pages.map(\.entity)
      }
    var seen: Set<Int> = []
    return all.filter { seen.insert($0.ordinal).inserted }
  }

  /// Returns the records of a page as tables: a new table begins whenever the entity changes.
  ///
  /// - Throws: ``PersistenceError/Code/storeNotOpen`` if the store was closed meanwhile, and the errors of reading.
  package func tables(ofPage number: Int) throws -> [NodeTable] {
    switch source {
    case .tables(let tables): tables
    case .snapshot(let snapshot): [try snapshot.table(ofPage: number)]
    }
  }
}

extension ManagedObjectContext {
  /// Returns the records that a request finds in the first store, without this context's changes. Records of a store
  /// that reads on demand are counted, and read page by page; those of several entities that are to be sorted together
  /// are all read at once.
  package func recordPages<Object>(_ request: FetchRequest<Object>) throws -> RecordPages {
    let store = persistentStoreCoordinator.persistentStores.first
    if let store, store.readsAsNeeded, let pages = try snapshotPages(request, of: store) { return RecordPages(pages) }
    return RecordPages(try recordTables(request))
  }

  private func snapshotPages<Object>(_ request: FetchRequest<Object>, of store: PersistentStore) throws
    -> RecordSnapshot?
  {
    let model = persistentStoreCoordinator.managedObjectModel
    let entity = try model.knownEntity(named: request.entityName)
    let entities = request.includesSubentities ? model.concreteEntities(under: entity) : [entity]
    let fetches = try entities.filter { !$0.isAbstract }.map { entity in
      var fetch = try RecordFetch(
        entity: entity,
        predicate: request.predicate,
        sortDescriptors: request.sortDescriptors,
        in: model
      )
      fetch.progress = fetchProgress
      return fetch
    }
    guard fetches.count == 1 || request.sortDescriptors.isEmpty, let snapshot = try store.engine.snapshot() else {
      return nil
    }
    let start = max(0, request.fetchOffset)
    let limit = request.fetchLimit.map { max(0, $0) }
    let places = start..<(RecordFetch.limit(limit, behind: start) ?? .max)
    return try RecordSnapshot(snapshot, fetches, places, entity)
  }
}

// MARK: RecordSnapshot

/// A snapshot of a store, and the places of the records in it that are read page by page.
private final class RecordSnapshot: Sendable {
  /// Consecutive records of one entity.
  struct Page {
    let entity: EntityDescription
    let fetch: RecordFetch?
    /// The places of the records in what the fetch finds.
    let places: Range<Int>
  }

  /// References that were found together, because finding those of a single page again and again would take too long.
  private struct Found {
    let entity: EntityDescription
    let start: Int
    let references: [ReferenceID]

    func contains(_ page: Page) -> Bool {
      entity === page.entity && start <= page.places.lowerBound && page.places.upperBound <= start + references.count
    }
  }

  /// Enough records to occupy all processors, and a divisor of ``foundLength``.
  private static let pageLength = 32_768
  private static let foundLength = 262_144

  let count: Int
  let pages: [Page]
  private let store: PersistentStore
  private let found = Mutex<Found?>(nil)

  /// Returns nil if the store does not find the records itself.
  ///
  /// - Parameters:
  ///   - places: which of the records that the fetches find one after the other are wanted.
  ///   - entity: the entity of an empty page.
  init?(_ store: PersistentStore, _ fetches: [RecordFetch], _ places: Range<Int>, _ entity: EntityDescription) throws {
    self.store = store
    var (pages, passed): ([Page], Int) = ([], 0)
    for fetch in fetches {
      guard try store.engine.findsReferences(fetch), let count = try Self.count(fetch, in: store) else { return nil }
      let wanted = (places.lowerBound - passed)..<(places.upperBound - passed)
      pages += Self.pages(of: fetch, wanted.clamped(to: 0..<count))
      passed += count
    }
    count = pages.reduce(0) { $0 + $1.places.count }
    self.pages = pages.isEmpty ? [Page(entity: entity, fetch: nil, places: 0..<0)] : pages
  }

  deinit { _ = store.engine.close(unlessSavedSince: nil) }

  private static func count(_ fetch: RecordFetch, in store: PersistentStore) throws -> Int? {
    if let count = try store.count(fetch) { return count }
    return fetch.predicate == nil && fetch.sortDescriptors.isEmpty ? try store.count(of: fetch.entity) : nil
  }

  private static func pages(of fetch: RecordFetch, _ places: Range<Int>) -> [Page] {
    stride(from: places.lowerBound, to: places.upperBound, by: pageLength).map { start in
      Page(entity: fetch.entity, fetch: fetch, places: start..<min(start + pageLength, places.upperBound))
    }
  }

  func table(ofPage number: Int) throws -> NodeTable {
    let page = pages[number]
    guard let references = try references(page), !references.isEmpty else { return NodeTable(entity: page.entity) }
    store.engine.forgetRecords(evenHeld: true)
    return try store.table(of: page.entity, reading: references).records(references)
  }

  /// Returns the references of the records of a page. Records that are to be sorted are found all at once.
  private func references(_ page: Page) throws -> [ReferenceID]? {
    guard let fetch = page.fetch else { return nil }
    let known = found.withLock { $0 }
    let found = try known.flatMap { $0.contains(page) ? $0 : nil } ?? find(page, fetch)
    let start = page.places.lowerBound - found.start
    return Array(found.references.dropFirst(start).prefix(page.places.count))
  }

  private func find(_ page: Page, _ fetch: RecordFetch) throws -> Found {
    let isSorted = !fetch.sortDescriptors.isEmpty
    let start = isSorted ? 0 : page.places.lowerBound
    let part = fetch.limited(offset: start, limit: isSorted ? nil : Self.foundLength)
    let found = Found(entity: page.entity, start: start, references: try store.engine.references(part) ?? [])
    self.found.withLock { $0 = found }
    return found
  }
}

extension NodeTable {
  /// Returns the records with `references`, in their order.
  func records(_ references: some Collection<ReferenceID>) throws -> NodeTable {
    if count == references.count, zip(liveRows, references).allSatisfy({ reference($0) == $1 }) { return self }
    var rows = RowGroupListBuilder(entity: entity)
    for reference in references {
      guard let row = try row(of: reference) else { continue }
      rows.next().append(row.row..<(row.row + 1), of: groups[row.group])
    }
    return NodeTable(entity: entity, groups: rows.finish())
  }
}
