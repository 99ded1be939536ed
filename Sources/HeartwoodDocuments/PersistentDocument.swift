public import HeartwoodFoundation
public import HeartwoodGraph
public import HeartwoodStore
public import Observation

/// A document in one file, for editors: it opens the file, has a context with its objects, and saves, reverts and
/// autosaves them.
///
///     let document = try PersistentDocument(coordinator, contentsOf: url)
///     try document.context.insert(ToDo.self).memo = "Bread"
///     document.hasUnsavedChanges  // true
///     try document.save()
///
/// It belongs to the main actor, and so do its objects. The file is opened on the main thread, and ``save()`` writes it
/// there; ``saveAsynchronously()`` and autosaving write it on another thread. If opening the file takes noticeable
/// time, use a ``BackgroundDocument``.
@MainActor
@Observable
public final class PersistentDocument {
  /// The coordinator, whose only store is the document's.
  public nonisolated let persistentStoreCoordinator: PersistentStoreCoordinator
  /// The state of the document. Observe it with the Observation framework or with ``states``.
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
  ///   - type: the registered type; nil means that the file's name or content determines it.
  /// - Throws: ``PersistenceError/Code/fileNotFound``, ``PersistenceError/Code/storeAlreadyOpen`` if the coordinator
  ///   has stores, and the errors of `addPersistentStore`.
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

  /// Makes a background context that is a child of ``context``: it sees the unsaved changes of the document, and its
  /// ``ManagedObjectContext/save()`` makes its own changes unsaved changes of the document.
  public func newBackgroundChildContext() -> BackgroundContext { BackgroundContext(parent: view) }

  /// The undo manager of the document's context.
  public var undoManager: GraphUndoManager? { context.undoManager }

  /// The document's file; nil for one that was never saved.
  public var url: URL? { state.url }

  /// The open store that keeps the document.
  public var persistentStore: PersistentStore {
    _ = state
    return session.store
  }

  /// Whether the document has changes that ``save()`` would write.
  public var hasUnsavedChanges: Bool {
    _ = state
    return session.hasUnsavedChanges(context)
  }

  /// A sequence of the document's current state and each later one. Changes of objects are reported when the main actor
  /// is free. A slow reader gets the newest state.
  public nonisolated var states: AsyncStream<DocumentState> { session.states() }

  /// Returns whether the document's file was changed, moved or removed since it was opened or last saved.
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
  /// - Throws: ``PersistenceError/Code/documentWithoutFile``; ``PersistenceError/Code/fileChangedOnDisk`` if another
  ///   process has written, moved or removed the file, which is then neither overwritten nor made again; and the errors
  ///   of ``ManagedObjectContext/save()``. The changes stay unsaved then.
  public func save() throws {
    defer { takeState() }
    try session.save(context)
  }

  /// Writes the document's changes to its file without blocking the main actor; see
  /// ``ManagedObjectContext/saveAsynchronously(isolation:)`` for what happens to changes that are made meanwhile.
  ///
  /// - Throws: what ``save()`` throws.
  public func saveAsynchronously() async throws {
    defer { takeState() }
    try await session.saveAsynchronously(context)
  }

  /// Writes the document, with its changes, to another file or as another type. From then on the document uses the new
  /// file; the old file stays as it was last saved. If it throws, the document keeps its file.
  ///
  /// - Parameters:
  ///   - type: the registered type; nil means the document's type if the file's name fits it, or the type that the name
  ///     determines.
  ///   - options: the options of the new store; nil means those of the old one.
  ///   - replacing: whether an existing file is replaced.
  public func save(
    as url: URL,
    type: StoreType? = nil,
    options: StoreOptions? = nil,
    replacing: Bool = false
  ) throws {
    defer { takeState() }
    try session.save(context, as: .init(url: url, type: type, options: options, isReplacing: replacing))
  }

  /// Writes a copy of the document, with its changes, to another file. The document keeps its file, and its changes
  /// stay unsaved. The copy has the same store identifier.
  ///
  /// - Parameters: those of ``save(as:type:options:replacing:)``.
  /// - Throws: also ``PersistenceError/Code/saveConflict`` if another context of the document's coordinator has saved
  ///   the same objects. The merge policy is not applied, because that would change the document: save the document
  ///   first, or refresh the objects.
  public func saveCopy(
    to url: URL,
    type: StoreType? = nil,
    options: StoreOptions? = nil,
    replacing: Bool = false
  ) throws {
    defer { takeState() }
    try session.saveCopy(context, to: .init(url: url, type: type, options: options, isReplacing: replacing))
  }

  /// Discards all changes and undo steps, and reads the file again.
  ///
  /// If another process has written the file, or metadata were set, the file is opened again and the context is reset:
  /// existing objects must not be used any more. Otherwise the objects stay, with their saved values.
  ///
  /// - Throws: ``PersistenceError/Code/documentWithoutFile``, ``PersistenceError/Code/fileChangedOnDisk`` if the file
  ///   was moved or removed, and the errors of opening it. The changes stay then.
  public func revert() throws {
    defer { takeState() }
    try session.revert(context)
  }

  /// Sets the place of a file that was moved, or the place at which it will be saved; see
  /// ``PersistentStoreCoordinator/setURL(_:for:)``.
  public func setURL(_ url: URL) throws(PersistenceError) {
    defer { takeState() }
    try session.setURL(url, context)
  }

  /// Sets the application's metadata of the document. It is an unsaved change, which the next save writes.
  public func setUserInfo(_ userInfo: [String: MetadataValue]) throws(PersistenceError) {
    defer { takeState() }
    try persistentStore.setUserInfo(userInfo)
    session.note(context)
  }
}

// MARK: Autosaving

extension PersistentDocument {
  /// Saves the document if it has unsaved changes, and otherwise checks its file.
  ///
  /// - Returns: whether the document had unsaved changes.
  /// - Throws: the errors of ``save()``, which are also reported in the document's ``state``.
  @discardableResult
  public func autosave() throws -> Bool {
    defer { takeState() }
    return try session.autosave(context)
  }

  /// Saves as ``autosave()`` does, without blocking the main actor.
  @discardableResult
  public func autosaveAsynchronously() async throws -> Bool {
    defer { takeState() }
    return try await session.autosaveAsynchronously(context)
  }

  /// Autosaves after each `interval`, until ``stopAutosaving()`` is called or the document is deallocated. Failures are
  /// reported in the document's ``state`` and do not stop autosaving.
  ///
  /// - Parameter clock: the clock that measures the interval.
  public func startAutosaving(every interval: Duration, clock: any Clock<Duration> = ContinuousClock()) {
    autosaving.start(every: interval, clock) { [weak self] in await self?.autosaveInTurn() ?? false }
  }

  /// Stops the autosaving that ``startAutosaving(every:clock:)`` began. A save that is under way is finished.
  public func stopAutosaving() {
    autosaving.stop()
  }

  private func autosaveInTurn() async -> Bool {
    // try?: the document's state has the error.
    _ = try? await autosaveAsynchronously()
    return true
  }
}
