public import HeartwoodFoundation
public import HeartwoodGraph
public import HeartwoodStore
public import Observation

/// What an editor of one file needs: it opens the file, gives a context with its objects, and saves, reverts and autosaves them.
///
///     let document = try PersistentDocument(coordinator, contentsOf: url)
///     try document.context.insert(ToDo.self).memo = "Bread"
///     document.hasUnsavedChanges  // true
///     try document.save()
///
/// It belongs to the main actor, and so do its objects. Its file is opened there, and ``save()`` writes it there;
/// ``saveAsynchronously()`` and autosaving write it elsewhere meanwhile. If opening takes so long that a person would notice, use a
/// ``BackgroundDocument``.
@MainActor
@Observable
public final class PersistentDocument {
  /// The coordinator that has the document's store, and no other.
  public nonisolated let persistentStoreCoordinator: PersistentStoreCoordinator
  /// What is known of the document. It is observed as its properties are, and by ``states``.
  public private(set) var state: DocumentState
  @ObservationIgnored private let view: ViewContext
  @ObservationIgnored private let session: DocumentSession
  @ObservationIgnored private let autosaving = DocumentAutosaving()
  @ObservationIgnored private var observations: [ContextObservation] = []

  /// Makes a new document, which has no file until it is saved as one.
  ///
  /// - Parameter persistentStoreCoordinator: a coordinator without stores, whose registry knows in-memory stores.
  public convenience init(_ persistentStoreCoordinator: PersistentStoreCoordinator) throws {
    try self.init(DocumentSession(persistentStoreCoordinator, at: nil, type: nil, options: StoreOptions()))
  }

  /// Opens a document, and reads its file.
  ///
  /// - Parameters:
  ///   - persistentStoreCoordinator: a coordinator without stores.
  ///   - type: the registered type; nil means that the file's name or content tells it.
  /// - Throws: ``PersistenceError/Code/fileNotFound``, ``PersistenceError/Code/storeAlreadyOpen`` where the coordinator has stores, and
  ///   what `addPersistentStore` throws.
  public convenience init(
    _ persistentStoreCoordinator: PersistentStoreCoordinator,
    contentsOf url: URL,
    type: StoreType? = nil,
    options: StoreOptions = StoreOptions()
  ) throws {
    try self.init(DocumentSession(persistentStoreCoordinator, at: url, type: type, options: options))
  }

  private init(_ session: DocumentSession) {
    self.session = session
    persistentStoreCoordinator = session.coordinator
    view = ViewContext(session.coordinator)
    state = session.state
    session.adopt(view.context)
    for event in [ContextEvent.objectsDidChange, .didSave] {
      observations.append(view.context.observe(event) { [weak self] _ in self?.takeState() })
    }
  }
}

// MARK: What it is

extension PersistentDocument {
  /// The context with the document's objects. Saving it saves the document's file, if there is one.
  public var context: ManagedObjectContext { view.context }

  /// Makes a context in the background that is a child of ``context``: it sees the unsaved changes there, and its
  /// ``ManagedObjectContext/save()`` makes its own changes unsaved changes of the document.
  public func newBackgroundChildContext() -> BackgroundContext { BackgroundContext(parent: view) }

  /// What takes back changes of the document; the context's own.
  public var undoManager: GraphUndoManager? { context.undoManager }

  /// The document's file; nil for one that was never saved.
  public var url: URL? { state.url }

  /// The open store that keeps the document.
  public var persistentStore: PersistentStore {
    _ = state
    return session.store
  }

  /// Whether there is something that ``save()`` would write.
  public var hasUnsavedChanges: Bool {
    _ = state
    return session.hasUnsavedChanges(context)
  }

  /// The document's state as it is now, and then each time that it has changed: changes of objects are told when the main actor is free.
  /// Who is slow gets the newest.
  public nonisolated var states: AsyncStream<DocumentState> { session.states() }

  /// Looks what has become of the document's file since it was opened or last saved.
  @discardableResult
  public func checkFile() throws(PersistenceError) -> StoreFileState {
    defer { takeState() }
    return try session.noteFileState()
  }

  private func takeState() {
    let newest = session.state
    if newest != state { state = newest }
  }
}

// MARK: Saving

extension PersistentDocument {
  /// Writes the document's changes to its file.
  ///
  /// - Throws: ``PersistenceError/Code/documentWithoutFile``; ``PersistenceError/Code/fileChangedOnDisk`` where somebody else has
  ///   written, moved or removed the file: nothing is written over it, and a file that is gone does not come back by itself; and what
  ///   ``ManagedObjectContext/save()`` throws. The changes stay then.
  public func save() throws {
    defer { takeState() }
    try session.save(context)
  }

  /// Writes the document's changes to its file without holding up the main actor; see
  /// ``ManagedObjectContext/saveAsynchronously(isolation:)`` for what happens to changes that are made meanwhile.
  ///
  /// - Throws: what ``save()`` throws.
  public func saveAsynchronously() async throws {
    defer { takeState() }
    try await session.saveAsynchronously(context)
  }

  /// Writes the document, with its changes, to another file or as another type. The document is that file from then on; the old file
  /// stays as it was last saved. On failure the document stays what it was.
  ///
  /// - Parameters:
  ///   - type: the registered type; nil means the document's, where the name fits, or the type that the name tells.
  ///   - options: the options of the new store; nil means those of the old one.
  ///   - replacing: whether a file that stands there is replaced.
  public func save(
    as url: URL,
    type: StoreType? = nil,
    options: StoreOptions? = nil,
    replacing: Bool = false
  ) throws {
    defer { takeState() }
    try session.save(context, as: .init(url: url, type: type, options: options, isReplacing: replacing))
  }

  /// Writes the document, with its changes, to another file. The document stays where it is, and its changes stay unsaved. The copy
  /// has the same store identifier.
  ///
  /// - Parameters: those of ``save(as:type:options:replacing:)``.
  /// - Throws: also ``PersistenceError/Code/saveConflict`` where another context of the document's coordinator has saved the same objects, whatever
  ///   the merge policy, which would change the document: save that first, or refresh the objects.
  public func saveCopy(
    to url: URL,
    type: StoreType? = nil,
    options: StoreOptions? = nil,
    replacing: Bool = false
  ) throws {
    defer { takeState() }
    try session.saveCopy(context, to: .init(url: url, type: type, options: options, isReplacing: replacing))
  }

  /// Forgets all changes, and what could be undone, and takes what is in the file now.
  ///
  /// Where somebody else has written the file, or metadata were set, it is read again, and the context is reset: objects that somebody
  /// holds must not be used any more. Otherwise they stay, with the values that were saved.
  ///
  /// - Throws: ``PersistenceError/Code/documentWithoutFile``, ``PersistenceError/Code/fileChangedOnDisk`` where the file is gone, and what
  ///   opening it throws. The changes stay then.
  public func revert() throws {
    defer { takeState() }
    try session.revert(context)
  }

  /// Tells where the document's file is now, or is to be; see ``PersistentStoreCoordinator/setURL(_:for:)``.
  public func setURL(_ url: URL) throws(PersistenceError) {
    defer { takeState() }
    try session.setURL(url, context)
  }

  /// Sets what the application keeps with the document. It is a change that the next save writes.
  public func setUserInfo(_ userInfo: [String: MetadataValue]) throws(PersistenceError) {
    defer { takeState() }
    try persistentStore.setUserInfo(userInfo)
    session.note(context)
  }
}

// MARK: Autosaving

extension PersistentDocument {
  /// Saves if there is something to save, and otherwise looks what has become of the file.
  ///
  /// - Returns: whether there was something to save.
  /// - Throws: what ``save()`` throws; it is in the document's ``state`` too.
  @discardableResult
  public func autosave() throws -> Bool {
    defer { takeState() }
    return try session.autosave(context)
  }

  /// Saves as ``autosave()`` does, without holding up the main actor.
  @discardableResult
  public func autosaveAsynchronously() async throws -> Bool {
    defer { takeState() }
    return try await session.autosaveAsynchronously(context)
  }

  /// Autosaves after each `interval`, until ``stopAutosaving()`` is called or the document is gone. Failures are in the document's
  /// ``state``, and are no reason to stop.
  ///
  /// - Parameter clock: what measures the interval.
  public func startAutosaving(every interval: Duration, clock: any Clock<Duration> = ContinuousClock()) {
    autosaving.start(every: interval, clock) { [weak self] in await self?.autosaveInTurn() ?? false }
  }

  /// Stops what ``startAutosaving(every:clock:)`` began. A save that is under way is finished.
  public func stopAutosaving() {
    autosaving.stop()
  }

  private func autosaveInTurn() async -> Bool {
    // try?: its state tells what went wrong.
    _ = try? await autosaveAsynchronously()
    return true
  }
}
