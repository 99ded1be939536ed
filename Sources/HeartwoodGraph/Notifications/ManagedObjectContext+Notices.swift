import HeartwoodModel
public import HeartwoodStore
import Synchronization

// MARK: Listening

extension ManagedObjectContext {
  /// The changes of each save of the context, beginning with the next one.
  public var didSaveChanges: ContextChangeSequence { ContextChangeSequence(mailbox: notifier.saveBroadcast.listen()) }

  /// The changes of the context's objects: insertions, updates, deletions and refreshes.
  ///
  /// Changes are delivered together when an event ends: at ``processPendingChanges()``, a save, or the end of a
  /// ``BackgroundContext/perform(_:)``; in a ``ViewContext``, as soon as the main actor is free. Refreshes and merges
  /// are delivered immediately.
  public var objectsDidChange: ContextChangeSequence {
    ContextChangeSequence(mailbox: notifier.listenToObjectChanges())
  }

  /// Calls `body` when an event happens, synchronously in the isolation of the context.
  ///
  ///     let observation = context.observe(.didSave) { changes in print(changes.updatedObjectIDs) }
  ///
  /// - Parameter body: it must not save the context.
  /// - Returns: the observation, which ends when it is released. It does not retain the context.
  public func observe(
    _ event: ContextEvent,
    _ body: @escaping (ContextChanges) -> Void
  ) -> ContextObservation {
    notifier.observe(event, body)
  }

  /// Retains an observation as long as the context.
  package func hold(_ observation: ContextObservation) { notifier.hold(observation) }
}

extension PersistentStoreCoordinator {
  /// The changes of each save to the stores by any context, beginning with the next one; this includes saves of other
  /// processes and other coordinators, once they are noticed (``ContextChanges/isRemote``).
  public var didSaveChanges: ContextChangeSequence { ContextChangeSequence(mailbox: saveBroadcast.listen()) }

  /// Looks for saves of other processes or other coordinators to shared stores, and notifies observers: contexts that
  /// merge automatically merge them.
  ///
  /// Fetches, counts and saves look for them too. An application may call this when it becomes active, or from time to
  /// time. It does nothing for atomic stores, whose files are read completely.
  ///
  /// - Throws: ``PersistenceError/Code/coordinatorClosed``, and the errors of reading.
  public func checkForRemoteChanges() throws(PersistenceError) { try followOthers() }

  func followOthers() throws(PersistenceError) {
    try checkNotClosed()
    for store in persistentStores { try store.engine.followOthers() }
    tellRemoteChanges()
  }

  /// Reports the saves of others that have been noticed.
  func tellRemoteChanges() {
    for store in persistentStores {
      if let changes = store.engine.takeRemoteChanges() { saveBroadcast.send(ContextChanges(changes)) }
    }
  }
}

// MARK: Notifying

extension ManagedObjectContext {
  /// The broadcasts that report the saves of the context.
  private var saveAudience: [ChangeBroadcast] {
    let above = sources.saveBroadcast(persistentStoreCoordinator)
    return [notifier.saveBroadcast, above] + [children.stagingArea?.saveBroadcast].compactMap(\.self)
  }

  var isSaveHeard: Bool {
    notifier.observers.hasObservers(of: .didSave) || saveAudience.contains(where: \.isHeard)
  }

  /// Reports a save.
  func tellSave(_ changes: ContextChanges) {
    notifier.observers.tell(changes, .didSave)
    for broadcast in saveAudience { broadcast.send(changes) }
  }

  /// Reports what is about to be saved.
  func tellWillSave() {
    guard notifier.observers.hasObservers(of: .willSave) else { return }
    var changes = emptyChanges()
    changes.records.inserted = Set(pending.inserted.objects.map(\.objectID))
    changes.records.updated = Set(pending.updated.objects.map(\.objectID))
    changes.records.deleted = Set(pending.deleted.objects.map(\.objectID))
    notifier.observers.tell(changes, .willSave)
  }

  /// Reports the changes since the last report.
  func tellChangeEvent() {
    if notifier.hasEvent { notifier.tellEvent(in: emptyChanges()) }
  }

  func emptyChanges() -> ContextChanges {
    ContextChanges(context: notifier.identifier, name: name, author: transactionAuthor)
  }
}

// MARK: ContextNotes

/// The flags of a context that objects check, and set, each time they change.
///
/// It is separate from the context so that a change need not retain the context, which may be deallocated on another
/// thread meanwhile.
///
/// Exclusive access is checked by review, since no foreign code runs during an access.
final class ContextNotes {
  /// Grows with each change of an object, and with each change of what children see of the context.
  @exclusivity(unchecked) private(set) var changeNumber: UInt64 = 0
  /// The objects that were changed since their `willSave` was called; nil while no save begins.
  @exclusivity(unchecked) private var disturbed: ObjectList?
  /// Whether objects are being validated.
  @exclusivity(unchecked) private(set) var isValidating = false
  /// Whether changes of values are recorded for undo.
  @exclusivity(unchecked) private(set) var isRecorded = false
  /// Whether there may be observers of changes of objects.
  @exclusivity(unchecked) private(set) var notesChangeEvents = false
}

extension ContextNotes {
  /// Notes that an object has changed.
  @inline(__always)
  func note(_ object: ManagedObject) {
    changeNumber &+= 1
    disturbed?.append(object)
  }

  /// Notes that children have to look again, although no object may have changed.
  func noteChange() { changeNumber &+= 1 }

  /// Sets whether changes of values are recorded.
  func record(_ isRecorded: Bool) { self.isRecorded = isRecorded }

  /// Sets whether there may be observers of changes of objects.
  func noteEvents(_ notesChangeEvents: Bool) { self.notesChangeEvents = notesChangeEvents }

  /// Calls `body`, which validates objects. They cannot be changed meanwhile.
  func validating(_ body: () throws -> Void) rethrows {
    isValidating = true
    defer { isValidating = false }
    try body()
  }
}

// MARK: Objects that change while a save begins

extension ContextNotes {
  /// Whether a save begins: then objects that change are collected.
  var isGathering: Bool { disturbed != nil }

  func beginGathering() { disturbed = ObjectList() }
  func endGathering() { disturbed = nil }

  /// Returns the objects that have changed since the last call.
  func takeGathered() -> [ManagedObject] {
    defer { disturbed = ObjectList() }
    return disturbed?.objects ?? []
  }

  /// Calls `body`, which changes an object without adding it to the collected ones.
  func withoutGathering(_ object: ManagedObject, _ body: () -> Void) {
    let wasGathered = disturbed?.contains(object) ?? false
    body()
    if !wasGathered { disturbed?.remove(object) }
  }
}

extension EntityBinding {
  /// Notes a change of an object that has changes already or is new.
  @inline(__always)
  func noteChange(_ object: ManagedObject) {
    if notes.notesChangeEvents { context?.noteChange(object) } else { notes.note(object) }
  }
}

// MARK: ChangeBroadcast

/// Distributes changes to the mailboxes of all listeners. Releasing a mailbox ends its subscription.
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
  /// Whether there may be listeners: otherwise changes need not be assembled.
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

/// The objects that have changed since the last report.
struct ChangeEvent {
  private var touched = ObjectList()
  /// Those of them that are new.
  private var inserted: Set<ObjectIdentifier> = []

  var isEmpty: Bool { touched.isEmpty }
  var objects: [ManagedObject] { touched.objects }

  mutating func note(_ object: ManagedObject) {
    touched.append(object)
  }

  /// Removes objects that were reported already.
  mutating func forget(_ objects: some Sequence<ManagedObject>) {
    if isEmpty { return }
    for object in objects { touched.remove(object) }
  }

  mutating func noteInsertion(of object: ManagedObject) {
    touched.append(object)
    inserted.insert(ObjectIdentifier(object))
  }

  /// Returns the changes of the objects, added to `changes`.
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
