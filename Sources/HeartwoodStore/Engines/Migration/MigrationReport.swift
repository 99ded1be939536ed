public import HeartwoodModel
import Synchronization

/// The report of a migration: what it has done, or would do.
///
///     for finding in report.losses { print(finding) }
///     print("\(report.sourceCount) records became \(report.destinationCount).")
public struct MigrationReport: Sendable, Hashable {
  /// What a migration has done to the records of one entity.
  public struct Entity: Sendable, Hashable {
    /// The name of the entity's mapping; `none` for records without a mapping, which are removed.
    public let mappingName: String
    /// What was done to the records.
    public let mappingType: EntityMapping.MappingType
    /// The entity of the old records; nil for a new entity.
    public let sourceName: String?
    /// The entity of the new records; nil if they were removed.
    public let destinationName: String?
    /// The number of old records. If several mappings take records of the entity, only the records of this mapping
    /// count.
    public let sourceCount: Int
    /// The number of new records. If several mappings make records of the entity, only the records of this mapping
    /// count.
    public package(set) var destinationCount: Int

    init(_ mapping: EntityMapping, sourceCount: Int, destinationCount: Int) {
      mappingName = mapping.name
      mappingType = mapping.mappingType
      sourceName = mapping.sourceEntityName
      destinationName = mapping.destinationEntityName
      self.sourceCount = sourceCount
      self.destinationCount = destinationCount
    }

    /// Creates the entry for two steps from the last one. The first step began with `origin` and `sourceCount` records.
    fileprivate init(_ last: Entity, origin: Entity?, sourceCount: Int) {
      mappingName = last.mappingName
      mappingType = last.mappingType == .copy ? origin?.mappingType ?? .copy : last.mappingType
      sourceName = origin?.sourceName ?? (origin == nil ? last.sourceName : nil)
      destinationName = last.destinationName
      self.sourceCount = sourceCount
      destinationCount = last.destinationCount
    }
  }

  /// A change of the values of a property, or of the records of an entity, or an obstacle to the migration.
  public struct Finding: Sendable, Hashable {
    /// The kind of a finding. Programs may rely on the raw values. Later versions may have more kinds, so a `switch`
    /// over kinds needs a default.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
      /// Values were converted to another type.
      case converted
      /// Records without a value got a default value.
      case filled
      /// Values could not be converted to the new type.
      case unfit
      /// Relationships had several destinations, and only one is allowed.
      case severalObjects
      /// Relationships had destinations that were removed.
      case removedLinks
      /// Relationships were made from their inverses.
      case restoredLinks
      /// Records had equal values that must be unique.
      case duplicates
      /// Records lack a required value.
      case missing
      /// Records are left out, because they have no destination. The entity is the source entity, and the property is
      /// empty.
      case removedRecords
      /// Values are left out, because they have no destination. The entity is the source entity.
      case removedValues
    }

    /// The kind of finding.
    public let kind: Kind
    /// The destination entity; for records and values that are left out, the source entity.
    public let entity: String
    /// The property, or the names of several with `+` between them.
    public let property: String
    /// The number of records.
    public let count: Int
    /// Whether the migration is not possible because of the finding.
    public let isObstacle: Bool

    /// Creates a finding.
    public init(_ kind: Kind, _ entity: String, _ property: String, count: Int, isObstacle: Bool = false) {
      self.kind = kind
      self.entity = entity
      self.property = property
      self.count = count
      self.isObstacle = isObstacle
    }
  }

  /// The entities, in the order of the mapping model; then the entities with records and without a mapping.
  public package(set) var entities: [Entity]
  /// What was done to values, in the order of the new model.
  public package(set) var findings: [Finding]
  /// Whether the store has migrated the records itself, in SQL, and not through memory.
  public package(set) var isDoneInStore = false
  /// The reason why a store that can migrate its records itself has not done so; nil if it has, and for stores whose
  /// records are in memory anyway.
  public package(set) var reasonNotInStore: InStoreObstacle?

  /// The number of history transactions that are left out: a migrated store continues with the next number, or has no
  /// history. Transactions that Core Data has written into an SQLite file count, too.
  public package(set) var lostTransactionCount = 0

  /// Whether the records have other references than before, because the type of the new store does not support the old
  /// ones.
  public package(set) var hasRenamedRecords = false

  package init(entities: [Entity] = [], findings: [Finding] = []) {
    self.entities = entities
    self.findings = findings
  }
}

extension MigrationReport {
  /// The findings that make the migration impossible; empty if it is possible.
  public var obstacles: [Finding] { findings.filter(\.isObstacle) }

  /// The records and values that the new store lacks: those of removed entities and properties, those that a mapping
  /// model does not use, and links to removed records. A migration with losses needs the option
  /// ``StoreOptionKey/allowsMigrationLoss``. Values that ``MigrationResolutions`` discards are not included, and
  /// neither is the history (``lostTransactionCount``).
  public var losses: [Finding] { findings.filter(\.kind.isLoss) }

  /// The number of records before the migration.
  public var sourceCount: Int { entities.reduce(0) { $0 + $1.sourceCount } }

  /// The number of records after the migration.
  public var destinationCount: Int { entities.reduce(0) { $0 + $1.destinationCount } }

  /// The numbers of records that a mapping has taken and made; nil if these are all records of its entity.
  package struct Counts {
    let taken: Int?
    let made: Int?

    package init(taken: Int? = nil, made: Int? = nil) {
      self.taken = taken
      self.made = made
    }
  }

  /// Returns the entries for a mapping model: the number of records that each mapping takes and makes, and then the
  /// entities without a mapping, whose records are removed.
  package static func entities(
    _ mappingModel: MappingModel,
    from source: ManagedObjectModel,
    to destination: ManagedObjectModel,
    counts: (EntityMapping) -> Counts = { _ in Counts() },
    sourceCount: (EntityDescription) throws -> Int,
    destinationCount: (EntityDescription) throws -> Int
  ) rethrows -> [Entity] {
    let mapped = try mappingModel.entityMappings.map { mapping -> Entity in
      let own = counts(mapping)
      return Entity(
        mapping,
        sourceCount: try own.taken ?? mapping.sourceEntityName.flatMap(source.entity(named:)).map(sourceCount) ?? 0,
        destinationCount: try own.made
          ?? mapping.destinationEntityName.flatMap(destination.entity(named:)).map(destinationCount) ?? 0
      )
    }
    let taken = Set(mappingModel.entityMappings.compactMap(\.sourceEntityName))
    let leftOut = try source.entities.filter { !$0.isAbstract && !taken.contains($0.name) }.map { entity in
      Entity(
        EntityMapping(name: "none", mappingType: .remove, sourceEntityName: entity.name),
        sourceCount: try sourceCount(entity),
        destinationCount: 0
      )
    }
    return mapped + leftOut.filter { $0.sourceCount > 0 }
  }

  /// Returns the report of two migrations, one after the other: each entity with its first source and its last
  /// destination.
  package func followed(by next: MigrationReport) -> MigrationReport {
    var entities = next.entities.map { entity in
      let origins = self.entities.filter { $0.destinationName != nil && $0.destinationName == entity.sourceName }
      // If several mappings take records of the entity, it is unknown which of them each takes.
      let isShared = next.entities.count { $0.sourceName == entity.sourceName } > 1
      let sourceCount = isShared || origins.isEmpty ? entity.sourceCount : origins.reduce(0) { $0 + $1.sourceCount }
      return Entity(entity, origin: origins.first, sourceCount: sourceCount)
    }
    entities += self.entities.filter { $0.destinationName == nil }
    return MigrationReport(entities: entities, findings: findings + next.findings)
  }

  /// - Throws: ``PersistenceError/Code/migrationFailed`` with all obstacles, if there are any.
  package func check(path: String?) throws(PersistenceError) {
    guard !obstacles.isEmpty else { return }
    let lines = obstacles.map { "  \($0)" }.joined(separator: "\n")
    let hasMisfits = obstacles.contains { !$0.kind.isLoss }
    let reasons = [
      hasMisfits
        ? "the records do not fit the new model" : nil,
      obstacles.contains(where: \.kind.isLoss)
        ? "records or values would be lost" : nil,
    ]
    throw PersistenceError(
      .migrationFailed,
      "The store is unchanged, because \(reasons.compactMap(\.self).joined(separator: ", and because ")):\n\(lines)",
      recovery: hasMisfits ? .resolveMigration : .acceptMigrationLoss,
      context: .init(path: path, entity: obstacles.first?.entity, property: obstacles.first?.property)
    )
  }
}

extension MigrationReport.Finding: CustomStringConvertible {
  /// The finding as one line of text.
  public var description: String {
    let path = property.isEmpty ? entity : "\(entity).\(property)"
    return "\(path): \(count == 1 ? "1 record" : "\(count) records") \(words)"
  }

  private var words: String {
    switch kind {
    case .converted: "with a value that was converted to another type"
    case .filled: "without a value that got the default value"
    case .unfit: "with a value that cannot be converted to the new type"
    case .severalObjects: "with several objects where one is allowed"
    case .removedLinks: "that referred to deleted records"
    case .restoredLinks: "whose relationship was restored from the other end"
    case .duplicates: "with the same values as another one, although they must be unique"
    case .missing: "without a required value"
    case .removedRecords: "left out: nothing is made of \(count == 1 ? "it" : "them")"
    case .removedValues: "with a value that is left out"
    }
  }
}

extension MigrationReport.Finding.Kind {
  /// Whether the new store lacks something because of the finding.
  var isLoss: Bool { [.removedRecords, .removedValues, .removedLinks].contains(self) }
}

// MARK: MigrationProgress

/// The progress of a migration, and the means to cancel it. It is `Sendable`.
///
///     let progress = MigrationProgress { phase in print("\(phase.rawValue) …") }
public final class MigrationProgress: Sendable {
  /// A part of a migration.
  public enum Phase: String, Sendable, Hashable, CaseIterable {
    /// The old store is read.
    case reading
    /// New records are made. A store that makes them itself reads the old ones as it goes.
    case migrating
    /// The new file is written. The migration can no longer be cancelled once the new file has begun to replace the old
    /// one.
    case writing
  }

  private let units = FetchProgress()
  private let current = Mutex(Phase.reading)
  private let phaseHandler: (@Sendable (Phase) -> Void)?

  /// Creates the progress of a migration that has not begun.
  ///
  /// - Parameter phaseHandler: called when a phase begins, on the thread of the migration.
  public init(phaseHandler: (@Sendable (Phase) -> Void)? = nil) {
    self.phaseHandler = phaseHandler
  }

  /// The current phase.
  public var phase: Phase { current.withLock { $0 } }

  /// The fraction of the new records that has been made, from 0 to 1.
  public var fractionCompleted: Double { units.fractionCompleted }

  /// Whether ``cancel()`` has been called.
  public var isCancelled: Bool { units.isCancelled }

  /// Cancels the migration. It then throws ``PersistenceError/Code/migrationCancelled``, and the store is left as it
  /// was.
  public func cancel() { units.cancel() }

  package func begin(_ phase: Phase) throws(PersistenceError) {
    try check()
    current.withLock { $0 = phase }
    phaseHandler?(phase)
  }

  /// Adds units of work to be done. A store that migrates its records itself calls it.
  public func expect(_ unitCount: Int) { units.begin(unitCount) }

  /// Notes that a unit has been done. A store that migrates its records itself calls it.
  public func advance() { units.advance() }

  /// Throws ``PersistenceError/Code/migrationCancelled`` if the migration was cancelled. A store that migrates its
  /// records itself calls it from time to time.
  public func check() throws(PersistenceError) {
    guard isCancelled else { return }
    throw PersistenceError(.migrationCancelled, "The migration was cancelled. The store is unchanged.")
  }
}

// MARK: MigrationLosses

extension MappingCoverage {
  /// Returns what is left out of the records of a store, with counts. Entities without records and properties without
  /// values are not included. O(records) of the entities that lose something.
  ///
  /// - Parameters:
  ///   - isAllowed: whether losses are no obstacle.
  ///   - takenCount: returns the number of records of an entity that are taken by mappings with filter predicates.
  package func losses(
    in contents: StoreContents,
    isAllowed: Bool,
    takenCount: (EntityDescription) -> Int = { _ in 0 }
  ) -> [MigrationReport.Finding] {
    losses(of: contents.model, isAllowed: isAllowed) { entity in
      contents.tables[entity.ordinal].count
    } takenCount: { entity in
      takenCount(entity)
    } valueCount: { entity, ordinal in
      let table = contents.tables[entity.ordinal]
      return table.count - table.emptyCount(ordinal)
    }
  }

  /// Returns the same for a store that counts its records itself.
  package func losses(
    of model: ManagedObjectModel,
    isAllowed: Bool,
    recordCount: (EntityDescription) throws -> Int,
    takenCount: (EntityDescription) throws -> Int = { _ in 0 },
    valueCount: (EntityDescription, Int) throws -> Int
  ) rethrows -> [MigrationReport.Finding] {
    var losses: [MigrationReport.Finding] = []
    func note(_ kind: MigrationReport.Finding.Kind, _ entity: EntityDescription, _ property: String, _ count: Int) {
      guard count > 0 else { return }
      losses.append(.init(kind, entity.name, property, count: count, isObstacle: !isAllowed))
    }
    for ordinal in droppedEntities {
      let entity = model.entities[ordinal]
      note(.removedRecords, entity, "", try recordCount(entity))
    }
    for ordinal in filteredEntities {
      let entity = model.entities[ordinal]
      note(.removedRecords, entity, "", try recordCount(entity) - takenCount(entity))
    }
    for (entityOrdinal, ordinal) in droppedProperties {
      let entity = model.entities[entityOrdinal]
      note(.removedValues, entity, entity.properties[ordinal].name, try valueCount(entity, ordinal))
    }
    return losses
  }
}

// MARK: MigrationResolutions

/// What an inferred migration does with records that do not fit the new model.
///
/// By default it refuses, reports the number of such records, and leaves the store as it is.
///
///     options[.migrationResolutions] = MigrationResolutions(duplicates: .keepFirst)
public struct MigrationResolutions: Sendable, Hashable {
  /// What happens to records with equal values that must be unique in the new model.
  public enum Duplicates: String, Sendable, Hashable, CaseIterable, Codable {
    /// The migration fails.
    case refuse
    /// The first of them, in the order of the store, is kept. The others are deleted, and links to them are removed.
    case keepFirst
    /// The last of them is kept. The others are deleted, and links to them are removed.
    case keepLast
  }

  /// What happens to a relationship with several destinations that is to-one in the new model.
  public enum SeveralObjects: String, Sendable, Hashable, CaseIterable, Codable {
    /// The migration fails.
    case refuse
    /// It keeps the first destination.
    case keepFirst
  }

  /// What happens to a value that cannot be converted to the new type of its attribute.
  public enum UnfitValues: String, Sendable, Hashable, CaseIterable, Codable {
    /// The migration fails.
    case refuse
    /// It becomes the default value of the attribute, or nil if there is none.
    case useDefault
  }

  /// What happens to records with equal values that must be unique.
  public var duplicates: Duplicates
  /// What happens to a relationship with several destinations if only one is allowed.
  public var severalObjects: SeveralObjects
  /// What happens to values that cannot be converted to their new type.
  public var unfitValues: UnfitValues

  /// Creates resolutions. Without arguments, everything that is ambiguous is refused.
  public init(
    duplicates: Duplicates = .refuse,
    severalObjects: SeveralObjects = .refuse,
    unfitValues: UnfitValues = .refuse
  ) {
    self.duplicates = duplicates
    self.severalObjects = severalObjects
    self.unfitValues = unfitValues
  }
}
