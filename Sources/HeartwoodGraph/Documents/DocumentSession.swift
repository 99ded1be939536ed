import HeartwoodModel
import HeartwoodStore
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The file of a document: what there is to do with it, whatever isolation the document's context belongs to.
///
/// It is Sendable; the context comes with each call, by whoever may touch it.
final class DocumentSession: Sendable {
  let coordinator: PersistentStoreCoordinator
  private let current: Mutex<Current>

  private struct Current {
    var store: PersistentStore
    var state: DocumentState
    var listeners: [UInt64: AsyncStream<DocumentState>.Continuation] = [:]
    var lastListener: UInt64 = 0
  }

  /// Opens the document's store in a coordinator that has none yet.
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

  /// The document's state as it is now, and then each time that it changes. Who is slow gets the newest.
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

  /// Whether the next save has something to write.
  func hasUnsavedChanges(_ context: ManagedObjectContext) -> Bool {
    context.hasChanges || store.hasUnsavedMetadata
  }

  /// Notes whether there is something to save.
  func note(_ context: ManagedObjectContext) {
    let hasUnsavedChanges = hasUnsavedChanges(context)
    change { $0.hasUnsavedChanges = hasUnsavedChanges }
  }

  /// Notes what has become of the document's file, and tells.
  @discardableResult
  func noteFileState() throws(PersistenceError) -> StoreFileState {
    let fileState = try store.fileState()
    change { $0.fileState = fileState }
    return fileState
  }

  func noteAutosave(_ error: PersistenceError?) {
    change { $0.autosaveError = error }
  }

  /// Notes that all is as it is in the file now, which is that of `store`.
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
  /// Lets what the context's events change be undone, and tells what becomes of the document.
  func adopt(_ context: ManagedObjectContext) {
    context.undoManager = GraphUndoManager()
    for event in [ContextEvent.objectsDidChange, .didSave] {
      let observation = context.observe(event) { [weak context, self] _ in
        if let context { note(context) }
      }
      context.ownObservations.append(observation)
    }
  }
}
