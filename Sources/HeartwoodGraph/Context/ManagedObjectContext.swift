package import HeartwoodModel
package import HeartwoodStore

/// A graph of objects that are read from stores, changed, and saved together.
///
/// A context has one object for each record. It belongs to the isolation that it was made in, and so do its objects. It keeps the
/// objects that have changes; the others are kept by those that use them, and released by the context some time after the last use: at a
/// fetch, or at the end of an event.
///
/// A context and its objects may be released on any thread, as happens to what a class of the main actor holds.
///
/// An object keeps the values that it has read, whatever other contexts save; ``refresh(_:mergeChanges:)`` takes the newest ones. One without
/// changes takes them by itself where a relationship to it is changed whose other end was read later, so that both ends are saved as one.
public final class ManagedObjectContext {
  /// What the context, or the last of its parents, reads from and saves to.
  public let persistentStoreCoordinator: PersistentStoreCoordinator
  let upstream: ContextUpstream
  /// A name for people. The history of the stores has it.
  public var name: String?
  /// Who makes the changes, for the history of the stores. Two parts of an application that save tell each other's saves apart by it.
  public var transactionAuthor: String?
  /// What happens where a save comes to conflicts; by default it fails.
  public var mergePolicy = MergePolicy.error

  var inserted = NewObjects()
  var updated = ChangedObjects()
  var deleted = ChangedObjects()
  /// Ids that are not temporary, and whose objects went before a store had them. Nothing that is saved leads to them.
  var lostIDs: Set<ManagedObjectID> = []
  /// The stores that inserted objects were given to.
  var assignedStores: [ObjectIdentifier: PersistentStore] = [:]
  /// What children read from and save to, once there is one.
  var stagingArea: StagingArea?
  /// What objects ask and note each time that they change.
  let notes = ContextNotes()
  /// The ``changeNumber`` that children see.
  var publishedChangeNumber: UInt64 = 0
  /// Whether children of other isolations see the changes with each fetch.
  var publishesWithFetches = false
  /// The save of a child that the context has taken in last.
  var seenChildSave: UInt64 = 0
  /// Objects of which a child's changes could not be taken in.
  var conflictingChildSaves: Set<ManagedObjectID> = []
  /// Whether what others have done waits, since what happens now is taken back as a whole where it fails.
  var takesNothingIn = false
  /// What the current event has changed; nil if nothing can be undone.
  var recorder: EventRecorder? {
    didSet { notes.isRecorded = recorder != nil }
  }
  private var bindings: [BindingKey: EntityBinding] = [:]
  /// The bindings of open stores by their scopes, which they hold: the fast way from an id to its object.
  private var bindingsByScope: [ObjectIdentifier: EntityBinding] = [:]
  /// The binding of the objects that were inserted last: most insertions are of the same entity as the one before.
  private var lastInsertedBinding: EntityBinding?
  private var seenStoreChange: UInt64 = 0

  /// Whatever the application wants to keep with the context.
  public var userInfo: [String: Any] = [:]
  /// The objects that the next save compares with the store's, whether it changes them or not.
  var optimisticallyLocked = ObjectList()
  /// The version of the records that the context stays at.
  var generation: QueryGeneration?
  /// The save that the stores write while the context goes on.
  var saveUnderWay: SaveUnderWay?
  /// The objects whose changes were dropped without the other ends of their relationships, which keep theirs until the next save.
  var oneSidedChanges: Set<ManagedObjectID> = []
  /// How many saves have succeeded.
  var saveCount: UInt64 = 0

  /// What listeners have not been told yet, and whether there are any.
  var changeEvent = ChangeEvent()

  /// What could not be read, and what waits for it.
  let failures = ReadFailures()
  let identifier = ContextIdentifier()
  let observers = ContextObservers()
  /// Observations that last as long as the context.
  package var ownObservations: [ContextObservation] = []
  let liveResults = LiveResultsList()
  let saveBroadcast = ChangeBroadcast()
  let changeBroadcast = ChangeBroadcast()
  /// What others save, where it is merged by itself.
  var merges: Mailbox<ContextChanges>?
  var seenMerge: UInt64 = 0
  /// Lets the context be caught up with what has come from others soon, in its own isolation; nil where nobody else can reach it.
  var wake: (@Sendable () -> Void)?

  /// Makes a context without objects, over the stores of a coordinator.
  public convenience init(_ persistentStoreCoordinator: PersistentStoreCoordinator) {
    self.init(.stores, persistentStoreCoordinator)
  }

  init(_ upstream: ContextUpstream, _ persistentStoreCoordinator: PersistentStoreCoordinator) {
    self.upstream = upstream
    self.persistentStoreCoordinator = persistentStoreCoordinator
  }

  /// Runs on whatever thread the last reference goes, while objects of the context may be in use on another.
  deinit {
    for binding in bindings.values { binding.orphan() }
  }

  private struct BindingKey: Hashable {
    /// Nil for new objects. The binding holds the store, so its identifier is not given to another.
    let store: ObjectIdentifier?
    let entityOrdinal: Int
  }
}

@available(*, unavailable, message: "A context belongs to the isolation that it was made in. Make another one there.")
extension ManagedObjectContext: Sendable {}

// MARK: Objects and changes

extension ManagedObjectContext {
  /// The objects that the next save will insert, in the order of their insertion.
  public var insertedObjects: [ManagedObject] { inserted.objects }

  /// The objects whose changes the next save will write.
  public var updatedObjects: [ManagedObject] { updated.objects }

  /// The objects that the next save will delete.
  public var deletedObjects: [ManagedObject] { deleted.objects }

  /// All objects that somebody holds, or that have changes.
  public var registeredObjects: [ManagedObject] {
    bindings.values.flatMap(\.registeredObjects) + inserted.objects
  }

  /// Whether the next save has something to do.
  ///
  /// What children have saved is part of it, though the context may not have taken it in yet.
  public var hasChanges: Bool { !inserted.isEmpty || !updated.isEmpty || !deleted.isEmpty || hasWaitingChildSaves }

  /// Notes whether an object that a store has has changes.
  func note(_ object: ManagedObject, hasChanges: Bool) {
    noteChange(object)
    if hasChanges == object.isUpdated { return }
    if hasChanges {
      object.state.insert(.updated)
      updated.insert(object)
    } else {
      object.state.remove(.updated)
      updated.remove(object)
    }
  }
}

// MARK: Noticing

extension ManagedObjectContext {
  /// Notes that an object is not what it was.
  @inline(__always)
  func noteChange(_ object: ManagedObject) {
    notes.note(object)
    if notesChangeEvents { noteInEvent { $0.note(object) } }
  }

  func noteInsertion(of object: ManagedObject) {
    noteChange(object)
    if notesChangeEvents { noteInEvent { $0.noteInsertion(of: object) } }
  }

  @inline(never)
  private func noteInEvent(_ body: (inout ChangeEvent) -> Void) {
    let isFirst = changeEvent.isEmpty
    body(&changeEvent)
    if isFirst { wake?() }
  }
}

// MARK: Bindings

extension ManagedObjectContext {
  package func entity(named name: String) throws(PersistenceError) -> EntityDescription {
    try persistentStoreCoordinator.managedObjectModel.knownEntity(named: name)
  }

  /// What the objects of `entity` in `store` have in common; nil stands for new objects.
  func binding(for entity: EntityDescription, in store: PersistentStore?) -> EntityBinding {
    let key = BindingKey(store: store.map { ObjectIdentifier($0) }, entityOrdinal: entity.ordinal)
    if let binding = bindings[key] { return binding }
    let binding = EntityBinding(
      context: self,
      source: store.map(source),
      entity: entity,
      objectClass: persistentStoreCoordinator.objectClasses.objectClass(for: entity)
    )
    bindings[key] = binding
    return binding
  }

  func bindingForNewObjects(of entity: EntityDescription) -> EntityBinding {
    if let last = lastInsertedBinding, last.entity === entity { return last }
    let binding = binding(for: entity, in: nil)
    lastInsertedBinding = binding
    return binding
  }

  /// The binding of the objects to which that of `id` belongs, up to date with its store.
  func binding(keeping id: ManagedObjectID) throws -> EntityBinding {
    followStores()
    let binding = try bindingsByScope[ObjectIdentifier(id.scope)] ?? findBinding(keeping: id)
    try binding.synchronize()
    return binding
  }

  /// The object of `id` if it is registered and the context knows its record: nothing is read, followed or made.
  func knownObject(_ id: ManagedObjectID) -> ManagedObject? {
    if let object = inserted[id] { return object }
    if id.isTemporaryID { return nil }
    let known = bindingsByScope[ObjectIdentifier(id.scope)]
    guard let binding = known ?? bindings.values.first(where: { $0.scope === id.scope }) else { return nil }
    // try?: of two records with one name nobody knows which it is.
    return (try? binding.table.row(of: id.reference)).flatMap { binding.slots[$0] }
  }

  /// Whether the objects belong to the stores that are open now.
  var hasFollowedConversions: Bool { persistentStoreCoordinator.storeChanges.current == seenStoreChange }

  private func findBinding(keeping id: ManagedObjectID) throws(PersistenceError) -> EntityBinding {
    let store = try persistentStoreCoordinator.store(keeping: id)
    let binding = binding(for: try entity(named: id.entity.name), in: store)
    if binding.scope === id.scope { bindingsByScope[ObjectIdentifier(id.scope)] = binding }
    return binding
  }

  /// What stands for `store` in the context: the store itself, or the parent's view of it.
  func source(for store: PersistentStore) -> any RecordSource {
    generation?.source(for: store) ?? storeSource(for: store)
  }

  /// The newest that the context can read of `store`, whatever version it is pinned to.
  func storeSource(for store: PersistentStore) -> any RecordSource {
    upstream.stagingArea?.source(for: store) ?? store
  }

  /// Makes ready for a fetch: takes what others have changed, and lets children see what the fetch will find.
  func prepare() throws(PersistenceError) {
    catchUpWithSave()
    try persistentStoreCoordinator.followOthers()
    followStores()
    try checkParentIsPublished()
    catchUp()
    if mayBeDisturbed { try checkChildSavesAreTaken() }
    publishForFetch()
    tidy()
  }

  /// Makes ready for a save whose objects have been told of it. What children save from now on waits: its objects have not.
  func prepareToSave() throws(PersistenceError) {
    try persistentStoreCoordinator.followOthers()
    followStores()
    if !takesNothingIn { takeMerges() }
  }

  /// Lets the parent publish its changes, and follows stores that were removed or converted. No object of the context changes.
  func followStores() {
    parent?.publishChanges()
    followConversions()
  }

  /// Notices stores that were removed, and lets objects of those that were converted belong to the new store.
  func followConversions() {
    let change = persistentStoreCoordinator.storeChanges.current
    guard change != seenStoreChange else { return }
    // What is being saved is of the stores that there were.
    finishSaveUnderWay()
    seenStoreChange = change
    // Children have not seen the changes in what stands for a new store.
    changeNumber &+= 1
    bindingsByScope = [:]
    generation = generation?.followingConversions()
    movingChangedObjects { rebindConverted() }
  }

  /// Does what may give changed objects other rows, by which they are found.
  func movingChangedObjects(_ body: () -> Void) {
    let (changed, gone) = (updated.objects, deleted.objects)
    (updated, deleted) = (ChangedObjects(), ChangedObjects())
    body()
    for object in changed where object.isUpdated { updated.insert(object) }
    for object in gone where object.state.contains(.deleted) { deleted.insert(object) }
  }

  /// Lets the objects of stores that were converted belong to the new ones.
  private func rebindConverted() {
    var renamings: [(records: RenamedRecords, bindings: [EntityBinding])] = []
    for (key, binding) in bindings {
      guard let former = binding.store, let successor = former.newestSuccessor else { continue }
      let newKey = BindingKey(store: ObjectIdentifier(successor), entityOrdinal: key.entityOrdinal)
      // Where objects of the new store have been fetched already, the old ones stay with the old store.
      guard bindings[newKey] == nil else { continue }
      bindings[key] = nil
      bindings[newKey] = binding
      let records = RenamedRecords(former, successor, persistentStoreCoordinator.unsavedNames)
      binding.bind(to: source(for: successor), renaming: records)
      guard let records else { continue }
      if let index = renamings.firstIndex(where: { $0.records.isSame(as: records) }) {
        renamings[index].bindings.append(binding)
      } else {
        renamings.append((records, [binding]))
      }
    }
    for (records, bindings) in renamings { takeNames(of: records, bindings) }
  }

  /// What the objects that stores have are found by.
  var savedBindings: [EntityBinding] { bindings.values.filter { $0.source != nil } }

  func forgetBindings() {
    for binding in bindings.values { binding.forgetContext() }
    bindings = [:]
    bindingsByScope = [:]
    lastInsertedBinding = nil
  }
}

// MARK: Objects that nobody holds

extension ManagedObjectContext {
  /// Releases objects that nobody holds any more. It looks at some of them only, so that its time is in proportion to what has been fetched since.
  ///
  /// - Parameter more: how many objects of each entity it looks at, beside those.
  func tidy(andLookAt more: Int = 0) {
    for binding in bindings.values { binding.slots.tidy(andLookAt: more) }
  }
}
