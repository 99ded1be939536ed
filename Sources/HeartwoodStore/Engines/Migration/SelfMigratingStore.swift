import HeartwoodModel

/// A store that can make its successor of another model itself, so that its records do not go through memory.
package protocol SelfMigratingStore: IncrementalStore, StoreClass {
  /// Makes the store of `destination`, where nothing is yet, of that of `source`, which stays as it is.
  ///
  /// It makes and reports what ``TableMigration`` would. Where it cannot do just that, or records stand in the way, it declines: what it has
  /// written is thrown away then, and the records are migrated through memory, which also counts all that stand in the way.
  ///
  /// - Throws: ``InStoreMigration/Obstacle``, also if something would be lost that must not.
  static func migrate(
    _ migration: InStoreMigration,
    from source: StoreSetup,
    to destination: StoreSetup
  ) throws -> MigrationReport

  /// Reports what ``migrate(_:from:to:)`` would do, or declines for the same reasons, and makes nothing.
  static func foresee(
    _ migration: InStoreMigration,
    from source: StoreSetup,
    to destination: StoreSetup
  ) throws -> MigrationReport
}

/// A format around another one, whose stores make their successors themselves.
package protocol SelfMigratingFormat: StoreFormat {
  /// The class of the stores; nil if they make no successors.
  var wrappedSelfMigratingClass: (any SelfMigratingStore.Type)? { get }

  /// Called before a store makes its successor, or foresees what that would be; it does neither if this throws.
  func willMigrate() throws
}

extension StoreFormat {
  /// The class of stores that make their successors themselves; nil for others.
  package var selfMigratingClass: (any SelfMigratingStore.Type)? {
    if let format = self as? any SelfMigratingFormat { return format.wrappedSelfMigratingClass }
    return storeClass as? any SelfMigratingStore.Type
  }
}

/// What a store needs to make its successor.
package struct InStoreMigration: Sendable {
  package let plan: TablePlan
  /// Who the new store is.
  package let metadata: StoreMetadata
  package let resolutions: MigrationResolutions
  /// Whether records and values may be left out that nothing is made of.
  package let allowsLoss: Bool
  package let progress: MigrationProgress

  /// Why a store does not make its successor itself.
  package struct Obstacle: Error {
    package let reason: MigrationReport.InStoreObstacle

    /// - Parameter detail: words that follow “because”.
    package init(_ kind: MigrationReport.InStoreObstacle.Kind, _ detail: String) {
      reason = MigrationReport.InStoreObstacle(kind, detail)
    }

    /// The most usual obstacle: what becomes of the model.
    package init(_ detail: String) {
      self.init(.schema, detail)
    }
  }
}

// MARK: Running

extension StoreManager {
  /// Lets a store make its successor itself, beside `target`'s place, and gives it that place in one step.
  ///
  /// - Parameters:
  ///   - expected: the file that must still stand at the place then; nil means any.
  ///   - willMove: called when the new store is whole, before it takes the place.
  /// - Throws: ``InStoreMigration/Obstacle``.
  package func migrateInStore(
    _ plan: TablePlan,
    of origin: StoreOrigin,
    from source: Request,
    to target: Request,
    replacing: Bool,
    expecting expected: FileIdentity? = nil,
    allowsLoss: Bool,
    progress: MigrationProgress,
    willMove: () throws -> Void
  ) throws -> MigrationReport {
    let storeClass = try selfMigratingClass(source, target)
    let migration = try migration(plan, of: origin, to: target, allowsLoss, progress)
    let sourceSetup = try setupForReading(source, from: origin)
    let report = try makeStore(target, replacing: replacing, expecting: expected) { temporary in
      let report = try storeClass.migrate(migration, from: sourceSetup, to: try setup(temporary))
      try willMove()
      return report
    }
    guard let report else { throw InStoreMigration.Obstacle(.file, "the new store has no file") }
    return report
  }

  /// What ``migrateInStore(_:of:from:to:replacing:expecting:allowsLoss:progress:willMove:)`` would report. Nothing is written.
  package func foreseeInStore(
    _ plan: TablePlan,
    of origin: StoreOrigin,
    from source: Request,
    to target: Request,
    allowsLoss: Bool,
    progress: MigrationProgress
  ) throws -> MigrationReport {
    try selfMigratingClass(source, target).foresee(
      try migration(plan, of: origin, to: target, allowsLoss, progress),
      from: try setupForReading(source, from: origin),
      to: try setup(target)
    )
  }

  /// Whether stores of a type may make their successors themselves.
  package func canMigrateInStore(_ type: StoreType) throws -> Bool {
    try registry.format(for: type).selfMigratingClass != nil
  }

  private func selfMigratingClass(_ source: Request, _ target: Request) throws -> any SelfMigratingStore.Type {
    let format = try registry.format(for: target.type)
    guard let storeClass = format.selfMigratingClass, source.type == target.type else {
      throw InStoreMigration.Obstacle(.storeType, "the new store is of another type")
    }
    try CapabilityCheck(format.typeDescription).check(try setup(target))
    try (format as? any SelfMigratingFormat)?.willMigrate()
    return storeClass
  }

  private func migration(
    _ plan: TablePlan,
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
  /// Why a store that can make the records of a migration itself has not done it, so that they went through memory.
  public struct InStoreObstacle: Sendable, Hashable {
    /// What stood in the way.
    public let kind: Kind
    /// The same in words that follow “because”. They name entities and properties, and no values.
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
  /// What stands in the way of a store that would make the records of a migration itself. More kinds may come, so a `switch` over them needs a
  /// default.
  public struct Kind: Sendable, Hashable {
    private enum Name: String {
      case option, storeType, file, schema, records
    }
    private let name: Name

    /// The option ``StoreOptionKey/migratesInStore`` is off.
    public static let option = Kind(name: .option)
    /// The new store is of another type.
    public static let storeType = Kind(name: .storeType)
    /// A file is missing, or of a form that the store does not migrate.
    public static let file = Kind(name: .file)
    /// Entities, attributes or relationships become something that the store cannot make of what they were.
    public static let schema = Kind(name: .schema)
    /// Records do not fit the new model; through memory all of them are counted.
    public static let records = Kind(name: .records)
  }
}

extension MigrationReport.InStoreObstacle.Kind: CustomStringConvertible {
  /// The name of the kind, as in Swift.
  public var description: String { name.rawValue }
}
