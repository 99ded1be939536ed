import Synchronization

/// How often a file with large data could not be read: another process may have removed it, whose save a transaction does not see.
final class MissingFiles: Sendable {
  private let number = Atomic(0)

  var count: Int { number.load(ordering: .relaxed) }

  func note() { number.add(1, ordering: .relaxed) }
}
