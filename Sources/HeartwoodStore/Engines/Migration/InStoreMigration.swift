public import HeartwoodModel

/// A migration that a store is asked to do itself, in its own language: see
/// ``IncrementalStoreFormat/migrateStore(_:from:to:)``.
///
/// A store follows the ``plan``, counts what it leaves out with ``losses(recordCount:valueCount:)``, calls
/// ``MigrationProgress/check()`` from time to time, and returns ``report(_:sourceCount:destinationCount:)``. If it
/// cannot do exactly what the plan says, it throws an ``Obstacle``.
public struct InStoreMigration: Sendable {
  /// The destination of each entity and the source of each property.
  public let plan: MigrationPlan
  /// The metadata of the new store.
  public let metadata: StoreMetadata
  /// What to do with values that do not fit the new model.
  public let resolutions: MigrationResolutions
  /// Whether records and values without a destination may be left out.
  public let allowsLoss: Bool
  /// The progress that the store reports to, and asks whether to stop.
  public let progress: MigrationProgress

  package init(
    plan: MigrationPlan,
    metadata: StoreMetadata,
    resolutions: MigrationResolutions,
    allowsLoss: Bool,
    progress: MigrationProgress
  ) {
    self.plan = plan
    self.metadata = metadata
    self.resolutions = resolutions
    self.allowsLoss = allowsLoss
    self.progress = progress
  }

  /// The reason why a store does not migrate its records itself. The framework then migrates them through memory.
  public struct Obstacle: Error {
    /// The reason, for the report of the migration.
    public let reason: MigrationReport.InStoreObstacle

    /// Creates an obstacle.
    ///
    /// - Parameters:
    ///   - kind: the kind of obstacle.
    ///   - detail: words that follow “because”. They may name entities and properties, but contain no values.
    public init(_ kind: MigrationReport.InStoreObstacle.Kind, _ detail: String) {
      reason = MigrationReport.InStoreObstacle(kind, detail)
    }

    /// Creates an obstacle of the most common kind, a change of the model that the store cannot make
    /// (``MigrationReport/InStoreObstacle/Kind/schema``).
    public init(_ detail: String) {
      self.init(.schema, detail)
    }

    static var unsupported: Obstacle { Obstacle(.storeType, "stores of this type do not make their successors") }
  }
}

// MARK: Reporting

extension InStoreMigration {
  /// Returns the records and values without a destination, with their numbers. They are obstacles unless losses are
  /// allowed.
  ///
  /// - Parameters:
  ///   - recordCount: returns the number of records of a source entity.
  ///   - valueCount: returns the number of records of a source entity that have a value for the property with this
  ///     ordinal.
  public func losses(
    recordCount: (EntityDescription) throws -> Int,
    valueCount: (EntityDescription, Int) throws -> Int
  ) throws -> [MigrationReport.Finding] {
    try plan.coverage.losses(
      of: plan.source,
      isAllowed: allowsLoss,
      recordCount: recordCount,
      valueCount: valueCount
    )
  }

  /// Returns the report of the migration.
  ///
  /// - Parameters:
  ///   - findings: the losses (``losses(recordCount:valueCount:)``), and what was done to values.
  ///   - sourceCount: returns the number of records that a source entity had.
  ///   - destinationCount: returns the number of records that a destination entity has.
  public func report(
    _ findings: [MigrationReport.Finding],
    sourceCount: (EntityDescription) throws -> Int,
    destinationCount: (EntityDescription) throws -> Int
  ) rethrows -> MigrationReport {
    let entities = try MigrationReport.entities(
      plan.mapping,
      from: plan.source,
      to: plan.destination,
      sourceCount: sourceCount,
      destinationCount: destinationCount
    )
    var report = MigrationReport(entities: entities, findings: findings)
    report.isDoneInStore = true
    return report
  }
}

// MARK: Running

extension StoreManager {
  /// Migrates a store by its own format, next to `target`'s place, and then moves the new store to that place in one
  /// step.
  ///
  /// - Parameters:
  ///   - expected: the file that must still be at the place then; nil means any.
  ///   - willMove: called when the new store is complete, before it is moved.
  /// - Throws: ``InStoreMigration/Obstacle``.
  package func migrateInStore(
    _ plan: MigrationPlan,
    of origin: StoreOrigin,
    from source: Request,
    to target: Request,
    replacing: Bool,
    expecting expected: FileIdentity? = nil,
    allowsLoss: Bool,
    progress: MigrationProgress,
    willMove: () throws -> Void
  ) throws -> MigrationReport {
    let format = try selfMigratingFormat(source, target)
    let migration = try migration(plan, of: origin, to: target, allowsLoss, progress)
    let sourceSetup = try setupForReading(source, from: origin)
    let report = try makeStore(target, replacing: replacing, expecting: expected) { temporary in
      let report = try format.migrateStore(migration, from: sourceSetup, to: try setup(temporary))
      try willMove()
      return report
    }
    guard let report else { throw InStoreMigration.Obstacle(.file, "the new store has no file") }
    return report
  }

  /// Returns what ``migrateInStore(_:of:from:to:replacing:expecting:allowsLoss:progress:willMove:)`` would report.
  /// Nothing is written.
  package func foreseeInStore(
    _ plan: MigrationPlan,
    of origin: StoreOrigin,
    from source: Request,
    to target: Request,
    allowsLoss: Bool,
    progress: MigrationProgress
  ) throws -> MigrationReport {
    try selfMigratingFormat(source, target).foreseeMigration(
      try migration(plan, of: origin, to: target, allowsLoss, progress),
      from: try setupForReading(source, from: origin),
      to: try setup(target)
    )
  }

  /// Returns whether stores of a type can migrate their records themselves.
  package func canMigrateInStore(_ type: StoreType) throws -> Bool {
    (try registry.format(for: type) as? any IncrementalStoreFormat)?.migratesStores ?? false
  }

  private func selfMigratingFormat(_ source: Request, _ target: Request) throws -> any IncrementalStoreFormat {
    guard source.type == target.type else {
      throw InStoreMigration.Obstacle(.storeType, "the new store is of another type")
    }
    guard let format = try registry.format(for: target.type) as? any IncrementalStoreFormat, format.migratesStores
    else {
      throw InStoreMigration.Obstacle.unsupported
    }
    try CapabilityCheck(format.typeDescription).check(try setup(target))
    return format
  }

  private func migration(
    _ plan: MigrationPlan,
    of origin: StoreOrigin,
    to target: Request,
    _ allowsLoss: Bool,
    _ progress: MigrationProgress
  ) throws(PersistenceError) -> InStoreMigration {
    let setup = try setup(target)
    var metadata = origin.metadata
    metadata.setModel(setup.entities, versionIdentifiers: setup.model.versionIdentifiers)
    return InStoreMigration(
      plan: plan,
      metadata: metadata,
      resolutions: target.options[.migrationResolutions],
      allowsLoss: allowsLoss,
      progress: progress
    )
  }

  func setupForReading(_ request: Request, from origin: StoreOrigin) throws(PersistenceError) -> StoreSetup {
    var request = request
    request.options[.isReadOnly] = true
    request.configurationName = origin.configurationName
    return try StoreManager(model: origin.model, registry: registry, fileSystem: fileSystem).setup(request)
  }
}

// MARK: InStoreObstacle

extension MigrationReport {
  /// The reason why a store that can migrate its records itself has not done so, so that they went through memory.
  public struct InStoreObstacle: Sendable, Hashable {
    /// The kind of obstacle.
    public let kind: Kind
    /// The reason in words that follow “because”. They may name entities and properties, but contain no values.
    public let detail: String

    package init(_ kind: Kind, _ detail: String) {
      self.kind = kind
      self.detail = detail
    }
  }
}

extension MigrationReport.InStoreObstacle: CustomStringConvertible {
  /// The ``detail``.
  public var description: String { detail }
}

extension MigrationReport.InStoreObstacle {
  /// The kind of obstacle to a migration by the store itself. Later versions may have more kinds, so a `switch` over
  /// kinds needs a default.
  public struct Kind: Sendable, Hashable {
    private enum Name: String {
      case option, storeType, file, schema, records
    }
    private let name: Name

    /// The option ``StoreOptionKey/migratesInStore`` is off.
    public static let option = Kind(name: .option)
    /// The new store is of another type.
    public static let storeType = Kind(name: .storeType)
    /// A file is missing, or has a form that the store does not migrate.
    public static let file = Kind(name: .file)
    /// Entities, attributes or relationships change in a way that the store cannot do.
    public static let schema = Kind(name: .schema)
    /// Records do not fit the new model. The migration through memory counts all of them.
    public static let records = Kind(name: .records)
  }
}

extension MigrationReport.InStoreObstacle.Kind: CustomStringConvertible {
  /// The name of the kind, as in Swift.
  public var description: String { name.rawValue }
}
