import HeartwoodModel

/// A store that can make its successor of another model itself, so that its records do not go through memory.
package protocol SelfMigratingStore: IncrementalStore {
  /// Makes the store of `destination`, where nothing is yet, of that of `source`, which stays as it is.
  ///
  /// It makes and reports what ``TableMigration`` would. Where it cannot do just that, or records stand in the way, it declines: what it has
  /// written is thrown away then, and the records are migrated through memory, which also counts all that stand in the way.
  static func migrate(
    _ migration: InStoreMigration,
    from source: StoreSetup,
    to destination: StoreSetup
  ) throws -> InStoreMigration.Outcome
}

/// What a store needs to make its successor.
package struct InStoreMigration: Sendable {
  package let plan: TablePlan
  /// Who the new store is.
  package let metadata: StoreMetadata
  package let resolutions: MigrationResolutions
  package let progress: MigrationProgress

  package enum Outcome: Sendable {
    case done(MigrationReport)
    /// The store leaves it to others, for a reason in words.
    case declined(String)
  }
}

// MARK: Running

extension StoreOpener {
  /// Lets a store make its successor itself, beside `target`'s place, and gives it that place in one step.
  ///
  /// - Parameters:
  ///   - expected: the file that must still stand at the place then; nil means any.
  ///   - willMove: called when the new store is whole, before it takes the place.
  package func migrateInStore(
    _ plan: TablePlan,
    of origin: StoreOrigin,
    from source: Request,
    to target: Request,
    replacing: Bool,
    expecting expected: FileIdentity? = nil,
    progress: MigrationProgress,
    willMove: () throws -> Void
  ) throws -> InStoreMigration.Outcome {
    guard source.type == target.type, let path = target.path,
      let storeClass = try registry.storeClass(for: target.type) as? any SelfMigratingStore.Type
    else { return .declined("the store cannot do it itself") }
    let setup = try setup(target)
    try CapabilityCheck(storeClass.typeDescription).check(setup)
    var metadata = origin.metadata
    metadata.setModel(setup.entities, versionIdentifiers: setup.model.versionIdentifiers)
    let migration = InStoreMigration(
      plan: plan,
      metadata: metadata,
      resolutions: target.options[.migrationResolutions] ?? MigrationResolutions(),
      progress: progress
    )
    let sourceSetup = try setupForReading(source, from: origin)
    do {
      let placement = StorePlacement(storeClass, fileSystem: fileSystem)
      let report = try placement.write(at: path, replacing: replacing, expecting: expected) { temporaryPath in
        switch try storeClass.migrate(migration, from: sourceSetup, to: setup.moved(to: temporaryPath)) {
        case .declined(let reason): throw Declined(reason: reason)
        case .done(let report):
          try willMove()
          return report
        }
      }
      return .done(report)
    } catch let declined as Declined {
      return .declined(declined.reason)
    }
  }

  /// Takes back what was written.
  private struct Declined: Error {
    let reason: String
  }

  private func setupForReading(_ request: Request, from origin: StoreOrigin) throws(PersistenceError) -> StoreSetup {
    var request = request
    request.options[.isReadOnly] = true
    request.configurationName = origin.configurationName
    return try StoreOpener(model: origin.model, registry: registry, fileSystem: fileSystem).setup(request)
  }
}
