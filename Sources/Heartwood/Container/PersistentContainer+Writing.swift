public import HeartwoodGraph
import HeartwoodStore

extension PersistentContainer {
  /// Changes objects in the background, and saves.
  ///
  ///     try await container.write { context in
  ///       try context.insert(ToDo.self).memo = "Bread"
  ///     }
  ///
  /// Where `body` throws, or the save, nothing is saved by this call, and the context goes with its changes. Where the view context cannot be saved
  /// (``WriteDestination/viewContextAndStores``), the changes are unsaved ones of that.
  ///
  /// - Parameters:
  ///   - destination: how far the changes are saved.
  ///   - body: what is done with a new context; no object gets out of it or in.
  /// - Throws: what `body` and ``ManagedObjectContext/save()`` throw.
  /// - Returns: what `body` returns.
  @discardableResult
  public func write<Result>(
    to destination: WriteDestination = .stores,
    _ body: sending (ManagedObjectContext) throws -> sending Result
  ) async throws -> sending Result {
    let background = await context(for: destination)
    let result = try await background.perform { context in
      let result = try body(context)
      try context.save()
      return result
    }
    switch destination {
    case .stores: break
    case .viewContext: await takeChanges()
    case .viewContextAndStores: try await background.saveToPersistentStore()
    }
    return result
  }

  /// Changes objects on the thread of the caller, with a new context, and saves it to the stores.
  ///
  /// It waits for no actor, so nobody can wait for it in a circle; but it reads and writes files where it is called. The view context
  /// sees what was saved as it sees what others save.
  ///
  /// - Parameter body: what is done with a new context; no object gets out of it.
  /// - Throws: what `body` and ``ManagedObjectContext/save()`` throw.
  /// - Returns: what `body` returns.
  @discardableResult
  public func writeAndWait<Result>(
    _ body: (ManagedObjectContext) throws -> sending Result
  ) throws -> sending Result {
    let context = ManagedObjectContext(persistentStoreCoordinator)
    let result = try body(context)
    try context.save()
    return result
  }

  private func context(for destination: WriteDestination) async -> BackgroundContext {
    destination == .stores ? newBackgroundContext() : BackgroundContext(parent: await view)
  }

  /// Lets the view context have what was saved to it before the caller looks.
  @MainActor private func takeChanges() {
    viewContext.publishChanges()
  }
}
