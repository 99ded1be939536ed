import Synchronization

/// How far a fetch has come, and the means to stop it. Foundation's `Progress` is not everywhere; this one can be sent anywhere.
///
/// A unit is a group of some ten thousand records.
public final class FetchProgress: Sendable {
  private let total = Atomic<Int>(0)
  private let completed = Atomic<Int>(0)
  private let isStopped = Atomic<Bool>(false)

  /// The progress of a fetch that has not begun.
  public init() {}

  /// How many units there are to be done, as far as that is known; 0 before the fetch begins.
  public var totalUnitCount: Int { total.load(ordering: .acquiring) }

  /// How many units have been done.
  public var completedUnitCount: Int { completed.load(ordering: .acquiring) }

  /// How much has been done, from 0 to 1.
  public var fractionCompleted: Double {
    let total = totalUnitCount
    return total == 0 ? 0 : Double(completedUnitCount) / Double(total)
  }

  /// Whether the fetch is to stop.
  public var isCancelled: Bool { isStopped.load(ordering: .acquiring) }

  /// Stops the fetch before the next unit; it throws `CancellationError`.
  public func cancel() {
    isStopped.store(true, ordering: .releasing)
  }

  package func begin(_ unitCount: Int) {
    total.add(unitCount, ordering: .acquiringAndReleasing)
  }

  func advance() {
    completed.add(1, ordering: .acquiringAndReleasing)
  }
}
