public import HeartwoodStore

/// What became of the work that lightweight migrations have put off.
public enum DeferredMigrationOutcome: Sendable, Hashable {
  /// There is none: every migration of the coordinator's stores was done as a whole, before the store was opened.
  case nothingDeferred
}

extension PersistentStoreCoordinator {
  /// Does the work that lightweight migrations of the open stores have put off. There never is any, and the result says so: a migration
  /// writes a new file as a whole, so nothing is left that could wait.
  ///
  /// - Throws: ``PersistenceError/Code/coordinatorClosed``.
  @discardableResult
  public func finishDeferredLightweightMigration() throws(PersistenceError) -> DeferredMigrationOutcome {
    try checkNotClosed()
    return .nothingDeferred
  }

  /// Does one part of that work, where Core Data's applications do it between others. There never is one, and the result says so.
  ///
  /// - Throws: ``PersistenceError/Code/coordinatorClosed``.
  @discardableResult
  public func finishDeferredLightweightMigrationTask() throws(PersistenceError) -> DeferredMigrationOutcome {
    try finishDeferredLightweightMigration()
  }
}
