public import HeartwoodStore

/// What became of one description of a container: its store, or why there is none.
public struct PersistentStoreLoading: Sendable {
  /// The description, as it was given.
  public let description: PersistentStoreDescription
  /// The open store, or the error.
  public let result: Result<PersistentStore, PersistenceError>

  // try?: `error` has the other half of the result.
  /// The open store; nil where it could not be opened.
  public var store: PersistentStore? { try? result.get() }

  /// Why the store could not be opened; nil where it could.
  public var error: PersistenceError? {
    if case .failure(let error) = result { error } else { nil }
  }
}
