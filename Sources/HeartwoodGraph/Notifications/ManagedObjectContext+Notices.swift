import HeartwoodModel
public import HeartwoodStore

// MARK: Listening

extension ManagedObjectContext {
  /// What the context saves, save by save, beginning with the next.
  public var didSaveChanges: ContextChangeSequence { ContextChangeSequence(mailbox: saveBroadcast.listen()) }

  /// What becomes of the context's objects: they are inserted, changed, deleted or refreshed.
  ///
  /// Changes come together, when an event ends: at ``processPendingChanges()``, a save, the end of a ``BackgroundContext/perform(_:)``;
  /// in a ``ViewContext`` as soon as the main actor is free. What is refreshed or merged comes at once.
  public var objectsDidChange: ContextChangeSequence {
    notesChangeEvents = true
    return ContextChangeSequence(mailbox: changeBroadcast.listen())
  }

  /// Calls `body` when something happens, in the isolation of the context and before whoever made it happen goes on.
  ///
  /// - Parameter body: it must not save the context.
  /// - Returns: the observation, which ends when it is let go. It does not hold the context.
  public func observe(
    _ event: ContextEvent,
    _ body: @escaping (ContextChanges) -> Void
  ) -> ContextObservation {
    if event == .objectsDidChange { notesChangeEvents = true }
    return ContextObservation(observers, event, body)
  }
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
    let above = upstream.stagingArea?.saveBroadcast ?? persistentStoreCoordinator.saveBroadcast
    return [saveBroadcast, above] + [stagingArea?.saveBroadcast].compactMap(\.self)
  }

  var isSaveHeard: Bool {
    observers.hasObservers(of: .didSave) || saveAudience.contains(where: \.isHeard)
  }

  /// Tells what a save did.
  func tellSave(_ changes: ContextChanges) {
    observers.tell(changes, .didSave)
    for broadcast in saveAudience { broadcast.send(changes) }
  }

  /// Tells what is about to be saved.
  func tellWillSave() {
    guard observers.hasObservers(of: .willSave) else { return }
    var changes = emptyChanges()
    changes.records.inserted = Set(inserted.objects.map(\.objectID))
    changes.records.updated = Set(updated.objects.map(\.objectID))
    changes.records.deleted = Set(deleted.objects.map(\.objectID))
    observers.tell(changes, .willSave)
  }

  var areObjectChangesHeard: Bool {
    observers.hasObservers(of: .objectsDidChange) || changeBroadcast.isHeard || !liveResults.isEmpty
  }

  /// Tells what became of objects.
  func tellObjectChanges(_ changes: ContextChanges) {
    if changes.isEmpty || !areObjectChangesHeard { return }
    observers.tell(changes, .objectsDidChange)
    changeBroadcast.send(changes)
  }

  /// Tells what has changed since listeners were last told.
  func tellChangeEvent() {
    if changeEvent.isEmpty { return }
    let event = changeEvent
    changeEvent = ChangeEvent()
    notesChangeEvents = areObjectChangesHeard
    liveResults.tell(LiveEvent(objects: event.objects))
    if notesChangeEvents { tellObjectChanges(event.told(in: emptyChanges())) }
  }

  func emptyChanges() -> ContextChanges {
    ContextChanges(context: identifier, name: name, author: transactionAuthor)
  }
}
