public import HeartwoodFoundation
public import HeartwoodGraph
public import HeartwoodStore

/// A document whose context runs in the background; ``PersistentDocument`` is its counterpart on the main actor.
///
///     let document = try await BackgroundDocument(coordinator, contentsOf: url)
///     try await document.context.perform { context in
///       try context.insert(ToDo.self).memo = "Bread"
///     }
///     try await document.save()
///
/// Reading and writing its file blocks no other task: only the caller waits.
public final class BackgroundDocument: Sendable {
  /// The context with the document's objects.
  public let context: BackgroundContext
  private let session: DocumentSession
  private let autosaving = DocumentAutosaving()

  /// Makes a new document, which has no file until it is saved as one.
  ///
  /// - Parameter persistentStoreCoordinator: a coordinator without stores, whose registry knows in-memory stores.
  public convenience init(_ persistentStoreCoordinator: PersistentStoreCoordinator) async throws {
    await self.init(try await Self.session(persistentStoreCoordinator, at: nil, type: nil, StoreOptions()))
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
  ) async throws {
    await self.init(try await Self.session(persistentStoreCoordinator, at: url, type: type, options))
  }

  /// Opens the document's store on a thread that may block.
  private static func session(
    _ coordinator: PersistentStoreCoordinator,
    at url: URL?,
    type: StoreType?,
    _ options: StoreOptions
  ) async throws -> DocumentSession {
    try await WaitingWork.run { try DocumentSession(coordinator, at: url, type: type, options: options) }
  }

  private init(_ session: DocumentSession) async {
    self.session = session
    context = BackgroundContext(session.coordinator)
    await context.perform { context in session.adopt(context) }
  }
}

// MARK: What it is

extension BackgroundDocument {
  /// The coordinator, whose only store is the document's.
  public var persistentStoreCoordinator: PersistentStoreCoordinator { session.coordinator }

  /// The open store that keeps the document.
  public var persistentStore: PersistentStore { session.store }

  /// The state of the document after the last `perform` of its context.
  public var state: DocumentState { session.state }

  /// A sequence of the document's current state and each later one. A slow reader gets the newest.
  public var states: AsyncStream<DocumentState> { session.states() }

  /// Returns whether the document's file was changed, moved or removed since it was opened or last saved.
  @discardableResult
  public func checkFile() throws(PersistenceError) -> StoreFileState { try session.noteFileState() }
}

// MARK: Saving

extension BackgroundDocument {
  /// Writes the document's changes to its file: ``PersistentDocument/save()``.
  public func save() async throws {
    try await context.perform { [session] context in try session.save(context) }
  }

  /// Writes the document to another file or as another type: ``PersistentDocument/save(as:type:options:replacing:)``.
  public func save(
    as url: URL,
    type: StoreType? = nil,
    options: StoreOptions? = nil,
    replacing: Bool = false
  ) async throws {
    let destination = DocumentSession.Destination(url: url, type: type, options: options, isReplacing: replacing)
    try await context.perform { [session] context in try session.save(context, as: destination) }
  }

  /// Writes a copy of the document to another file: ``PersistentDocument/saveCopy(to:type:options:replacing:)``.
  public func saveCopy(
    to url: URL,
    type: StoreType? = nil,
    options: StoreOptions? = nil,
    replacing: Bool = false
  ) async throws {
    let destination = DocumentSession.Destination(url: url, type: type, options: options, isReplacing: replacing)
    try await context.perform { [session] context in try session.saveCopy(context, to: destination) }
  }

  /// Discards all changes and reads the file again: ``PersistentDocument/revert()``.
  public func revert() async throws {
    try await context.perform { [session] context in try session.revert(context) }
  }

  /// Sets the place of a file that was moved, or the place at which it will be saved:
  /// ``PersistentStoreCoordinator/setURL(_:for:)``.
  public func setURL(_ url: URL) async throws {
    try await context.perform { [session] context in try session.setURL(url, context) }
  }

  /// Sets the application's metadata of the document. It is an unsaved change, which the next save writes.
  public func setUserInfo(_ userInfo: [String: MetadataValue]) async throws {
    try await context.perform { [session] context in
      try session.store.setUserInfo(userInfo)
      session.note(context)
    }
  }
}

// MARK: Autosaving

extension BackgroundDocument {
  /// Saves the document if it has unsaved changes: ``PersistentDocument/autosave()``.
  @discardableResult
  public func autosave() async throws -> Bool {
    try await context.perform { [session] context in try session.autosave(context) }
  }

  /// Autosaves after each `interval`, until ``stopAutosaving()`` is called or the document is deallocated. Failures are
  /// reported in the document's ``state`` and do not stop autosaving.
  ///
  /// - Parameter clock: the clock that measures the interval.
  public func startAutosaving(every interval: Duration, clock: any Clock<Duration> = ContinuousClock()) {
    autosaving.start(every: interval, clock) { [weak self] in
      guard let self else { return false }
      // try?: the document's state has the error.
      _ = try? await autosave()
      return true
    }
  }

  /// Stops the autosaving that ``startAutosaving(every:clock:)`` began. A save that is under way is finished.
  public func stopAutosaving() {
    autosaving.stop()
  }
}
