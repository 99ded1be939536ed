public import HeartwoodFoundation
import HeartwoodGraph
import HeartwoodModel
public import HeartwoodStore
import Synchronization

/// Opens, saves and checks the file of a document, in whatever isolation the document's context is.
///
/// It is Sendable; each call passes the context, from the context's isolation.
final class DocumentSession: Sendable {
  let coordinator: PersistentStoreCoordinator
  private let current: Mutex<Current>

  private struct Current {
    var store: PersistentStore
    var state: DocumentState
    var listeners: [UInt64: AsyncStream<DocumentState>.Continuation] = [:]
    var lastListener: UInt64 = 0
  }

  /// Opens the document's store in a coordinator without stores.
  ///
  /// - Parameter url: the document's file, or nil for a new document.
  init(_ coordinator: PersistentStoreCoordinator, at url: URL?, type: StoreType?, options: StoreOptions) throws {
    self.coordinator = coordinator
    if let other = coordinator.persistentStores.first {
      throw PersistenceError(
        .storeAlreadyOpen,
        "A document opens its store by itself.",
        recovery: "Give it a coordinator of its own, without stores.",
        context: .init(path: other.path, storeType: other.type)
      )
    }
    if let url, try coordinator.fileSystem.status(atPath: url.path) == nil {
      throw PersistenceError(
        .fileNotFound,
        "There is no such document.",
        recovery: "Make a new one without a file, and save it there.",
        context: .init(path: url.path)
      )
    }
    let store = try coordinator.addPersistentStore(type: url == nil ? .inMemory : type, at: url, options: options)
    current = Mutex(Current(store: store, state: try Self.state(of: store, in: coordinator)))
  }

  deinit {
    for listener in current.withLock({ $0.listeners.values }) { listener.finish() }
  }
}

// MARK: State

extension DocumentSession {
  var store: PersistentStore { current.withLock { $0.store } }
  var state: DocumentState { current.withLock { $0.state } }

  /// Returns a sequence of the document's current state and each later one. A slow reader gets the newest.
  func states() -> AsyncStream<DocumentState> {
    let (stream, continuation) = AsyncStream.makeStream(of: DocumentState.self, bufferingPolicy: .bufferingNewest(1))
    let number = current.withLock { current in
      current.lastListener += 1
      current.listeners[current.lastListener] = continuation
      continuation.yield(current.state)
      return current.lastListener
    }
    continuation.onTermination = { [weak self] _ in
      self?.current.withLock { $0.listeners[number] = nil }
    }
    return stream
  }

  /// Returns whether the next save has something to write.
  func hasUnsavedChanges(_ context: ManagedObjectContext) -> Bool {
    context.hasChanges || store.hasUnsavedMetadata
  }

  /// Updates the state: whether the context has unsaved changes.
  func note(_ context: ManagedObjectContext) {
    let hasUnsavedChanges = hasUnsavedChanges(context)
    change { $0.hasUnsavedChanges = hasUnsavedChanges }
  }

  /// Updates the state of the document's file, and returns it.
  @discardableResult
  func noteFileState() throws(PersistenceError) -> StoreFileState {
    let fileState = try store.fileState()
    change { $0.fileState = fileState }
    return fileState
  }

  func noteAutosave(_ error: PersistenceError?) {
    change { $0.autosaveError = error }
  }

  /// Updates the state after a save to the file of `store`.
  func noteSaved(_ store: PersistentStore, _ context: ManagedObjectContext) throws(PersistenceError) {
    let saved = try Self.state(of: store, in: coordinator)
    current.withLock { $0.store = store }
    let hasUnsavedChanges = hasUnsavedChanges(context)
    change { state in
      state = saved
      state.hasUnsavedChanges = hasUnsavedChanges
    }
  }

  private func change(_ change: (inout DocumentState) -> Void) {
    current.withLock { current in
      let before = current.state
      change(&current.state)
      guard current.state != before else { return }
      for listener in current.listeners.values { listener.yield(current.state) }
    }
  }

  private static func state(
    of store: PersistentStore,
    in coordinator: PersistentStoreCoordinator
  ) throws(PersistenceError) -> DocumentState {
    DocumentState(
      url: coordinator.url(for: store),
      storeType: store.type,
      hasUnsavedChanges: false,
      fileState: try store.fileState()
    )
  }
}

// MARK: The context

extension DocumentSession {
  /// Gives the context an undo manager, and updates the document's state with each event of the context.
  func adopt(_ context: ManagedObjectContext) {
    context.undoManager = GraphUndoManager()
    for event in [ContextEvent.objectsDidChange, .didSave] {
      let observation = context.observe(event) { [weak context, self] _ in
        if let context { note(context) }
      }
      context.hold(observation)
    }
  }
}

// MARK: DocumentState

/// The state of a document: its file, and whether it has unsaved changes.
public struct DocumentState: Sendable, Equatable {
  /// The document's file; nil if the document was never saved.
  public internal(set) var url: URL?
  /// The type of the store that keeps the document.
  public internal(set) var storeType: StoreType
  /// Whether the document has changes that the next save would write.
  public internal(set) var hasUnsavedChanges: Bool
  /// The state of the file at the last check: when the document was opened, saved, autosaved or asked to check it.
  public internal(set) var fileState: StoreFileState
  /// The error of the last autosave; nil if it succeeded, had nothing to save, or was followed by a successful save.
  public internal(set) var autosaveError: PersistenceError?

  /// Returns whether two states are equal; autosave errors are compared by their descriptions.
  public static func == (left: DocumentState, right: DocumentState) -> Bool {
    left.url == right.url && left.storeType == right.storeType && left.hasUnsavedChanges == right.hasUnsavedChanges
      && left.fileState == right.fileState
      && left.autosaveError?.description == right.autosaveError?.description
  }
}

// MARK: DocumentAutosaving

/// Autosaves a document repeatedly, until it is stopped or the document is deallocated.
final class DocumentAutosaving: Sendable {
  private let task = Mutex<Task<Void, Never>?>(nil)

  init() {}

  deinit {
    task.withLock { $0 }?.cancel()
  }

  /// Calls `save` after each `interval`, one call after the other, and stops an earlier series of calls.
  ///
  /// - Parameter save: returns whether the document still exists.
  func start(every interval: Duration, _ clock: any Clock<Duration>, _ save: @escaping @Sendable () async -> Bool) {
    let new = Task {
      repeat {
        do { try await clock.sleep(for: interval) } catch { return }
        if Task.isCancelled { return }
      } while await save()
    }
    replace(by: new)
  }

  func stop() {
    replace(by: nil)
  }

  private func replace(by new: Task<Void, Never>?) {
    let old = task.withLock { task in
      defer { task = new }
      return task
    }
    old?.cancel()
  }
}

// MARK: Reverting

extension DocumentSession {
  /// Discards all changes, and reads the file again.
  func revert(_ context: ManagedObjectContext) throws {
    let store = store
    guard let path = store.path else { throw Self.withoutFile("reverted") }
    switch try noteFileState() {
    case .unchanged where !store.hasUnsavedMetadata:
      context.rollback()
      // Other contexts may have saved to the store.
      context.refreshAllObjects()
    case .unchanged, .changed, .absent: try openAgain(store, path, context)
    case .moved, .removed:
      throw PersistenceError(
        .fileChangedOnDisk,
        "The document's file was moved or removed, so there is nothing to go back to. Nothing was forgotten.",
        context: .init(path: path)
      )
    }
    try noteSaved(self.store, context)
  }

  /// Sets the place of the document's file.
  func setURL(_ url: URL, _ context: ManagedObjectContext) throws(PersistenceError) {
    let store = store
    guard store.path != nil else { throw Self.withoutFile("moved") }
    try coordinator.setURL(url, for: store)
    try noteSaved(store, context)
  }

  private func openAgain(_ store: PersistentStore, _ path: String, _ context: ManagedObjectContext) throws {
    let request = StoreManager.Request(
      type: store.type,
      path: path,
      configurationName: store.configurationName,
      options: store.options
    )
    // If the file cannot be opened, everything stays as it is.
    let new = try coordinator.storeManager.open(request)
    context.reset()
    try coordinator.remove(store)
    try coordinator.add(new)
    try noteSaved(new, context)
  }
}
