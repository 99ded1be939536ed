import HeartwoodStore

/// What a context reads from and saves to.
enum ContextUpstream {
  /// The stores of the coordinator.
  case stores
  /// A parent of the same isolation.
  case context(ManagedObjectContext, StagingArea)
  /// A parent of another isolation, by the one who may touch it.
  case host(any ContextHost)
}

extension ContextUpstream {
  /// The parent's view of the stores; nil where there is no parent.
  var stagingArea: StagingArea? {
    switch self {
    case .stores: nil
    case .context(_, let area): area
    case .host(let host): host.stagingArea
    }
  }
}

/// Who keeps a context in an isolation of its own. It is Sendable, so contexts of other isolations can be its children.
protocol ContextHost: AnyObject, Sendable {
  var persistentStoreCoordinator: PersistentStoreCoordinator { get }
  var stagingArea: StagingArea { get }

  /// Saves the context and all above it.
  func saveToPersistentStore() async throws
}
