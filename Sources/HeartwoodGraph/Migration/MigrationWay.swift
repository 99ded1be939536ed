import HeartwoodModel
public import HeartwoodStore

/// Finds the steps of a migration: those of the options, or those of the ``MigrationRoute``.
enum MigrationWay {
  /// Returns the steps from the model of a store to that of the store manager.
  static func steps(
    from source: ManagedObjectModel,
    _ storeManager: StoreManager,
    _ request: StoreManager.Request
  ) throws -> [MigrationStep] {
    let destination = storeManager.model
    let passes = request.options[.migrationPasses]
    if !passes.isEmpty {
      guard request.options[.stagedMigrationManager] == nil else {
        throw PersistenceError(
          .mappingModelUnusable,
          "The options migrationPasses and stagedMigrationManager each say how the store is migrated.",
          recovery: "Give one of them.",
          context: .init(path: request.placeName, storeType: request.type)
        )
      }
      return [MigrationStep(sourceModel: source, destinationModel: destination, passes: passes)]
    }
    if let manager = request.options[.stagedMigrationManager] {
      return try manager.steps(
        from: source,
        to: destination,
        versions: request.options[.olderModels],
        mappings: request.options[.mappingModels]
      )
    }
    let route = MigrationRoute(
      models: versions(from: source, to: destination, request.options[.olderModels]),
      mappings: request.options[.mappingModels],
      infers: request.options[.shouldInferMappingModelAutomatically]
    )
    if let steps = try route.steps() {
      try checkGivenMappings(steps, source, destination, request)
      return steps
    }
    throw missing(source, destination, request)
  }

  /// Returns the versions between the two, in the order in which they are given. A store that has none of these
  /// versions is considered older than all, and a model that is none of them is considered newer. A route over a
  /// version that is older than both would lose what only the newer ones have.
  private static func versions(
    from source: ManagedObjectModel,
    to destination: ManagedObjectModel,
    _ older: [ManagedObjectModel]
  ) -> [ManagedObjectModel] {
    let place = { (model: ManagedObjectModel) in older.firstIndex { $0.isSameVersion(as: model) } }
    let (start, end) = (place(source) ?? -1, place(destination) ?? older.count)
    let between = older[(min(start, end) + 1)..<max(start, end, min(start, end) + 1)]
    return [source] + (start > end ? between.reversed() : Array(between)) + [destination]
  }

  private static func missing(
    _ source: ManagedObjectModel,
    _ destination: ManagedObjectModel,
    _ request: StoreManager.Request
  ) -> PersistenceError {
    let context = PersistenceError.Context(path: request.placeName, storeType: request.type)
    do throws(MappingInferenceError) {
      _ = try MappingModel.inferredMappingModel(forSourceModel: source, destinationModel: destination)
      return PersistenceError(
        .mappingModelMissing,
        "No mapping model migrates from the store's model to this one, and none may be inferred.",
        recovery: "Give one with the option mappingModels, or leave out shouldInferMappingModelAutomatically.",
        context: context
      )
    } catch {
      return PersistenceError(
        .mappingModelMissing,
        "No mapping model migrates from the store's model to this one. \(error.problem)",
        recovery: .custom(error.recovery),
        context: context
      )
    }
  }
}

// MARK: Mapping models that are not followed

extension MigrationWay {
  /// Checks that no mapping model is ignored that was meant for the route.
  ///
  /// - Throws: ``PersistenceError/Code/mappingModelUnusable``.
  private static func checkGivenMappings(
    _ steps: [MigrationStep],
    _ source: ManagedObjectModel,
    _ destination: ManagedObjectModel,
    _ request: StoreManager.Request
  ) throws(PersistenceError) {
    if steps.first?.isInferred ?? false,
      let unplaced = request.options[.unplacedMappingModels].first(where: { $0.mayBegin(at: source) })
    {
      throw unusable(unplaced.problem, request)
    }
    guard steps.allSatisfy(\.isInferred) else { return }
    for mapping in request.options[.mappingModels] where mapping.mayBeMeant(for: source, destination) {
      let faults = mapping.faults(from: source, to: destination)
      guard !faults.isEmpty else { continue }
      throw unusable(
        "A mapping model was given that names the entities of both versions, but cannot be followed:\n"
          + faults.map { "  \($0)" }.joined(separator: "\n"),
        request
      )
    }
  }

  private static func unusable(_ problem: String, _ request: StoreManager.Request) -> PersistenceError {
    PersistenceError(
      .mappingModelUnusable,
      "\(problem)\nThe store was left as it is: without the mapping model, what it says would be lost.",
      context: .init(path: request.placeName, storeType: request.type)
    )
  }
}

extension MappingModel {
  /// Returns whether it may have been written for two versions, although it states none: all its entities exist.
  fileprivate func mayBeMeant(for source: ManagedObjectModel, _ destination: ManagedObjectModel) -> Bool {
    entityMappings.contains { !$0.tellsVersions }
      && entityMappings.allSatisfy { mapping in
        mapping.sourceEntityName.map { source.entity(named: $0) != nil } ?? true
          && mapping.destinationEntityName.map { destination.entity(named: $0) != nil } ?? true
      }
  }
}

// MARK: DeferredMigration

/// The result of finishing the deferred work of lightweight migrations.
public enum DeferredMigrationOutcome: Sendable, Hashable {
  /// There is no deferred work: every migration of the coordinator's stores was completed before the store was opened.
  case nothingDeferred
}

extension PersistentStoreCoordinator {
  /// Does the deferred work of lightweight migrations of the open stores. There never is any, and the result says so: a
  /// migration writes a complete new file, so that nothing can be deferred.
  ///
  /// - Throws: ``PersistenceError/Code/coordinatorClosed``.
  @discardableResult
  public func finishDeferredLightweightMigration() throws(PersistenceError) -> DeferredMigrationOutcome {
    try checkNotClosed()
    return .nothingDeferred
  }

  /// Does one part of the deferred work, for applications that do it in parts with Core Data. There never is one, and
  /// the result says so.
  ///
  /// - Throws: ``PersistenceError/Code/coordinatorClosed``.
  @discardableResult
  public func finishDeferredLightweightMigrationTask() throws(PersistenceError) -> DeferredMigrationOutcome {
    try finishDeferredLightweightMigration()
  }
}
