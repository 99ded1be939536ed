public import HeartwoodModel
public import HeartwoodStore

/// An actor that owns a context and all its objects, for work in the background.
///
/// Use the context inside ``perform(_:)``. The compiler checks that no object enters or leaves the closure; pass an
/// object's ``ManagedObject/objectID``, which is Sendable, or values instead.
///
///     let titles = try await background.perform { context in
///       try context.fetch(Book.self).compactMap(\.title)
///     }
///
/// The actor runs on an executor of its own instead of Swift's cooperative threads: while it waits for a disk or for
/// the save of another context, it blocks no other task of the program.
public actor BackgroundContext {
  /// The coordinator of the stores that the context, or its topmost parent, reads from and saves to.
  public nonisolated let persistentStoreCoordinator: PersistentStoreCoordinator
  nonisolated let stagingArea: StagingArea
  private let context: ManagedObjectContext
  private let executor = WaitingExecutor(label: "Heartwood.BackgroundContext")

  /// The executor of the actor, which it shares with no other actor.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Creates a background context over the stores of a coordinator: its saves write to the stores.
  ///
  /// It does no I/O. A context with work to do uses one thread, so make as many contexts as there are things to do at
  /// the same time, and not one for each object.
  public init(_ persistentStoreCoordinator: PersistentStoreCoordinator) {
    self.init(ManagedObjectContext(persistentStoreCoordinator))
  }

  /// Creates a background context that is a child of another one: its ``ManagedObjectContext/save()`` passes the
  /// changes to the parent, and ``saveToPersistentStore()`` saves up to the stores.
  public init(parent: BackgroundContext) {
    self.init(ManagedObjectContext(parent: parent))
  }

  /// Creates a background context that is a child of the main actor's view context: its ``ManagedObjectContext/save()``
  /// passes the changes to the parent, and ``saveToPersistentStore()`` saves up to the stores.
  public init(parent: ViewContext) {
    self.init(ManagedObjectContext(parent: parent))
  }

  private init(_ context: sending ManagedObjectContext) {
    persistentStoreCoordinator = context.persistentStoreCoordinator
    stagingArea = context.beginStaging()
    self.context = context
    let (host, executor) = (WeakHost(self), executor)
    context.notifier.setWake {
      // If this releases the last reference to the host, it does so in the isolation of the context.
      executor.run { host.value?.assumeIsolated { $0.catchUp() } }
    }
  }

  /// Runs `body` with the context, after all calls that were made before, and returns its result.
  ///
  /// The context first merges what children in other isolations have saved since the last call. Changes that `body`
  /// does not save stay in the context, and children see them from then on, which takes time in proportion to the
  /// changes.
  ///
  /// There is no `performAndWait`: a thread that waits for an actor may be the one that the actor needs.
  ///
  /// - Parameter body: a closure that runs in the isolation of this actor and cannot suspend. It cannot use objects and
  ///   contexts of other isolations, and those of this actor cannot leave it.
  /// - Throws: what `body` throws.
  public func perform<Result, Failure: Error>(
    _ body: sending (ManagedObjectContext) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    context.catchUp()
    defer { endWork() }
    return try body(context)
  }

  /// Returns the ids of the objects that match a request. The context can be used during the search.
  ///
  /// - Parameter progress: reports how far the search has come, and can cancel it. Cancelling the task cancels the
  ///   search too.
  /// - Throws: the errors of ``ManagedObjectContext/fetch(_:)-(FetchRequest<Object>)``, and `CancellationError`.
  public func fetchObjectIDs<Object>(
    _ request: FetchRequest<Object>,
    progress: FetchProgress = FetchProgress()
  ) async throws -> [ManagedObjectID] {
    context.catchUp()
    defer { endWork() }
    return try await context.fetchObjectIDsAsynchronously(request, progress: progress)
  }

  private func catchUp() {
    context.catchUp()
    endWork()
  }

  private func endWork() {
    context.processPendingChanges()
    context.publishChanges()
  }
}

extension BackgroundContext: ContextHost {
  /// Saves the context and all its parents, up to the stores.
  ///
  /// - Throws: what ``ManagedObjectContext/save()`` throws for the first context that cannot be saved.
  public func saveToPersistentStore() async throws {
    context.takeChildSaves()
    defer { endWork() }
    // This may wait, and no other call reaches the context in between.
    try context.saveChain()
    try await context.topHost?.saveToPersistentStore()
  }
}
