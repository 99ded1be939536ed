import HeartwoodFoundation
public import HeartwoodGraph
import HeartwoodModel
import HeartwoodRecordText
import HeartwoodStore

/// Reads the stores of a coordinator for a ``StoreBrowser``.
///
/// It reads on a separate thread, one request after the other, so that no other task of the program waits for a disk.
/// Each request uses a new context, and keeps no object after the response. The ids that the latest queries have found
/// are cached.
///
///     let store = BrowsedStore("notes.sqlite", coordinator)
public actor BrowsedStore {
  /// The title that the page shows for the stores.
  public nonisolated let title: String
  private(set) var coordinator: PersistentStoreCoordinator
  private let reopen: (@Sendable () throws -> PersistentStoreCoordinator)?
  private let executor = WaitingExecutor(label: "Heartwood.BrowsedStore")
  var foundRecords = FoundRecordsCache()
  /// The number of times that a save by others was noticed.
  private var version = 0
  private var listening: Task<Void, Never>?

  /// The executor of the thread on which the stores are read.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// - Parameters:
  ///   - title: the title that the page shows, such as the name of the file.
  ///   - coordinator: the coordinator whose stores are read. Nothing is saved to them.
  ///   - reopen: opens the stores again in a new coordinator, so that files that are loaded as a whole show what others
  ///     have saved to them. The previous coordinator is closed then. Nil means that such files stay as they were when
  ///     they were opened.
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

  /// Answers the request called `name`.
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

  /// Returns a number that grows when a save by others is noticed. It asks the file system, or the database for its
  /// version.
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

  /// Returns the contents of the first store, and reads the parts that have not been read yet.
  func contents() throws -> StoreContents {
    guard let store = coordinator.persistentStores.first else { throw BrowserError.notFound }
    return try store.engine.contents()
  }

  // MARK: Overview

  /// Returns descriptions of the stores and of the model's entities, with the numbers of records. O(entities) for
  /// stores that know their counts.
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

  /// Returns the findings of `heartwood verify`: faults of the file, values that cannot be read, and records that the
  /// model does not allow. O(records).
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
