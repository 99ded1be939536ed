import HeartwoodModel
import HeartwoodStore

// Batches go to the stores at once. Contexts that merge by themselves learn of them; others are given the result's changes.

extension PersistentStoreCoordinator {
  /// Inserts records. All are saved, or none.
  ///
  /// - Parameters:
  ///   - author: who does it, for the history.
  ///   - mergePolicy: what becomes of records whose values must be unique and are not.
  /// - Throws: ``PersistenceError/Code/validationFailed``, ``PersistenceError/Code/constraintConflict``, mistakes in the values, what the
  ///   request's closure throws, and what saving throws.
  @discardableResult
  public func execute(
    _ request: BatchInsertRequest,
    author: String? = nil,
    mergePolicy: MergePolicy = .error
  ) throws -> BatchResult {
    try BatchPass(self, SaveOrigin(author: author), mergePolicy).insert(request)
  }

  /// Changes records. Each store saves all its changes or none.
  ///
  /// - Parameter author: who does it, for the history.
  /// - Throws: `FetchPredicateError`, ``PersistenceError/Code/validationFailed``, ``PersistenceError/Code/constraintConflict``, and what
  ///   saving throws.
  @discardableResult
  public func execute(_ request: BatchUpdateRequest, author: String? = nil) throws -> BatchResult {
    try BatchPass(self, SaveOrigin(author: author)).update(request)
  }

  /// Deletes records. Each store saves all its changes or none.
  ///
  /// - Parameter author: who does it, for the history.
  /// - Throws: `FetchPredicateError`, ``PersistenceError/Code/validationFailed`` where a relationship denies it or has to lead somewhere,
  ///   and what saving throws.
  @discardableResult
  public func execute(_ request: BatchDeleteRequest, author: String? = nil) throws -> BatchResult {
    try BatchPass(self, SaveOrigin(author: author)).delete(request)
  }
}

extension ManagedObjectContext {
  /// Inserts records in the stores, past this context and all above it; see
  /// ``PersistentStoreCoordinator/execute(_:author:mergePolicy:)``. The context's ``mergePolicy`` decides on records whose values must be
  /// unique and are not.
  @discardableResult
  public func execute(_ request: BatchInsertRequest) throws -> BatchResult {
    try BatchPass(persistentStoreCoordinator, saveOrigin, mergePolicy).insert(request)
  }

  /// Changes records in the stores, past this context and all above it. Objects that have been read keep their values until the result's
  /// changes are merged.
  @discardableResult
  public func execute(_ request: BatchUpdateRequest) throws -> BatchResult {
    try BatchPass(persistentStoreCoordinator, saveOrigin).update(request)
  }

  /// Deletes records in the stores, past this context and all above it. Objects that have been read stay until the result's changes are
  /// merged.
  @discardableResult
  public func execute(_ request: BatchDeleteRequest) throws -> BatchResult {
    try BatchPass(persistentStoreCoordinator, saveOrigin).delete(request)
  }
}
