import HeartwoodModel
public import HeartwoodStore
import Synchronization

// MARK: Listening

extension ManagedObjectContext {
  /// What the context saves, save by save, beginning with the next.
  public var didSaveChanges: ContextChangeSequence { ContextChangeSequence(mailbox: notifier.saveBroadcast.listen()) }

  /// What becomes of the context's objects: they are inserted, changed, deleted or refreshed.
  ///
  /// Changes come together, when an event ends: at ``processPendingChanges()``, a save, the end of a ``BackgroundContext/perform(_:)``;
  /// in a ``ViewContext`` as soon as the main actor is free. What is refreshed or merged comes at once.
  public var objectsDidChange: ContextChangeSequence {
    ContextChangeSequence(mailbox: notifier.listenToObjectChanges())
  }

  /// Calls `body` when something happens, in the isolation of the context and before whoever made it happen goes on.
  ///
  /// - Parameter body: it must not save the context.
  /// - Returns: the observation, which ends when it is let go. It does not hold the context.
  public func observe(
    _ event: ContextEvent,
    _ body: @escaping (ContextChanges) -> Void
  ) -> ContextObservation {
    notifier.observe(event, body)
  }

  /// Holds an observation as long as the context.
  package func hold(_ observation: ContextObservation) { notifier.hold(observation) }
}

extension PersistentStoreCoordinator {
  /// What is saved to the stores, whatever the context, save by save, beginning with the next; also what other processes and other
  /// coordinators save, once that is noticed (``ContextChanges/isRemote``).
  public var didSaveChanges: ContextChangeSequence { ContextChangeSequence(mailbox: saveBroadcast.listen()) }

  /// Looks whether other processes or other coordinators have saved to the stores that they share, and tells those who listen: contexts
  /// that merge by themselves take it in.
  ///
  /// Fetches, counts and saves look, too. An application calls it when it comes to the front, say, or from time to time. It does nothing
  /// for atomic stores, whose files are read as a whole.
  ///
  /// - Throws: ``PersistenceError/Code/coordinatorClosed``, and what reading can throw.
  public func checkForRemoteChanges() throws(PersistenceError) { try followOthers() }

  func followOthers() throws(PersistenceError) {
    try checkNotClosed()
    for store in persistentStores { try store.engine.followOthers() }
    tellRemoteChanges()
  }

  /// Tells what others have saved, as far as it has been noticed.
  func tellRemoteChanges() {
    for store in persistentStores {
      if let changes = store.engine.takeRemoteChanges() { saveBroadcast.send(ContextChanges(changes)) }
    }
  }
}

// MARK: Telling

extension ManagedObjectContext {
  /// Those who learn what the context saves.
  private var saveAudience: [ChangeBroadcast] {
    let above = sources.saveBroadcast(persistentStoreCoordinator)
    return [notifier.saveBroadcast, above] + [children.stagingArea?.saveBroadcast].compactMap(\.self)
  }

  var isSaveHeard: Bool {
    notifier.observers.hasObservers(of: .didSave) || saveAudience.contains(where: \.isHeard)
  }

  /// Tells what a save did.
  func tellSave(_ changes: ContextChanges) {
    notifier.observers.tell(changes, .didSave)
    for broadcast in saveAudience { broadcast.send(changes) }
  }

  /// Tells what is about to be saved.
  func tellWillSave() {
    guard notifier.observers.hasObservers(of: .willSave) else { return }
    var changes = emptyChanges()
    changes.records.inserted = Set(pending.inserted.objects.map(\.objectID))
    changes.records.updated = Set(pending.updated.objects.map(\.objectID))
    changes.records.deleted = Set(pending.deleted.objects.map(\.objectID))
    notifier.observers.tell(changes, .willSave)
  }

  /// Tells what has changed since listeners were last told.
  func tellChangeEvent() {
    if notifier.hasEvent { notifier.tellEvent(in: emptyChanges()) }
  }

  func emptyChanges() -> ContextChanges {
    ContextChanges(context: notifier.identifier, name: name, author: transactionAuthor)
  }
}

// MARK: ContextNotes

/// What objects ask their context, and note, each time that they change.
///
/// It is apart from the context so that a change need not hold the context, which may go on another thread meanwhile.
///
/// That no one else has access while it is used is checked by eye, since no code of others runs then.
final class ContextNotes {
  /// Grows with each change of an object, and with each change of what children see of the context.
  @exclusivity(unchecked) private(set) var changeNumber: UInt64 = 0
  /// The objects that were changed since they were told that they will be saved; nil while no save begins.
  @exclusivity(unchecked) private var disturbed: ObjectList?
  /// Whether objects are asked whether they are fit to be saved.
  @exclusivity(unchecked) private(set) var isValidating = false
  /// Whether values that change are recorded, to be undone.
  @exclusivity(unchecked) private(set) var isRecorded = false
  /// Whether there may be listeners to changes of objects.
  @exclusivity(unchecked) private(set) var notesChangeEvents = false
}

extension ContextNotes {
  /// Notes that an object is not what it was.
  @inline(__always)
  func note(_ object: ManagedObject) {
    changeNumber &+= 1
    disturbed?.append(object)
  }

  /// Notes that children are to look anew, though no object may have changed.
  func noteChange() { changeNumber &+= 1 }

  /// Sets whether values that change are recorded.
  func record(_ isRecorded: Bool) { self.isRecorded = isRecorded }

  /// Sets whether there may be listeners to changes of objects.
  func noteEvents(_ notesChangeEvents: Bool) { self.notesChangeEvents = notesChangeEvents }

  /// Calls `body`, which asks objects whether they are fit to be saved. They cannot be changed meanwhile.
  func validating(_ body: () throws -> Void) rethrows {
    isValidating = true
    defer { isValidating = false }
    try body()
  }
}

// MARK: Objects that change while a save begins

extension ContextNotes {
  /// Whether a save begins: objects that change are gathered.
  var isGathering: Bool { disturbed != nil }

  func beginGathering() { disturbed = ObjectList() }
  func endGathering() { disturbed = nil }

  /// Returns the objects that have changed since the last call.
  func takeGathered() -> [ManagedObject] {
    defer { disturbed = ObjectList() }
    return disturbed?.objects ?? []
  }

  /// Calls `body`, which changes an object without its being gathered for that.
  func withoutGathering(_ object: ManagedObject, _ body: () -> Void) {
    let wasGathered = disturbed?.contains(object) ?? false
    body()
    if !wasGathered { disturbed?.remove(object) }
  }
}

extension EntityBinding {
  /// Notes that an object is not what it was, which has changes already or is new.
  @inline(__always)
  func noteChange(_ object: ManagedObject) {
    if notes.notesChangeEvents { context?.noteChange(object) } else { notes.note(object) }
  }
}

// MARK: ChangeBroadcast

/// Puts changes into the mailboxes of all who listen. Whoever drops a mailbox listens no longer.
final class ChangeBroadcast: Sendable {
  private struct Listener {
    weak var mailbox: Mailbox<ContextChanges>?
  }

  private let listeners = Mutex<[Listener]>([])
  private let isHeardFlag = Atomic<Bool>(false)

  init() {}

  deinit {
    for listener in listeners.withLock({ $0 }) { listener.mailbox?.finish() }
  }
}

extension ChangeBroadcast {
  /// Whether somebody may listen: otherwise changes need not be put together.
  var isHeard: Bool { isHeardFlag.load(ordering: .acquiring) }

  func listen(wake: (@Sendable () -> Void)? = nil) -> Mailbox<ContextChanges> {
    let mailbox = Mailbox<ContextChanges>(wake: wake)
    listeners.withLock { listeners in
      listeners.removeAll { $0.mailbox == nil }
      listeners.append(Listener(mailbox: mailbox))
      isHeardFlag.store(true, ordering: .releasing)
    }
    return mailbox
  }

  func send(_ changes: ContextChanges) {
    let mailboxes = listeners.withLock { listeners in
      listeners.removeAll { $0.mailbox == nil }
      if listeners.isEmpty { isHeardFlag.store(false, ordering: .releasing) }
      return listeners.compactMap(\.mailbox)
    }
    for mailbox in mailboxes { mailbox.put(changes) }
  }
}

// MARK: ChangeEvent

/// The objects that have changed since listeners were last told.
struct ChangeEvent {
  private var touched = ObjectList()
  /// Those of them that are new.
  private var inserted: Set<ObjectIdentifier> = []

  var isEmpty: Bool { touched.isEmpty }
  var objects: [ManagedObject] { touched.objects }

  mutating func note(_ object: ManagedObject) {
    touched.append(object)
  }

  /// Takes out objects that have been told of.
  mutating func forget(_ objects: some Sequence<ManagedObject>) {
    if isEmpty { return }
    for object in objects { touched.remove(object) }
  }

  mutating func noteInsertion(of object: ManagedObject) {
    touched.append(object)
    inserted.insert(ObjectIdentifier(object))
  }

  /// What became of the objects, added to `changes`.
  func told(in changes: ContextChanges) -> ContextChanges {
    var changes = changes
    for object in touched.objects {
      let isNew = inserted.contains(ObjectIdentifier(object))
      let isGone = object.isDeleted || object.managedObjectContext == nil
      switch (isNew, isGone) {
      case (true, true): break
      case (true, false): changes.records.inserted.insert(object.objectID)
      case (false, true): changes.records.deleted.insert(object.objectID)
      case (false, false): changes.records.updated.insert(object.objectID)
      }
    }
    return changes
  }
}
