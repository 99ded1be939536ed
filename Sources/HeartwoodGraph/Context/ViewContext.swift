import HeartwoodStore

/// The context that an application's views show: it belongs to the main actor, and so do its objects.
///
/// Whoever is on the main actor uses ``context`` as it is. Elsewhere it does not compile.
@MainActor
public final class ViewContext {
  /// What the context, or the last of its parents, reads from and saves to.
  public nonisolated let persistentStoreCoordinator: PersistentStoreCoordinator
  nonisolated let stagingArea: StagingArea
  /// The context.
  public let context: ManagedObjectContext

  /// Makes a view context over the stores of a coordinator.
  public convenience init(_ persistentStoreCoordinator: PersistentStoreCoordinator) {
    self.init(ManagedObjectContext(persistentStoreCoordinator))
  }

  /// Makes a view context that saves to a context in the background: its ``ManagedObjectContext/save()`` writes no file, and
  /// ``saveToPersistentStore()`` lets the background one do that.
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
    // What children save is shown without waiting for the next fetch.
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
  /// - Throws: what ``ManagedObjectContext/save()`` throws, of the first context that cannot be saved.
  public func saveToPersistentStore() async throws {
    context.takeWaitingChildSaves()
    defer { context.publishChanges() }
    try await context.saveToPersistentStore()
  }
}

// MARK: WeakHost

/// Leads to who keeps a context, as long as that is there.
///
/// Others than the host call what it has left with them, such as the one who saves to its context. They pass this on to where the context
/// is used, and never hold the host themselves: if their reference were the last, the context would go on their thread.
final class WeakHost<Host: AnyObject & Sendable>: Sendable {
  weak let value: Host?

  init(_ value: Host) {
    self.value = value
  }
}
