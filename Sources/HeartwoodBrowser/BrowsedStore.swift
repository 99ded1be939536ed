import HeartwoodFoundation
public import HeartwoodGraph
import HeartwoodModel
import HeartwoodRecordText
import HeartwoodStore

/// The stores of a coordinator, as a ``StoreBrowser`` shows them.
///
/// It reads on a thread of its own, one request after the other, so that no other task of the program waits for a disk. Each request reads with
/// a new context, and holds no object when it is answered. Of the conditions and orders that were looked at last, it keeps which records they find.
///
///     let store = BrowsedStore("notes.sqlite", coordinator)
public actor BrowsedStore {
  /// What the page calls it.
  public nonisolated let title: String
  private(set) var coordinator: PersistentStoreCoordinator
  private let reopen: (@Sendable () throws -> PersistentStoreCoordinator)?
  private let executor = WaitingExecutor(label: "Heartwood.BrowsedStore")
  var foundRecords = FoundRecordsCache()
  /// How often it was noticed that others have saved.
  private var version = 0
  private var listening: Task<Void, Never>?

  /// The executor on which it reads.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// - Parameters:
  ///   - title: what the page calls it, such as the name of the file.
  ///   - coordinator: the coordinator whose stores are read. Nothing is saved to them.
  ///   - reopen: opens the stores anew, which is how files that are read as a whole show what others have saved to them. The coordinator before is
  ///     closed then. Nil means that such files stay as they were when they were opened.
  public init(
    _ title: String,
    _ coordinator: PersistentStoreCoordinator,
    reopen: (@Sendable () throws -> PersistentStoreCoordinator)? = nil
  ) {
    self.title = title
    self.coordinator = coordinator
    self.reopen = reopen
  }

  deinit { listening?.cancel() }

  /// Answers what is asked of the store under a name.
  func answer(_ request: BrowserRequest, _ name: String) throws -> BrowserResponse {
    switch name {
    case "rows": return .json(try rows(try request.question()))
    case "values": return .json(try values(try request.question()))
    case "export": return try export(try request.question())
    default:
      try request.check(method: "GET")
      return try answer(name, request)
    }
  }

  private func answer(_ name: String, _ request: BrowserRequest) throws -> BrowserResponse {
    switch name {
    case "state": .json(try state())
    case "health": .json(try health())
    case "history": .json(try history(before: request.queryValue("before").flatMap { Int64($0) }))
    case "record": .json(try record(try request.required("uri")))
    case "value": try value(try request.required("name"), of: try request.required("uri"))
    default: throw BrowserError.notFound
    }
  }

  // MARK: What others save

  /// A number that grows when others have saved, as far as that has been noticed. Asks the file system, and a database for its version.
  func state() throws -> JSONValue {
    try followOthers()
    return .object([("version", .integer(version))])
  }

  private func followOthers() throws {
    if let reopen, try coordinator.persistentStores.contains(where: { try $0.fileState() == .changed }) {
      let newest = try reopen()
      coordinator.close()
      coordinator = newest
      listening?.cancel()
      listening = nil
      noteChange()
    }
    if listening == nil { listen() }
    try coordinator.checkForRemoteChanges()
  }

  private func listen() {
    let changes = coordinator.didSaveChanges
    listening = Task { [weak self] in
      for await _ in changes { await self?.noteChange() }
    }
  }

  private func noteChange() {
    version += 1
    foundRecords = FoundRecordsCache()
  }

  /// All that the first store holds. It reads what it has not read yet.
  func contents() throws -> StoreContents {
    guard let store = coordinator.persistentStores.first else { throw BrowserError.notFound }
    return try store.engine.contents()
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
}

// MARK: Health

extension BrowsedStore {
  private static let findingLimit = 100

  /// What `heartwood verify` finds: faults of the file, values that cannot be read, and records that the model does not allow. O(records).
  func health() throws -> JSONValue {
    var findings: [JSONValue] = []
    var count = 0
    for store in coordinator.persistentStores {
      let limit = Self.findingLimit
      let faults = try store.engine.fileFaults(limit: limit)
      let unreadable = try store.engine.unreadableValues(limit: limit)
      findings += faults.map { .string($0) } + unreadable.values.map { .string("\($0.error)") }
      count += faults.count + unreadable.count
      guard count == 0 else { continue }
      let survey = try ContentsValidation.survey(of: try store.engine.contents(), limit: limit)
      count += survey.count
      findings += survey.findings.map {
        .string("\($0.objectID.entity.name) \($0.objectID.reference.text): \($0.message)")
      }
    }
    return .object([
      ("count", .integer(count)), ("findings", .array(Array(findings.prefix(Self.findingLimit)))),
    ])
  }
}
