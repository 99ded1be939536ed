import HeartwoodFoundation
public import HeartwoodGraph
import HeartwoodModel
import HeartwoodRecordText
import HeartwoodStore

/// The stores of a coordinator, as a ``StoreBrowser`` shows them.
///
/// It reads on a thread of its own, one request after the other, so that no other task of the program waits for a disk. Each request reads with
/// a new context, and holds no object when it is answered. Of the conditions and orders that were looked at last, it keeps which records they find.
public actor BrowsedStore {
  /// What the page calls it.
  public nonisolated let title: String
  private let coordinator: PersistentStoreCoordinator
  private let executor = WaitingExecutor(label: "Heartwood.BrowsedStore")
  private var foundRecords = FoundRecordsCache()

  /// The executor on which it reads.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// - Parameters:
  ///   - title: what the page calls it, such as the name of the file.
  ///   - coordinator: the coordinator whose stores are read. Nothing is saved to them.
  public init(_ title: String, _ coordinator: PersistentStoreCoordinator) {
    self.title = title
    self.coordinator = coordinator
  }

  // MARK: Overview

  /// What the stores and the entities of the model are, and how many records there are. O(entities) for stores that know their counts.
  func overview() throws -> JSONValue {
    let context = ManagedObjectContext(coordinator)
    return .object([
      ("title", .string(title)),
      ("stores", .array(coordinator.persistentStores.map(Self.description))),
      ("entities", .array(try coordinator.managedObjectModel.entities.map { try description(of: $0, in: context) })),
    ])
  }

  private static func description(of store: PersistentStore) -> JSONValue {
    let metadata = store.metadata
    return .object([
      ("type", .string(store.type.rawValue)),
      ("typeName", .string(store.typeDescription.displayName)),
      ("identifier", .string(metadata.identifier.uuidString)),
      ("place", .optional(store.place?.description)),
      ("isReadOnly", .boolean(store.isReadOnly)),
      ("metadata", .sorted(metadata.userInfo.mapValues { JSONValue($0) })),
    ])
  }

  private func description(of entity: EntityDescription, in context: ManagedObjectContext) throws -> JSONValue {
    let all = FetchRequest<ManagedObject>(entityName: entity.name)
    return .object([
      ("name", .string(entity.name)),
      ("parent", .optional(entity.superentity?.name)),
      ("isAbstract", .boolean(entity.isAbstract)),
      ("count", .integer(try context.count(for: all))),
      ("properties", .array(entity.properties.map { Self.description(of: $0, inheritedBy: entity) })),
      (
        "unique",
        .array(
          entity.uniquenessConstraints.map { ordinals in
            .array(ordinals.map { .string(entity.properties[$0].name) })
          }
        )
      ),
    ])
  }

  private static func description(of property: PropertyDescription, inheritedBy entity: EntityDescription) -> JSONValue
  {
    var members: [(name: String, value: JSONValue)] = [
      ("name", .string(property.name)),
      ("isOptional", .boolean(property.isOptional)),
      ("isTransient", .boolean(property.isTransient)),
      ("isInherited", .boolean(entity.superentity?.property(named: property.name) != nil)),
    ]
    switch property {
    case .attribute(let attribute):
      members += [
        ("type", .string(attribute.type.rawValue)), ("isDerived", .boolean(attribute.derivationExpression != nil)),
      ]
    case .relationship(let relationship):
      members += [
        ("destination", .string(relationship.destinationEntityName)),
        ("inverse", .optional(relationship.inverseRelationshipName)),
        ("isToMany", .boolean(relationship.isToMany)),
        ("isOrdered", .boolean(relationship.isOrdered)),
        ("minCount", .integer(relationship.minCount)),
        ("maxCount", relationship.maxCount == .max ? .integer(0) : .integer(relationship.maxCount)),
        ("deleteRule", .string(relationship.deleteRule.rawValue)),
      ]
    }
    return .object(members)
  }

  // MARK: Rows

  /// Which records a table shows.
  struct RowsQuestion: Decodable, Sendable {
    let entity: String
    let condition: String?
    let sort: [SortKey]?
    let from: Int?
    let count: Int?

    struct SortKey: Decodable, Sendable {
      let key: String
      let descending: Bool?
    }

    func request() throws -> FetchRequest<ManagedObject> {
      FetchRequest(
        entityName: entity,
        where: try condition.map { try FetchPredicate(format: $0) },
        sortedBy: (sort ?? []).map { FetchSortDescriptor($0.key, ascending: $0.descending != true) }
      )
    }
  }

  private static let pageLimit = 1000

  /// Some records in the order that is asked for, with short values, and how many there are in all.
  ///
  /// The first thousand are found without the others. For those behind them all that the condition finds are looked up once.
  func rows(_ question: RowsQuestion) throws -> JSONValue {
    let clock = ContinuousClock()
    let start = clock.now
    let from = max(0, question.from ?? 0)
    let count = min(max(0, question.count ?? 100), Self.pageLimit)
    let context = ManagedObjectContext(coordinator)
    let request = try question.request()
    let found = try foundRecords.find(request, from..<(from + count), in: context)
    let cells = try Self.cells(of: try coordinator.managedObjectModel.knownEntity(named: question.entity))
    return .object([
      ("count", .integer(found.count)),
      ("from", .integer(from)),
      ("columns", .array(cells.map { .string($0) })),
      ("rows", .array(try found.ids.map { try Self.row($0, cells, in: context) })),
      ("milliseconds", .double(Double((clock.now - start) / .microseconds(1)).rounded() / 1000)),
    ])
  }

  /// The names of the properties that a table has columns for: what stores keep, but for to-many relationships, of which a row cannot show enough.
  private static func cells(of entity: EntityDescription) throws -> [String] {
    let kept = entity.properties.filter { !$0.isTransient && $0.relationship?.isToMany != true }
    return kept.filter { $0.attribute != nil }.map(\.name) + kept.filter { $0.relationship != nil }.map(\.name)
  }

  /// A record that cannot be read, or that somebody has deleted meanwhile, is a row that says so.
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
    } catch {
      members.append(("error", .string("\(error)")))
    }
    return .object(members)
  }

  // MARK: A record

  private static let linkLimit = 200

  /// All values of a record, where its relationships lead, and which relationships without an inverse lead to it.
  func record(_ uri: String) throws -> JSONValue {
    let context = ManagedObjectContext(coordinator)
    let object = try object(uri, in: context)
    return .object([
      ("uri", .string(object.objectID.uriRepresentation().absoluteString)),
      ("entity", .string(object.entity.name)),
      ("reference", .string(object.objectID.reference.text)),
      ("label", .string(CellText.label(of: object.objectID, in: context))),
      (
        "values",
        .array(object.entity.properties.filter { !$0.isTransient }.map { Self.value($0, of: object, in: context) })
      ),
      ("incoming", .array(try incoming(object, in: context))),
    ])
  }

  private static func value(
    _ property: PropertyDescription,
    of object: ManagedObject,
    in context: ManagedObjectContext
  ) -> JSONValue {
    var members: [(name: String, value: JSONValue)] = [("name", .string(property.name))]
    do {
      if property.relationship?.isToMany == true {
        let ids = try object.objectIDs(forRelationshipNamed: property.name)
        members += [
          ("count", .integer(ids.count)),
          ("links", .array(ids.prefix(linkLimit).map { CellText.link(to: $0, in: context) })),
        ]
      } else {
        members.append(("value", try CellText(object, property.name, in: context).long))
      }
    } catch {
      members.append(("error", .string("\(error)")))
    }
    return .object(members)
  }

  /// The records whose relationships lead to an object that has no way back: the first of each relationship.
  private func incoming(_ object: ManagedObject, in context: ManagedObjectContext) throws -> [JSONValue] {
    var incoming: [JSONValue] = []
    for entity in coordinator.managedObjectModel.entities {
      for relationship in entity.relationships
      where relationship.inverseRelationshipName == nil && !relationship.isTransient
        && entity.superentity?.property(named: relationship.name) == nil && leads(relationship, to: object.entity)
      {
        let format = relationship.isToMany ? "ANY %K == %@" : "%K == %@"
        var request = FetchRequest<ManagedObject>(
          entityName: entity.name,
          where: try FetchPredicate(format: format, arguments: [relationship.name, object.objectID])
        )
        let count = try context.count(for: request)
        guard count > 0 else { continue }
        request.fetchLimit = Self.linkLimit
        incoming.append(
          .object([
            ("entity", .string(entity.name)), ("relationship", .string(relationship.name)), ("count", .integer(count)),
            ("links", .array(try context.fetchObjectIDs(request).map { CellText.link(to: $0, in: context) })),
          ])
        )
      }
    }
    return incoming
  }

  private func leads(_ relationship: RelationshipDescription, to entity: EntityDescription) -> Bool {
    guard let destination = coordinator.managedObjectModel.entitiesByName[relationship.destinationEntityName] else {
      return false
    }
    return entity.isKind(of: destination)
  }

  /// One value as a whole: text, or bytes with the type of a picture if they are one.
  func value(_ name: String, of uri: String) throws -> BrowserResponse {
    let context = ManagedObjectContext(coordinator)
    return try CellText(try object(uri, in: context), name, in: context).response
  }

  private func object(_ uri: String, in context: ManagedObjectContext) throws -> ManagedObject {
    guard let url = URL(string: uri), let id = coordinator.managedObjectID(forURIRepresentation: url) else {
      throw BrowserError.malformed("“\(uri)” names no record of the store.")
    }
    return try context.existingObject(with: id)
  }

  // MARK: The values of a column

  /// Whose values are to be counted.
  struct ValuesQuestion: Decodable, Sendable {
    let entity: String
    let condition: String?
    let column: String
    let limit: Int?
  }

  /// The values of a column with how many records have each, the most frequent first. O(records that meet the condition).
  func values(_ question: ValuesQuestion) throws -> JSONValue {
    let context = ManagedObjectContext(coordinator)
    var request = FetchRequest<ManagedObject>(
      entityName: question.entity,
      where: try question.condition.map { try FetchPredicate(format: $0) },
      sortedBy: [FetchSortDescriptor("count", ascending: false)],
      limit: min(max(1, question.limit ?? 20), Self.pageLimit)
    )
    let column = try ExpressionDescription(format: "\(question.column) AS value")
    request.propertiesToGroupBy = [column]
    request.propertiesToFetch = [column, try ExpressionDescription(format: "count(SELF) AS count")]
    let rows = try context.fetchRows(request)
    return .object([
      (
        "values",
        .array(
          rows.map {
            .object([
              ("value", CellText(value: $0[0], in: context).short),
              ("count", CellText(value: $0[1], in: context).short),
            ])
          }
        )
      )
    ])
  }
}

// MARK: FoundRecordsCache

/// Which records the conditions and orders have found that were looked at last.
private struct FoundRecordsCache {
  private struct Entry {
    let request: FetchRequest<ManagedObject>
    let ids: [ManagedObjectID]
  }

  /// Places up to here are found anew each time, which takes little.
  private static let nearLimit = 1000
  /// With more records than this, each part is found by itself.
  private static let idLimit = 2_000_000
  private static let entryLimit = 8
  private var entries: [Entry] = []

  /// The records in some places of what a request finds, and how many it finds in all.
  mutating func find(
    _ request: FetchRequest<ManagedObject>,
    _ places: Range<Int>,
    in context: ManagedObjectContext
  ) throws -> (ids: ArraySlice<ManagedObjectID>, count: Int) {
    // Whoever begins from the top sees what is there now.
    if places.lowerBound == 0 { entries.removeAll { Self.isSame($0.request, request) } }
    if let entry = entries.first(where: { Self.isSame($0.request, request) }) {
      return (entry.ids[places.clamped(to: entry.ids.indices)], entry.ids.count)
    }
    let count = try context.count(for: request)
    let isInStoreOrder = request.predicate == nil && request.sortDescriptors.isEmpty
    if isInStoreOrder || places.upperBound <= Self.nearLimit || count > Self.idLimit {
      var part = request
      (part.fetchOffset, part.fetchLimit) = (places.lowerBound, places.count)
      return (try context.fetchObjectIDs(part)[...], count)
    }
    let ids = try context.fetchObjectIDs(request)
    entries.append(Entry(request: request, ids: ids))
    if entries.count > Self.entryLimit || entries.reduce(0, { $0 + $1.ids.count }) > Self.idLimit, entries.count > 1 {
      entries.removeFirst()
    }
    return (ids[places.clamped(to: ids.indices)], ids.count)
  }

  private static func isSame(_ one: FetchRequest<ManagedObject>, _ other: FetchRequest<ManagedObject>) -> Bool {
    one.entityName == other.entityName && one.predicate == other.predicate
      && one.sortDescriptors == other.sortDescriptors
  }
}
