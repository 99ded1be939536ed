import HeartwoodFoundation
import HeartwoodGraph
import HeartwoodModel
import HeartwoodRecordText
import HeartwoodStore

// MARK: Rows

extension BrowsedStore {
  /// The query for the records of a table.
  struct RowsQuestion: Decodable, Sendable {
    let entity: String
    let condition: String?
    /// A text that some text attribute of the record contains, ignoring case and accents.
    let text: String?
    let sort: [SortKey]?
    let from: Int?
    let count: Int?

    struct SortKey: Decodable, Sendable {
      let key: String
      let descending: Bool?
    }

    /// - Parameter description: the description of the entity.
    func request(_ description: EntityDescription) throws -> FetchRequest<ManagedObject> {
      FetchRequest(
        entityName: entity,
        where: try BrowsedStore.predicate(condition, text, of: description),
        sortedBy: (sort ?? []).map { FetchSortDescriptor($0.key, ascending: $0.descending != true) }
      )
    }
  }

  /// Returns the predicate for a condition, and for a text that some text attribute contains.
  static func predicate(_ condition: String?, _ text: String?, of entity: EntityDescription) throws
    -> FetchPredicate?
  {
    let predicate = try condition.map { try FetchPredicate(format: $0) }
    guard let text, !text.isEmpty else { return predicate }
    let names = entity.attributes.filter { $0.type == .string && !$0.isTransient }.map(\.name)
    let terms = try names.map { try FetchPredicate(format: "%K CONTAINS[cd] %@", $0, text) }
    let somewhere = FetchPredicate.or(terms)
    return predicate.map { $0 && somewhere } ?? somewhere
  }

  static let pageLimit = 1000

  /// Returns a range of the found records in the requested order, with short values, and the number of all found
  /// records.
  ///
  /// The first thousand records are fetched without the others. For later ones, the ids of all records that meet the
  /// condition are fetched once.
  func rows(_ question: RowsQuestion) throws -> JSONValue {
    let clock = ContinuousClock()
    let start = clock.now
    let from = min(max(0, question.from ?? 0), .max - Self.pageLimit)
    let count = min(max(0, question.count ?? 100), Self.pageLimit)
    let context = readingContext()
    let entity = try coordinator.managedObjectModel.knownEntity(named: question.entity)
    let request = try question.request(entity)
    let found = try foundRecords.find(request, from..<(from + count), in: context)
    let cells = Self.cells(of: entity)
    return .object([
      ("count", .integer(found.count)),
      ("from", .integer(from)),
      ("columns", .array(cells.map { .string($0) })),
      ("rows", .array(try found.ids.map { try Self.row($0, cells, in: context) })),
      ("milliseconds", .double(Double((clock.now - start) / .microseconds(1)).rounded() / 1000)),
    ])
  }

  /// Returns the names of the properties that have columns in a table: all properties that stores keep, except to-many
  /// relationships, which do not fit into a row.
  private static func cells(of entity: EntityDescription) -> [String] {
    let kept = entity.properties.filter { !$0.isTransient && $0.relationship?.isToMany != true }
    return kept.filter { $0.attribute != nil }.map(\.name) + kept.filter { $0.relationship != nil }.map(\.name)
  }

  /// Returns the row of a record. If the record cannot be read, or was deleted meanwhile, the row has an error.
  private static func row(_ id: ManagedObjectID, _ cells: [String], in context: ManagedObjectContext) throws
    -> JSONValue
  {
    var members: [(name: String, value: JSONValue)] = [
      ("uri", .string(id.uriRepresentation().absoluteString)), ("entity", .string(id.entity.name)),
      ("reference", .string(id.reference.text)),
    ]
    do {
      let object = try context.existingObject(with: id)
      members.append(("cells", .array(try cells.map { try CellText(object, $0, in: context).short })))
      if let change = BrowsedStore.change(of: object) { members.append(("change", .string(change))) }
    } catch {
      members.append(("error", .string("\(error)")))
    }
    return .object(members)
  }
}

// MARK: Links

extension BrowsedStore {
  /// The query for records to choose one from.
  struct LinksQuestion: Decodable, Sendable {
    let entity: String
    let text: String?
  }

  private static let choiceLimit = 30

  /// Returns the first records of an entity in which some text attribute contains a text, with their labels.
  func links(_ question: LinksQuestion) throws -> JSONValue {
    let context = readingContext()
    let entity = try coordinator.managedObjectModel.knownEntity(named: question.entity)
    var request = FetchRequest<ManagedObject>(
      entityName: question.entity,
      where: try Self.predicate(nil, question.text, of: entity)
    )
    let count = try context.count(for: request)
    request.fetchLimit = Self.choiceLimit
    let ids = try context.fetchObjectIDs(request)
    return .object([
      ("count", .integer(count)), ("links", .array(ids.map { CellText.link(to: $0, in: context) })),
    ])
  }
}

// MARK: Export

extension BrowsedStore {
  /// The query for an export: its records, and its format or the type of the store that is written.
  struct ExportQuestion: Decodable, Sendable {
    let records: RowsQuestion
    let format: Format?
    let storeType: String?

    enum Format: String, Decodable, Sendable {
      case csv, jsonl
    }
  }

  /// Returns all saved records of a table without unsaved changes: as `heartwood fetch` prints them, or as a store. The
  /// text is made on all processors, piece by piece while it is sent, and records of a store that reads on demand are
  /// read meanwhile; a store is written before.
  func export(_ question: ExportQuestion) throws -> BrowserResponse {
    let context = savedContext()
    let model = coordinator.managedObjectModel
    let entity = try model.knownEntity(named: question.records.entity)
    let request = try question.records.request(entity)
    if let type = question.storeType {
      try checkCount(try context.count(for: request))
      let export = StoreExport(coordinator: coordinator, type: StoreType(rawValue: type), work: work)
      return try export.response(Self.references(of: try context.recordTables(request)))
    }
    let pages = try context.recordPages(request)
    try checkCount(pages.count)
    switch question.format {
    case nil: throw BrowserError.malformed("An export needs a format, csv or jsonl, or a storeType.")
    case .jsonl:
      let rest = try BrowserResponse.Rest(pages) { RecordJSON(entity: $0, among: model.entities) }
      return BrowserResponse(type: "application/jsonl; charset=utf-8", Data(), rest: rest)
    case .csv:
      guard let entity = pages.entities.first, pages.entities.count == 1 else {
        throw BrowserError.malformed("The records are of several entities, for which CSV has no place: choose JSON.")
      }
      let fields = RecordFields(entity: entity, among: model.entities)
      let header = Data(fields.header.unsafeBytes)
      return BrowserResponse(type: "text/csv; charset=utf-8", header, rest: try .init(pages) { _ in fields })
    }
  }

  private func checkCount(_ count: Int) throws {
    guard let limit = work?.limits.exportedRecordCount, count > limit else { return }
    throw BrowserError.tooMany(count, limit: limit)
  }
}

extension BrowsedStore {
  /// Returns the references of records by the ordinals of their entities.
  private static func references(of tables: [NodeTable]) -> [Int: [ReferenceID]] {
    tables.reduce(into: [:]) { references, table in
      references[table.entity.ordinal, default: []] += table.liveRows.map(table.reference)
    }
  }
}

extension BrowserResponse.Rest {
  /// Makes the text of records, of which one page is in memory.
  fileprivate init(_ pages: RecordPages, _ formatter: @escaping @Sendable (EntityDescription) -> any RecordFormatter)
    throws
  {
    if pages.pageCount == 1 {
      let text = RecordText(try pages.tables(ofPage: 0), formatter)
      self.init { $0 < text.batchCount ? text.data(of: $0..<($0 + 1)) : nil }
    } else {
      self.init { number in
        guard number < pages.pageCount else { return nil }
        let text = RecordText(try pages.tables(ofPage: number), formatter)
        return text.data(of: 0..<text.batchCount)
      }
    }
  }
}

extension RecordText {
  fileprivate func data(of batches: Range<Int>) -> Data {
    let parts = batches.flatMap(batch)
    var data = Data(capacity: parts.reduce(0) { $0 + $1.count })
    for part in parts { data.append(contentsOf: part.unsafeBytes) }
    return data
  }
}

// MARK: FoundRecordsCache

/// How many records the last conditions have found, and which, in the requested orders.
///
/// An entry is valid until a store is saved, by whichever process. Each use checks that first, which costs a look at the version of each store.
struct FoundRecordsCache {
  private struct Entry {
    let request: FetchRequest<ManagedObject>
    let count: Int
    /// All records; nil if they have not been needed.
    var ids: [ManagedObjectID]?
  }

  /// Places up to here are found again each time, which takes little.
  private static let nearLimit = 1000
  /// With more records than this, each part is found by itself.
  private static let idLimit = 2_000_000
  private static let entryLimit = 8
  private var entries: [Entry] = []
  /// How often each store had been saved when the entries were found.
  private var saveNumbers: [UInt64] = []

  /// The records in some places of what a request finds, and how many it finds in all.
  mutating func find(
    _ request: FetchRequest<ManagedObject>,
    _ places: Range<Int>,
    in context: ManagedObjectContext
  ) throws -> (ids: ArraySlice<ManagedObjectID>, count: Int) {
    try forgetWhatIsOld(context.persistentStoreCoordinator)
    let index = try entry(of: request, in: context)
    let count = entries[index].count
    if let ids = entries[index].ids { return (ids[places.clamped(to: ids.indices)], count) }
    let isInStoreOrder = request.predicate == nil && request.sortDescriptors.isEmpty
    if isInStoreOrder || places.upperBound <= Self.nearLimit || count > Self.idLimit {
      var part = request
      (part.fetchOffset, part.fetchLimit) = (places.lowerBound, places.count)
      return (try context.fetchObjectIDs(part)[...], count)
    }
    let ids = try context.fetchObjectIDs(request)
    entries[index].ids = ids
    if entries.reduce(0, { $0 + ($1.ids?.count ?? 0) }) > Self.idLimit, entries.count > 1 {
      entries.removeAll { !Self.isSame($0.request, request) }
    }
    return (ids[places.clamped(to: ids.indices)], ids.count)
  }

  private mutating func forgetWhatIsOld(_ coordinator: PersistentStoreCoordinator) throws {
    try coordinator.checkForRemoteChanges()
    let numbers = coordinator.persistentStores.map(\.engine.saves.current)
    if numbers != saveNumbers { (entries, saveNumbers) = ([], numbers) }
  }

  private mutating func entry(of request: FetchRequest<ManagedObject>, in context: ManagedObjectContext) throws -> Int {
    if let index = entries.firstIndex(where: { Self.isSame($0.request, request) }) { return index }
    entries.append(Entry(request: request, count: try context.count(for: request)))
    if entries.count > Self.entryLimit { entries.removeFirst() }
    return entries.count - 1
  }

  private static func isSame(_ one: FetchRequest<ManagedObject>, _ other: FetchRequest<ManagedObject>) -> Bool {
    one.entityName == other.entityName && one.predicate == other.predicate
      && one.sortDescriptors == other.sortDescriptors
  }
}
