public import Foundation
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore

/// A graph of objects that are read from stores, changed, and saved together.
///
/// A context and its objects belong to its queue: use them in ``perform(_:)`` or ``performAndWait(_:)``, or, if it is
/// one of the main queue, on the main thread.
open class NSManagedObjectContext: NSObject, @unchecked Sendable {
  // `@unchecked Sendable`: it may be handed on, and all but `perform` and what leads to it must be used on its queue, as
  // in Core Data's API; that is up to the application.

  private final let queue: ContextQueue
  private final var coreContext: ManagedObjectContext?
  private final var givenCoordinator: NSPersistentStoreCoordinator?
  private final var givenParent: NSManagedObjectContext?
  private final var observations: [ContextObservation] = []

  /// The objects that have changes, which the context retains.
  private final var changed: [ObjectIdentifier: NSManagedObject] = [:]
  /// The object that the application is inserting.
  private final var inserting: NSManagedObject?
  /// The record whose object is being made.
  private final var presenting: CoreObject?
  private final var failure: (any Error)?
  private final var isEventScheduled = false
  final var isSaving = false
  /// The objects of a context that a store of one's own is given.
  final var shownObjects: ShownObjects?
  final var savedSets: ContextSets?

  /// Creates a context of a queue of the given type, without stores.
  public init(concurrencyType type: NSManagedObjectContextConcurrencyType) {
    queue = ContextQueue(type)
    super.init()
  }

  /// Creates a context of a queue of the given type, without stores.
  public convenience init(_ type: ConcurrencyType) { self.init(concurrencyType: type.type) }

  /// Creates a context that belongs to the thread that uses it.
  public convenience override init() { self.init(concurrencyType: .confinementConcurrencyType) }

  /// The type of a context's queue, in the form of newer SDKs.
  public struct ConcurrencyType: Hashable, Sendable {
    let type: NSManagedObjectContextConcurrencyType

    /// Private queue.
    public static let privateQueue = ConcurrencyType(type: .privateQueueConcurrencyType)
    /// Main queue.
    public static let mainQueue = ConcurrencyType(type: .mainQueueConcurrencyType)
  }

  /// The type of the context's queue.
  open var concurrencyType: NSManagedObjectContextConcurrencyType { queue.type }
  /// A name for debugging.
  open var name: String? { didSet { coreContext?.name = name } }
  /// The author of the changes.
  open var transactionAuthor: String? { didSet { coreContext?.transactionAuthor = transactionAuthor } }
  /// Values that the application wants to keep with the context.
  open var userInfo = NSMutableDictionary()

  /// The policy for conflicts: one of the merge policies, such as `NSMergeByPropertyObjectTrumpMergePolicy`.
  open var mergePolicy: Any = NSErrorMergePolicy {
    didSet {
      guard let policy = mergePolicy as? NSMergePolicy else { ProgrammerError.stop("It is not an NSMergePolicy.") }
      coreContext?.mergePolicy = policy.core
    }
  }

  /// Records the changes so that they can be undone; nil if they cannot.
  open var undoManager: UndoManager? {
    didSet {
      guard undoManager !== oldValue else { return }
      oldValue?.detach(self)
      undoManager?.attach(self)
      coreContext?.undoManager = undoManager?.core
    }
  }

  /// How old the values may be that objects take without asking the store. Stores tell here when they have newer ones,
  /// so that objects take the newest values whatever is allowed.
  open var stalenessInterval: TimeInterval = -1

  // MARK: Stores

  /// The coordinator of the stores, or that of the parent. Setting it makes the context empty.
  open var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
    get { givenCoordinator ?? givenParent?.persistentStoreCoordinator }
    set {
      ProgrammerError.check(givenParent == nil, "The context has a parent and needs no coordinator.")
      givenCoordinator = newValue
      connect()
    }
  }

  /// The context that this one reads from and saves to. It can only be set while the context has no objects.
  open var parent: NSManagedObjectContext? {
    get { givenParent }
    set {
      ProgrammerError.check(givenCoordinator == nil, "The context has a coordinator and can have no parent.")
      ProgrammerError.check(coreContext == nil, "The parent of a context cannot be changed.")
      givenParent = newValue
      connect()
    }
  }

  private final func connect() {
    if let givenParent {
      coreContext = givenParent.performAndWait { ManagedObjectContext(parent: givenParent.core) }
    } else {
      coreContext = givenCoordinator.map { ManagedObjectContext($0.core) }
      givenCoordinator?.note(self)
    }
    guard let coreContext else { return }
    present(coreContext)
    changed = [:]
    observe(coreContext)
  }

  /// Makes the context present one of Heartwood's that another part of the framework has made.
  final func present(_ core: ManagedObjectContext, of model: NSManagedObjectModel) {
    coreContext = core
    presentedModel = model
    present(core)
  }

  private final func present(_ coreContext: ManagedObjectContext) {
    coreContext.presenter = self
    coreContext.namingObserver = { [weak self] store in self?.namingObserver(of: store) }
    coreContext.name = name
    coreContext.transactionAuthor = transactionAuthor
    if let policy = mergePolicy as? NSMergePolicy { coreContext.mergePolicy = policy.core }
    coreContext.undoManager = undoManager?.core
  }

  private final func observe(_ core: ManagedObjectContext) {
    observations = [
      core.observe(.objectsDidChange) { [weak self] in self?.postObjectsDidChange($0) },
      core.observe(.didSave) { [weak self] changes in
        guard let self else { return }
        persistentStoreCoordinator?.tellSave(changes, by: self)
      },
    ]
  }

  /// Heartwood's context. The application must have given this one a coordinator or a parent.
  final var core: ManagedObjectContext {
    if let coreContext { return coreContext }
    ProgrammerError.check(
      shownObjects == nil,
      "A store is given this context to make the objects of ids: object(with:). It cannot fetch or save with it."
    )
    ProgrammerError.stop("The context has neither a persistentStoreCoordinator nor a parent. Set one first.")
  }

  final var coordinatorOfChain: NSPersistentStoreCoordinator? { persistentStoreCoordinator }

  /// The model of a context that the framework has made, and that may have no coordinator.
  final var presentedModel: NSManagedObjectModel?

  final var managedObjectModel: NSManagedObjectModel? {
    presentedModel ?? persistentStoreCoordinator?.managedObjectModel
  }

  /// Whether saves of others are merged automatically, on the context's queue.
  open var automaticallyMergesChangesFromParent = false

  /// Runs `body` while no other code uses the parents, which it may read.
  final func hold<Result>(_ body: () throws -> Result) rethrows -> Result {
    guard let givenParent else { return try body() }
    return try givenParent.queue.sync { try givenParent.hold(body) }
  }

  // MARK: Queue

  /// Runs `block` on the context's queue, later. The context processes its changes afterwards.
  public final func perform(_ block: @escaping () -> Void) {
    let work = Work(block)
    queue.async {
      self.begin()
      work.body()
      self.endEvent()
    }
  }

  /// Runs `block` on the context's queue and waits for it; on the queue itself, it runs at once.
  public final func performAndWait<Result>(_ block: () throws -> Result) rethrows -> Result {
    try queue.sync {
      begin()
      return try block()
    }
  }

  /// When a block of the asynchronous ``perform(schedule:_:)`` runs.
  public enum ScheduledTaskType: Int, Sendable {
    /// As soon as possible.
    case immediate = 0
    /// After all blocks that wait.
    case enqueued = 1
  }

  /// Runs `block` on the context's queue and returns its result.
  public final func perform<Result, Failure: Error>(
    schedule: ScheduledTaskType = .immediate,
    _ block: @escaping () throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    let work = Work(block)
    let result: Work<Swift.Result<Result, Failure>> = await withCheckedContinuation { continuation in
      queue.async {
        self.begin()
        let result = Swift.Result<Result, Failure>(catching: work.body)
        self.endEvent()
        continuation.resume(returning: Work(result))
      }
    }
    return try result.body.get()
  }

  private final func begin() {
    guard let coreContext, automaticallyMergesChangesFromParent || givenParent != nil else { return }
    hold { coreContext.catchUp() }
  }

  private final func endEvent() {
    guard let coreContext else { return }
    hold { coreContext.processPendingChanges() }
  }

  /// Ends the event in the next turn of the main queue, unless it ends before.
  private final func scheduleEndOfEvent() {
    guard queue.type == .mainQueueConcurrencyType, !isEventScheduled else { return }
    isEventScheduled = true
    queue.async { [weak self] in
      self?.isEventScheduled = false
      self?.endEvent()
    }
  }

  // MARK: Presenting objects

  /// Gives an object that is being made its record: that of a fetch, or a new one.
  final func present(_ object: NSManagedObject) {
    if let record = presenting {
      presenting = nil
      return bind(object, to: record)
    }
    insertRecord(of: object)
  }

  private final func bind(_ object: NSManagedObject, to record: CoreObject) {
    object.record = record
    object.owner = self
    object.detached = nil
    record.facade = object
    object.registerInOwnStore(self)
  }

  private final func insertRecord(of object: NSManagedObject) {
    guard let entity = managedObjectModel?.entitiesByName[object.entity.name ?? ""],
      entity === object.entity || presentedModel != nil
    else {
      ProgrammerError.stop("The entity \(object.entity.name ?? "") is not of the model of the context's coordinator.")
    }
    let outer = inserting
    inserting = object
    defer { inserting = outer }
    do {
      _ = try hold { try core.insert(entityName: entity.name ?? "") }
    } catch {
      ProgrammerError.stop("No object of \(entity.name ?? "") can be inserted: \(error)")
    }
    noteChange(of: object)
  }

  /// Gives the object that is being inserted its new record.
  final func presentInserted(_ record: CoreObject) -> NSManagedObject? {
    guard let object = inserting else { return facade(of: record) }
    inserting = nil
    let values = object.detached?.all
    bind(object, to: record)
    for (key, value) in values ?? [:] { object.change(record, key, to: value, quietly: true) }
    return object
  }

  /// Returns the object of a record, which it makes if there is none.
  final func facade(of record: CoreObject) -> NSManagedObject {
    if let object = record.facade { return object }
    guard let model = managedObjectModel else { ProgrammerError.stop("The context has no coordinator any more.") }
    return makeFacade(of: record, model.description(of: record.entity))
  }

  /// Makes the object of a record that has none.
  final func makeFacade(of record: CoreObject, _ entity: NSEntityDescription) -> NSManagedObject {
    let outer = presenting
    presenting = record
    let object = entity.objectClass.init(entity: entity, insertInto: self)
    presenting = outer
    if record.hasChanges { changed[ObjectIdentifier(object)] = object }
    return object
  }

  final func facade(of object: ManagedObject) -> NSManagedObject {
    guard let record = object as? CoreObject else {
      ProgrammerError.stop("All objects of such a context are made by its coordinator.")
    }
    return facade(of: record)
  }

  final func facade(with id: ManagedObjectID) -> NSManagedObject { facade(of: core.object(with: id)) }

  final func registeredFacade(_ id: ManagedObjectID) -> NSManagedObject? {
    hold { coreContext?.registeredObject(for: id) }.map(facade)
  }

  final func objectID(_ id: ManagedObjectID) -> NSManagedObjectID {
    guard let model = managedObjectModel else { ProgrammerError.stop("The context has no coordinator any more.") }
    return NSManagedObjectID(id, model.description(of: id.entity), coordinatorOfChain)
  }

  final func entity(for objectClass: NSManagedObject.Type) -> NSEntityDescription {
    if let entity = managedObjectModel?.entity(for: objectClass) { return entity }
    ProgrammerError.stop("The model of the context has no entity for the class \(objectClass).")
  }

  // MARK: Changes

  /// Notes that an object has changed: it is retained as long as it has changes.
  final func noteChange(of object: NSManagedObject) {
    if object.record?.hasChanges == true {
      changed[ObjectIdentifier(object)] = object
    } else {
      changed[ObjectIdentifier(object)] = nil
    }
    scheduleEndOfEvent()
  }

  /// Notes that an undo or a redo has changed objects.
  final func noteUndo() {
    for object in insertedObjects.union(updatedObjects).union(deletedObjects) { noteChange(of: object) }
    forgetSettled()
  }

  final func removeUndoActions() {
    if let coreContext { undoManager?.core.removeAllActions(withTarget: coreContext) }
  }

  final func forgetSettled() { changed = changed.filter { $0.value.hasChanges } }

  /// Notes why a change could not be made; the next save throws it.
  final func noteFailure(_ error: any Error) { failure = failure ?? error }

  final func takeFailure() -> (any Error)? {
    defer { failure = nil }
    return failure
  }

  private final func facades(_ objects: [ManagedObject]) -> Set<NSManagedObject> { Set(objects.map { facade(of: $0) }) }

  /// The objects that the next save inserts.
  open var insertedObjects: Set<NSManagedObject> { coreContext.map { facades($0.insertedObjects) } ?? [] }
  /// The objects whose changes the next save writes.
  open var updatedObjects: Set<NSManagedObject> { coreContext.map { facades($0.updatedObjects) } ?? [] }
  /// The objects that the next save deletes.
  open var deletedObjects: Set<NSManagedObject> { coreContext.map { facades($0.deletedObjects) } ?? [] }
  /// The objects that are referenced or have changes.
  open var registeredObjects: Set<NSManagedObject> {
    let records = coreContext?.registeredObjects.compactMap { $0 as? CoreObject } ?? []
    return Set(records.filter { $0.facade != nil || $0.hasChanges }.map { facade(of: $0) })
  }

  /// Whether there are changes for the next save.
  open var hasChanges: Bool { coreContext?.hasChanges ?? false }

  /// Inserts an object that is in no context.
  open func insert(_ object: NSManagedObject) {
    guard object.record == nil else {
      ProgrammerError.check(object.owner === self, "The object is in another context.")
      return
    }
    insertRecord(of: object)
  }

  /// Deletes an object with the next save.
  open func delete(_ object: NSManagedObject) {
    guard let record = object.record else { return }
    ProgrammerError.check(object.owner === self, "The object is in another context. Delete it there.")
    hold { core.delete(record) }
    noteChange(of: object)
  }

  /// Ends the event: observers hear of the changes.
  open func processPendingChanges() { endEvent() }

  // MARK: Discarding

  /// Discards all changes.
  open func rollback() {
    failure = nil
    guard let coreContext else { return }
    hold { coreContext.rollback() }
    forgetSettled()
  }

  /// Forgets all objects. None of them may be used any more.
  open func reset() {
    failure = nil
    guard let coreContext else { return }
    let objects = registeredObjects
    renewOwnStores()
    hold { coreContext.reset() }
    changed = [:]
    if !objects.isEmpty { post(.NSManagedObjectContextObjectsDidChange, [NSInvalidatedAllObjectsKey: Array(objects)]) }
  }

  /// Makes an object take its newest stored values, keeping its own changes or discarding them.
  open func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) {
    guard let record = object.record else { return }
    renewOwnStores(object.objectID)
    hold { core.refresh(record, mergeChanges: flag) }
    noteChange(of: object)
  }

  /// Makes all objects take their newest stored values, keeping their changes.
  open func refreshAllObjects() {
    guard let coreContext else { return }
    renewOwnStores()
    hold { coreContext.refreshAllObjects() }
  }

  /// Makes stores of one's own give a record again; nil stands for all.
  private final func renewOwnStores(_ id: NSManagedObjectID? = nil) {
    for store in persistentStoreCoordinator?.ownIncrementalStores ?? [] {
      if let id, id.persistentStore !== store { continue }
      store.renew(id)
      do {
        try store.core?.engine.followOthers()
      } catch {
        noteFailure(error)
      }
    }
  }

  /// Makes the next save fail if the object was saved elsewhere since it was read.
  open func detectConflicts(for object: NSManagedObject) {
    if let record = object.record { core.detectConflicts(for: record) }
  }

  // MARK: Stores of new objects

  /// Gives new objects their permanent ids before they are saved.
  open func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
    do {
      try hold { try core.obtainPermanentIDs(for: objects.compactMap(\.record)) }
    } catch {
      throw CocoaError.of(error, self)
    }
  }
}

extension NSManagedObjectModel {
  /// Returns the entity of the objects of a class.
  final func entity(for objectClass: NSManagedObject.Type) -> NSEntityDescription? {
    let entities = entities.filter { $0.objectClass == objectClass }
    // A subentity without a class of its own may share that of its parent.
    return entities.first { $0.superentity.map { $0.objectClass != objectClass } ?? true } ?? entities.first
  }
}
