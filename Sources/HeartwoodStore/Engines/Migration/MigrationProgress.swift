import Synchronization

/// How far a migration has come, and the means to stop it. It can be sent anywhere.
public final class MigrationProgress: Sendable {
  /// A part of a migration.
  public enum Phase: String, Sendable, Hashable, CaseIterable {
    /// The old store is read.
    case reading
    /// New records are made. A store that makes them itself reads the old ones as it goes.
    case migrating
    /// The new file is written. It is not stopped any more once that has begun to take the place of the old one.
    case writing
  }

  private let units = FetchProgress()
  private let current = Mutex(Phase.reading)
  private let phaseHandler: (@Sendable (Phase) -> Void)?

  /// The progress of a migration that has not begun.
  ///
  /// - Parameter phaseHandler: called when a phase begins, on the thread of the migration.
  public init(phaseHandler: (@Sendable (Phase) -> Void)? = nil) {
    self.phaseHandler = phaseHandler
  }

  /// What is being done.
  public var phase: Phase { current.withLock { $0 } }

  /// How much of the new records has been made, from 0 to 1.
  public var fractionCompleted: Double { units.fractionCompleted }

  /// Whether the migration is to stop.
  public var isCancelled: Bool { units.isCancelled }

  /// Stops the migration; it throws ``PersistenceError/Code/migrationCancelled``, and the store is left as it was.
  public func cancel() { units.cancel() }

  package func begin(_ phase: Phase) throws(PersistenceError) {
    try check()
    current.withLock { $0 = phase }
    phaseHandler?(phase)
  }

  package func expect(_ unitCount: Int) { units.begin(unitCount) }

  package func advance() { units.advance() }

  package func check() throws(PersistenceError) {
    guard isCancelled else { return }
    throw PersistenceError(.migrationCancelled, "The migration was cancelled. The store is as it was.")
  }
}
