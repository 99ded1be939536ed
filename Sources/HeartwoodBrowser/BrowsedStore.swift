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
///
/// With `allowsEditing`, the page can change the records. The changes are kept in one context until they are
/// saved, so all pages and tabs that show the store see the same unsaved changes:
///
///     let store = BrowsedStore("notes.sqlite", coordinator, allowsEditing: true)
public actor BrowsedStore {
  /// The title that the page shows for the stores.
  public nonisolated let title: String
  /// Whether the page can change the records of the stores.
  public nonisolated let allowsEditing: Bool
  private(set) var coordinator: PersistentStoreCoordinator
  let reopen: (@Sendable () throws -> PersistentStoreCoordinator)?
  let migration: (@Sendable () throws -> StoreMigration?)?
  /// The unsaved changes; nil until a page asks for them.
  var session: EditSession?
  /// Whether others have saved a file that is loaded as a whole while there are unsaved changes.
  private var isBehind = false
  private let executor = WaitingExecutor(label: "Heartwood.BrowsedStore")
  var foundRecords = FoundRecordsCache()
  /// The work for the request that is being answered.
  private(set) var work: RequestWork?
  /// The number of times that a save by others was noticed.
  private var version = 0
  private var listening: Task<Void, Never>?

  /// The executor of the thread on which the stores are read.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// - Parameters:
  ///   - title: the title that the page shows, such as the name of the file.
  ///   - coordinator: the coordinator whose stores are read. Nothing is saved to them unless `allowsEditing` is set.
  ///   - allowsEditing: whether the page can change the records. The stores must not be open for reading only. A store
  ///     in a file is copied beside its file before the first save. False means that each request to change something
  ///     is refused with status 403.
  ///   - reopen: opens the stores again in a new coordinator, so that files that are loaded as a whole show what others
  ///     have saved to them, and that changes can be saved on top of it. The previous coordinator is closed then. Nil
  ///     means that such files stay as they were when they were opened, and that a save fails after others have saved.
  ///   - migration: returns the migration of the first store to a newer model, of which the page shows a dry run; nil if
  ///     the store has that version already. It is called for each dry run. Without it, there is no such page.
  public init(
    _ title: String,
    _ coordinator: PersistentStoreCoordinator,
    allowsEditing: Bool = false,
    reopen: (@Sendable () throws -> PersistentStoreCoordinator)? = nil,
    migration: (@Sendable () throws -> StoreMigration?)? = nil
  ) {
    self.title = title
    self.coordinator = coordinator
    self.allowsEditing = allowsEditing
    self.reopen = reopen
    self.migration = migration
  }

  deinit { listening?.cancel() }

  /// Answers the request called `name`, within the limits of its work.
  func answer(_ request: BrowserRequest, _ name: String, _ work: RequestWork) throws -> BrowserResponse {
    self.work = work
    defer {
      self.work = nil
      session?.context.fetchProgress = nil
    }
    return try work.limitingTime { try respond(request, name) }
  }

  private func respond(_ request: BrowserRequest, _ name: String) throws -> BrowserResponse {
    switch name {
    case "rows": return .json(try rows(try request.question()))
    case "values": return .json(try values(try request.question()))
    case "histogram": return .json(try histogram(try request.question()))
    case "export": return try export(try request.question())
    case "links": return .json(try links(try request.question()))
    default:
      try request.check(method: "GET")
      return try answer(name, request)
    }
  }

  private func answer(_ name: String, _ request: BrowserRequest) throws -> BrowserResponse {
    switch name {
    case "state": .json(try state())
    case "edits": .json(try edits())
    case "health": .json(try health())
    case "migration": .json(try migrationReport())
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
    return .object([("version", .integer(version)), ("edits", session?.state ?? .null)])
  }

  private func followOthers() throws {
    if let reopen, try coordinator.persistentStores.contains(where: { try $0.fileState() == .changed }) {
      if session?.context.hasChanges == true {
        // The unsaved changes are made on what was read before. They move to the newest file when they are saved.
        if !isBehind { noteChange() }
        isBehind = true
      } else {
        replaceCoordinator(by: try reopen())
        noteChange()
      }
    }
    if listening == nil { listen() }
    try coordinator.checkForRemoteChanges()
  }

  /// Reads and edits through another coordinator from now on, and closes the former one.
  func replaceCoordinator(by newest: PersistentStoreCoordinator) {
    coordinator.close()
    coordinator = newest
    if session?.context.persistentStoreCoordinator !== newest { session?.begin(on: newest) }
    isBehind = false
    listening?.cancel()
    listening = nil
    foundRecords = FoundRecordsCache()
  }

  private func listen() {
    let changes = coordinator.didSaveChanges
    listening = Task { [weak self] in
      for await changes in changes where changes.contextName != EditSession.contextName { await self?.noteChange() }
    }
  }

  private func noteChange() {
    version += 1
    foundRecords = FoundRecordsCache()
  }

  /// Returns the context in which a request reads: the one with the unsaved changes, or a new one if there are none.
  func readingContext() -> ManagedObjectContext {
    guard let session, session.context.hasChanges else { return savedContext() }
    session.context.fetchProgress = work?.progress
    return session.context
  }

  /// Returns a new context, in which a request reads what is saved.
  func savedContext() -> ManagedObjectContext {
    let context = ManagedObjectContext(coordinator)
    context.fetchProgress = work?.progress
    return context
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
    let context = readingContext()
    return .object([
      ("title", .string(title)),
      ("editing", isEditable ? .string(editSession().token) : .null),
      ("hasMigration", .boolean(migration != nil)),
      ("stores", .array(coordinator.persistentStores.map(Self.description))),
      ("exports", .array(try StoreExport.types(of: coordinator).map(Self.exportDescription))),
      ("entities", .array(try coordinator.managedObjectModel.entities.map { try description(of: $0, in: context) })),
    ])
  }

  private static func exportDescription(of type: StoreTypeDescription) -> JSONValue {
    .object([
      ("type", .string(type.type.rawValue)), ("name", .string(type.displayName)),
      ("extension", .optional(type.fileExtensions.first)),
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
        ("rules", .array(PropertyRules.texts(of: attribute).map(JSONValue.string))),
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
