import HeartwoodStore

/// The context for an application's views. It belongs to the main actor, and so do its objects.
///
///     let view = ViewContext(coordinator)
///     let books = try view.context.fetch(Book.self)
///
/// Code on the main actor uses ``context`` directly. Elsewhere the compiler rejects that.
@MainActor
public final class ViewContext {
  /// The coordinator of the stores that the context, or its topmost parent, reads from and saves to.
  public nonisolated let persistentStoreCoordinator: PersistentStoreCoordinator
  nonisolated let stagingArea: StagingArea
  /// The context, for use on the main actor. Fetches and ``ManagedObjectContext/save()`` block the main actor while
  /// they read and write.
  public let context: ManagedObjectContext

  /// Creates a view context over the stores of a coordinator: its saves write to the stores. It does no I/O.
  public convenience init(_ persistentStoreCoordinator: PersistentStoreCoordinator) {
    self.init(ManagedObjectContext(persistentStoreCoordinator))
  }

  /// Creates a view context that is a child of a background context: its ``ManagedObjectContext/save()`` writes no file
  /// but passes the changes to the parent, and ``saveToPersistentStore()`` makes the parent write them.
  public convenience init(parent: BackgroundContext) {
    self.init(ManagedObjectContext(parent: parent))
  }

  private init(_ context: ManagedObjectContext) {
    persistentStoreCoordinator = context.persistentStoreCoordinator
    stagingArea = context.beginStaging()
    self.context = context
    context.children.publishWithFetches()
    let host = WeakHost(self)
    let wake: @Sendable () -> Void = { Task { @MainActor in host.value?.catchUp() } }
    context.notifier.setWake(wake)
    // Saves of children are shown without waiting for the next fetch.
    stagingArea.childSaves.setWake(wake)
  }
}

extension ViewContext {
  private func catchUp() {
    context.catchUp()
    context.tellChangeEvent()
    context.publishChanges()
  }
}

extension ViewContext: ContextHost {
  /// Saves the context and all its parents, up to the stores.
  ///
  /// - Throws: what ``ManagedObjectContext/save()`` throws for the first context that cannot be saved.
  public func saveToPersistentStore() async throws {
    context.takeWaitingChildSaves()
    defer { context.publishChanges() }
    try await context.saveToPersistentStore()
  }
}

// MARK: WeakHost

/// A weak reference to the host of a context.
///
/// Callbacks that others call, such as one that saves to the context, use it instead of a strong reference, and
/// dereference it only in the isolation of the context: if theirs were the last reference, the context would be
/// deallocated on their thread.
final class WeakHost<Host: AnyObject & Sendable>: Sendable {
  weak let value: Host?

  init(_ value: Host) {
    self.value = value
  }
}
