package import HeartwoodModel
package import HeartwoodStore

/// A graph of objects that are read from stores, changed, and saved together.
///
/// A context has one object for each record. It belongs to the isolation that it was made in, and so do its objects. It
/// keeps the objects that have changes; the others are kept by those that use them, and released by the context some
/// time after the last use: at a fetch, or at the end of an event.
///
/// A context and its objects may be released on any thread, as happens to what a class of the main actor holds.
///
/// An object keeps the values that it has read, whatever other contexts save; ``refresh(_:mergeChanges:)`` takes the
/// newest ones. One without changes takes them by itself where a relationship to it is changed whose other end was read
/// later, so that both ends are saved as one.
public final class ManagedObjectContext {
  /// What the context, or the last of its parents, reads from and saves to.
  public let persistentStoreCoordinator: PersistentStoreCoordinator
  /// A name for people. The history of the stores has it.
  public var name: String?
  /// Who makes the changes, for the history of the stores. Two parts of an application that save tell each other's
  /// saves apart by it.
  public var transactionAuthor: String?
  /// What happens where a save comes to conflicts; by default it fails.
  public var mergePolicy = MergePolicy.error

  /// Whatever the application wants to keep with the context.
  public var userInfo: [String: Any] = [:]

  // What the context puts together. Each part owns its state, and none holds the context.

  /// What objects ask and note each time that they change.
  let notes = ContextNotes()
  /// The changes that the next save writes.
  let pending = PendingChanges()
  /// What objects are found by.
  let bindings = ObjectBindings()
  /// Where records are read from and saved to.
  let sources: RecordSources
  /// The save that is under way, and what the next one looks at.
  let saveProgress = SaveProgress()
  /// What children see and have saved.
  let children = ChildContexts()
  /// Who notes how changes are undone.
  let undoRecording: UndoRecording
  /// Who is told what becomes of objects and what is saved.
  let notifier: ChangeNotifier
  /// What others save, if that is merged by itself.
  let inbox = MergeInbox()
  /// What could not be read.
  let failures = ReadFailures()
  /// What waits for what could not be read.
  let postponed = PostponedChanges()

  /// Makes a context without objects, over the stores of a coordinator.
  public convenience init(_ persistentStoreCoordinator: PersistentStoreCoordinator) {
    self.init(.stores, persistentStoreCoordinator)
  }

  init(_ upstream: ContextUpstream, _ persistentStoreCoordinator: PersistentStoreCoordinator) {
    self.persistentStoreCoordinator = persistentStoreCoordinator
    sources = RecordSources(upstream)
    undoRecording = UndoRecording(notes)
    notifier = ChangeNotifier(notes)
  }

  /// Runs on whatever thread the last reference goes, while objects of the context may be in use on another.
  deinit { bindings.orphan() }
}

@available(*, unavailable, message: "A context belongs to the isolation that it was made in. Make another one there.")
extension ManagedObjectContext: Sendable {}

// MARK: Objects and changes

extension ManagedObjectContext {
  /// The objects that the next save will insert, in the order of their insertion.
  public var insertedObjects: [ManagedObject] { pending.inserted.objects }

  /// The objects whose changes the next save will write.
  public var updatedObjects: [ManagedObject] { pending.updated.objects }

  /// The objects that the next save will delete.
  public var deletedObjects: [ManagedObject] { pending.deleted.objects }

  /// All objects that somebody holds, or that have changes.
  public var registeredObjects: [ManagedObject] {
    bindings.all.flatMap(\.registeredObjects) + pending.inserted.objects
  }

  /// Whether the next save has something to do.
  ///
  /// What children have saved is part of it, though the context may not have taken it in yet.
  public var hasChanges: Bool { !pending.isEmpty || children.hasWaitingSaves }

  /// Notes whether an object that a store has has changes.
  func note(_ object: ManagedObject, hasChanges: Bool) {
    noteChange(object)
    pending.note(object, hasChanges: hasChanges)
  }

  /// What the current event has changed; nil if nothing can be undone.
  var recorder: EventRecorder? { undoRecording.recorder }
}

// MARK: Noticing

extension ManagedObjectContext {
  /// Notes that an object is not what it was.
  @inline(__always)
  func noteChange(_ object: ManagedObject) {
    notes.note(object)
    if notes.notesChangeEvents { notifier.noteChange(of: object) }
  }

  func noteInsertion(of object: ManagedObject) {
    noteChange(object)
    if notes.notesChangeEvents { notifier.noteInsertion(of: object) }
  }
}

// MARK: Bindings

extension ManagedObjectContext {
  package func entity(named name: String) throws(PersistenceError) -> EntityDescription {
    try persistentStoreCoordinator.managedObjectModel.knownEntity(named: name)
  }

  /// What the objects of `entity` in `store` have in common; nil stands for new objects.
  func binding(for entity: EntityDescription, in store: PersistentStore?) -> EntityBinding {
    bindings.binding(for: entity, in: store) {
      EntityBinding(
        context: self,
        source: store.map(sources.source),
        entity: entity,
        objectClass: persistentStoreCoordinator.objectClasses.objectClass(for: entity)
      )
    }
  }

  func bindingForNewObjects(of entity: EntityDescription) -> EntityBinding {
    bindings.bindingForNewObjects(of: entity) { binding(for: entity, in: nil) }
  }

  /// The binding of the objects to which that of `id` belongs, up to date with its store.
  func binding(keeping id: ManagedObjectID) throws -> EntityBinding {
    followStores()
    let binding = try bindings.binding(of: id.scope) ?? findBinding(keeping: id)
    try binding.synchronize()
    return binding
  }

  /// The object of `id` if it is registered and the context knows its record: nothing is read, followed or made.
  func knownObject(_ id: ManagedObjectID) -> ManagedObject? {
    if let object = pending.inserted[id] { return object }
    guard !id.isTemporaryID, let binding = bindings.search(id.scope) else { return nil }
    // try?: of two records with one name nobody knows which it is.
    return (try? binding.table.row(of: id.reference)).flatMap { binding.slots[$0] }
  }

  /// Whether the objects belong to the stores that are open now.
  var hasFollowedConversions: Bool { bindings.haveSeen(persistentStoreCoordinator.storeChanges.current) }

  private func findBinding(keeping id: ManagedObjectID) throws(PersistenceError) -> EntityBinding {
    let store = try persistentStoreCoordinator.store(keeping: id)
    let binding = binding(for: try entity(named: id.entity.name), in: store)
    bindings.note(binding, by: id.scope)
    return binding
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
    releaseMemory()
  }

  /// Lets stores forget what they have read if that takes too much memory, and contexts hold little of it.
  private func releaseMemory() {
    for store in persistentStoreCoordinator.persistentStores where store.engine.keepsTooMuch {
      for binding in savedBindings where binding.store === store { binding.noteHeldObjects() }
      store.engine.forgetRecords(evenHeld: false)
    }
  }

  /// Makes ready for a save whose objects have been told of it. What children save from now on waits: its objects have
  /// not.
  func prepareToSave() throws(PersistenceError) {
    try persistentStoreCoordinator.followOthers()
    followStores()
    if !undoRecording.isWhole { takeMerges() }
  }

  /// Lets the parent publish its changes, and follows stores that were removed or converted. No object of the context
  /// changes.
  func followStores() {
    parent?.publishChanges()
    followConversions()
  }

  /// Notices stores that were removed, and lets objects of those that were converted belong to the new store.
  func followConversions() {
    let change = persistentStoreCoordinator.storeChanges.current
    if bindings.haveSeen(change) { return }
    // What is being saved is of the stores that there were.
    finishSaveUnderWay()
    bindings.noteStoreChange(change)
    // Children have not seen the changes in what stands for a new store.
    notes.noteChange()
    sources.followConversions()
    pending.movingObjects { rebindConverted() }
  }

  /// Lets the objects of stores that were converted belong to the new ones.
  private func rebindConverted() {
    var renamings: [(records: RenamedRecords, bindings: [EntityBinding])] = []
    for move in bindings.moveConverted() {
      let records = RenamedRecords(move.former, move.successor, persistentStoreCoordinator.unsavedNames)
      move.binding.bind(to: sources.source(for: move.successor), renaming: records)
      guard let records else { continue }
      if let index = renamings.firstIndex(where: { $0.records.isSame(as: records) }) {
        renamings[index].bindings.append(move.binding)
      } else {
        renamings.append((records, [move.binding]))
      }
    }
    for (records, bindings) in renamings { takeNames(of: records, bindings) }
  }

  /// What the objects that stores have are found by.
  var savedBindings: [EntityBinding] { bindings.all.filter { $0.source != nil } }
}

// MARK: Objects that nobody holds

extension ManagedObjectContext {
  /// Releases objects that nobody holds any more. It looks at some of them only, so that its time is in proportion to
  /// what has been fetched since.
  ///
  /// - Parameter more: how many objects of each entity it looks at, beside those.
  func tidy(andLookAt more: Int = 0) {
    bindings.tidy(andLookAt: more)
  }
}
