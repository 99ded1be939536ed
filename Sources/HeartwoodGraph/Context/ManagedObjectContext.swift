package import HeartwoodModel
package import HeartwoodStore

/// A graph of objects that are read from stores, changed, and saved together.
///
///     let book = try context.insert(Book.self)
///     book.title = "Emma"
///     try context.save()
///
/// A context has one object for each record. It belongs to the isolation in which it was made, and so do its objects;
/// use a ``ViewContext`` on the main actor and a ``BackgroundContext`` elsewhere. It retains only the objects that have
/// changes. It releases an unchanged object some time after its last use: at a fetch, or at the end of an event.
///
/// The last reference to a context or its objects may be released on any thread, as with any member of a main actor
/// class.
///
/// An object keeps the values that it has read, whatever other contexts save; ``refresh(_:mergeChanges:)`` takes the
/// newest ones. An object without changes takes them by itself in one case: when a relationship to it is changed and
/// the other end was read later, so that both ends are saved consistently.
public final class ManagedObjectContext {
  /// The coordinator of the stores that the context, or its topmost parent, reads from and saves to.
  public let persistentStoreCoordinator: PersistentStoreCoordinator
  /// A name for debugging. The persistent history records it.
  public var name: String?
  /// The author of the changes, which the persistent history records. Parts of an application that save to the same
  /// stores can identify their own saves by it.
  public var transactionAuthor: String?
  /// The policy that resolves conflicts of a save: differences to what others have saved since the context read the
  /// records, and values that must be unique. By default, ``save()`` throws if there are any.
  ///
  ///     context.mergePolicy = .mergeByPropertyObjectTrump
  public var mergePolicy = MergePolicy.error

  /// Values that the application wants to keep with the context. The context does not use them.
  public var userInfo: [String: Any] = [:]

  /// The progress of the context's fetches, by which another thread can cancel them; nil if nothing cancels them. A
  /// fetch that is cancelled throws `CancellationError`.
  package var fetchProgress: FetchProgress?

  /// The object of another API that presents this context, such as the `NSManagedObjectContext` of the module CoreData.
  package weak var presenter: AnyObject?
  /// Returns what a store wants to know before it is asked for references of new objects; nil if it does not care. The
  /// objects are all of one entity, in the order of the references, and must not be changed.
  package var namingObserver: ((_ store: PersistentStore) -> (([ManagedObject]) -> Void)?)?

  // The parts of the context. Each owns its state, and none retains the context.

  /// The flags that objects check and set each time they change.
  let notes = ContextNotes()
  /// The changes that the next save writes.
  let pending = PendingChanges()
  /// The table in which objects are found.
  let bindings = ObjectBindings()
  /// The sources from which records are read and to which they are saved.
  let sources: RecordSources
  /// The save that is under way, and what the next one checks.
  let saveProgress = SaveProgress()
  /// The changes that child contexts see, and those that they have saved.
  let children = ChildContexts()
  /// Records how changes are undone.
  let undoRecording: UndoRecording
  /// Notifies observers of changes and saves.
  let notifier: ChangeNotifier
  /// The saves of other contexts, if these are merged automatically.
  let inbox = MergeInbox()
  /// The read failures.
  let failures = ReadFailures()
  /// The changes that wait for records that could not be read.
  let postponed = PostponedChanges()

  /// Creates an empty context over the stores of a coordinator. It does no I/O.
  public convenience init(_ persistentStoreCoordinator: PersistentStoreCoordinator) {
    self.init(.stores, persistentStoreCoordinator)
  }

  init(_ upstream: ContextUpstream, _ persistentStoreCoordinator: PersistentStoreCoordinator) {
    self.persistentStoreCoordinator = persistentStoreCoordinator
    sources = RecordSources(upstream)
    undoRecording = UndoRecording(notes)
    notifier = ChangeNotifier(notes)
  }

  /// This runs on the thread that releases the last reference, while objects of the context may be in use on another.
  deinit { bindings.orphan() }
}

@available(*, unavailable, message: "A context belongs to the isolation that it was made in. Make another one there.")
extension ManagedObjectContext: Sendable {}

// MARK: Objects and changes

extension ManagedObjectContext {
  /// The objects that the next save will insert, in the order of their insertion. O(objects).
  public var insertedObjects: [ManagedObject] { pending.inserted.objects }

  /// The objects whose changes the next save will write, without those that it will insert or delete. O(objects).
  public var updatedObjects: [ManagedObject] { pending.updated.objects }

  /// The objects that the next save will delete. O(objects).
  public var deletedObjects: [ManagedObject] { pending.deleted.objects }

  /// All objects that are referenced outside the context, or that have changes. No record is read. O(objects).
  public var registeredObjects: [ManagedObject] {
    bindings.all.flatMap(\.registeredObjects) + pending.inserted.objects
  }

  /// Whether the context has changes for the next save.
  ///
  /// This includes changes that children have saved, even if the context has not merged them yet.
  public var hasChanges: Bool { !pending.isEmpty || children.hasWaitingSaves }

  /// Notes whether an object with a record in a store has changes.
  func note(_ object: ManagedObject, hasChanges: Bool) {
    noteChange(object)
    pending.note(object, hasChanges: hasChanges)
  }

  /// Records the changes of the current event; nil if nothing can be undone.
  var recorder: EventRecorder? { undoRecording.recorder }
}

// MARK: Noticing

extension ManagedObjectContext {
  /// Notes that an object has changed.
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

  /// Returns the binding of the objects of `entity` in `store`; a nil store stands for new objects.
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

  /// Returns the binding of the object of `id`, synchronized with its store.
  func binding(keeping id: ManagedObjectID) throws -> EntityBinding {
    followStores()
    let binding = try bindings.binding(of: id.scope) ?? findBinding(keeping: id)
    try binding.synchronize()
    return binding
  }

  /// Returns the object of `id` if it is registered and the context knows its record. It reads nothing and creates
  /// nothing.
  func knownObject(_ id: ManagedObjectID) -> ManagedObject? {
    if let object = pending.inserted[id] { return object }
    guard !id.isTemporaryID, let binding = bindings.search(id.scope) else { return nil }
    // try?: if two records have the same reference, the object is ambiguous.
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

  /// Prepares for a fetch: merges the changes of others, and publishes the context's own to its children if the fetch
  /// needs that.
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

  /// Makes stores release cached records if these take too much memory and contexts hold few of them.
  private func releaseMemory() {
    for store in persistentStoreCoordinator.persistentStores where store.engine.keepsTooMuch {
      for binding in savedBindings where binding.store === store { binding.noteHeldObjects() }
      store.engine.forgetRecords(evenHeld: false)
    }
  }

  /// Prepares for a save whose objects have been notified by `willSave`. Later saves of children wait, since their
  /// objects have not been notified.
  func prepareToSave() throws(PersistenceError) {
    try persistentStoreCoordinator.followOthers()
    followStores()
    if !undoRecording.isWhole { takeMerges() }
  }

  /// Makes the parent publish its changes, and follows stores that were removed or converted. No object of the context
  /// changes.
  func followStores() {
    parent?.publishChanges()
    followConversions()
  }

  /// Notices stores that were removed, and moves the objects of converted ones to the new stores.
  func followConversions() {
    let change = persistentStoreCoordinator.storeChanges.current
    if bindings.haveSeen(change) { return }
    // The save under way belongs to the former stores.
    finishSaveUnderWay()
    bindings.noteStoreChange(change)
    // Children have not seen the changes in the source that replaces a new store.
    notes.noteChange()
    sources.followConversions()
    pending.movingObjects { rebindConverted() }
  }

  /// Moves the objects of converted stores to the new ones.
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

  /// The bindings of objects that have records in stores.
  var savedBindings: [EntityBinding] { bindings.all.filter { $0.source != nil } }
}

// MARK: Unreferenced objects

extension ManagedObjectContext {
  /// Releases objects that are no longer referenced. It checks only some of them, so that its time is in proportion to
  /// the number of objects fetched since the last call.
  ///
  /// - Parameter more: how many additional objects of each entity it checks.
  func tidy(andLookAt more: Int = 0) {
    bindings.tidy(andLookAt: more)
  }
}
