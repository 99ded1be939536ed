public import HeartwoodModel
public import HeartwoodStore

/// A context in the background: an actor that keeps it, with all its objects.
///
/// What is done with the context is done in ``perform(_:)``. The compiler sees to it that no object gets out or in; what travels is
/// an object's ``ManagedObject/objectID``, which is Sendable, or a value made of it.
///
///     let titles = try await background.perform { context in
///       try context.fetch(Book.self).compactMap(\.title)
///     }
///
/// It runs on an executor of its own, not on Swift's cooperative threads: while it waits for a disk or for the save of another context, no
/// other task of the program waits with it.
public actor BackgroundContext {
  /// What the context, or the last of its parents, reads from and saves to.
  public nonisolated let persistentStoreCoordinator: PersistentStoreCoordinator
  nonisolated let stagingArea: StagingArea
  private let context: ManagedObjectContext
  private let executor = WaitingExecutor(label: "Heartwood.BackgroundContext")

  /// The executor of the context, which no other actor shares.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Makes a background context over the stores of a coordinator.
  public init(_ persistentStoreCoordinator: PersistentStoreCoordinator) {
    self.init(ManagedObjectContext(persistentStoreCoordinator))
  }

  /// Makes a background context that is the child of another one.
  public init(parent: BackgroundContext) {
    self.init(ManagedObjectContext(parent: parent))
  }

  /// Makes a background context that is the child of the main actor's view context.
  public init(parent: ViewContext) {
    self.init(ManagedObjectContext(parent: parent))
  }

  private init(_ context: sending ManagedObjectContext) {
    persistentStoreCoordinator = context.persistentStoreCoordinator
    stagingArea = context.beginStaging()
    self.context = context
    let (host, executor) = (WeakHost(self), executor)
    context.notifier.setWake {
      // Where the last reference to the host goes here, it goes where the context is used.
      executor.run { host.value?.assumeIsolated { $0.catchUp() } }
    }
  }

  /// Runs `body` with the context, after all that was asked for before, and gives its result.
  ///
  /// What children of other isolations have saved since the last call is taken in first. Changes that `body` leaves unsaved stay in
  /// the context, and children see them from then on, which takes time in proportion to them.
  ///
  /// There is no `performAndWait`: a thread that waits for an actor may be the one that the actor needs.
  ///
  /// - Parameter body: it runs in the isolation of this actor, and cannot suspend. Objects and contexts of others cannot be used in
  ///   it, and those of this one cannot leave it.
  public func perform<Result, Failure: Error>(
    _ body: sending (ManagedObjectContext) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    context.catchUp()
    defer { endWork() }
    return try body(context)
  }

  /// The ids of the objects that a request asks for. The context can be used while they are searched for.
  ///
  /// - Parameter progress: tells how far it has come, and stops it. Cancelling the task does so too.
  /// - Throws: as ``ManagedObjectContext/fetch(_:)-(FetchRequest<Object>)``, and `CancellationError`.
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
  /// - Throws: what ``ManagedObjectContext/save()`` throws, of the first context that cannot be saved.
  public func saveToPersistentStore() async throws {
    context.takeChildSaves()
    defer { endWork() }
    // It may wait here, and nobody gets at the context in between.
    try context.saveChain()
    try await context.topHost?.saveToPersistentStore()
  }
}
