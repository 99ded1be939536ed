public import HeartwoodModel
import Synchronization

/// What a migration has done, or would do.
public struct MigrationReport: Sendable, Hashable {
  /// What has become of the records of one entity.
  public struct Entity: Sendable, Hashable {
    /// The name of the entity's mapping; `none` for records that the mapping model does not name, which are gone.
    public let mappingName: String
    /// What was done.
    public let mappingType: EntityMapping.MappingType
    /// The entity that the records were of; nil for a new one.
    public let sourceName: String?
    /// The entity that they are of; nil where they are gone.
    public let destinationName: String?
    /// How many records there were. Where several mappings take records of the entity, those that this one takes.
    public let sourceCount: Int
    /// How many records there are. Where several mappings make records of the entity, those that this one makes.
    public package(set) var destinationCount: Int

    init(_ mapping: EntityMapping, sourceCount: Int, destinationCount: Int) {
      mappingName = mapping.name
      mappingType = mapping.mappingType
      sourceName = mapping.sourceEntityName
      destinationName = mapping.destinationEntityName
      self.sourceCount = sourceCount
      self.destinationCount = destinationCount
    }

    /// The last of two steps, which began with `origin` and with as many records.
    fileprivate init(_ last: Entity, origin: Entity?, sourceCount: Int) {
      mappingName = last.mappingName
      mappingType = last.mappingType == .copy ? origin?.mappingType ?? .copy : last.mappingType
      sourceName = origin?.sourceName ?? (origin == nil ? last.sourceName : nil)
      destinationName = last.destinationName
      self.sourceCount = sourceCount
      destinationCount = last.destinationCount
    }
  }

  /// Something that was done to the values of a property, or of an entity, or that stands in the way.
  public struct Finding: Sendable, Hashable {
    /// What it is. The raw value is how programs know it. More kinds may come, so a `switch` over them needs a default.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
      /// Values became values of another type.
      case converted
      /// Records got a default value where they had none.
      case filled
      /// Values had no form in the new type.
      case unfit
      /// Relationships led to several objects where one is allowed.
      case severalObjects
      /// Relationships led to records that are gone.
      case removedLinks
      /// Relationships were made of what leads back.
      case restoredLinks
      /// Records had the same values where they are to be unique.
      case duplicates
      /// Records have no value where one is required.
      case missing
      /// Records are left out, because nothing is made of them. The entity is the source entity, and the property is empty.
      case removedRecords
      /// Values are left out, because nothing is made of them. The entity is the source entity.
      case removedValues
    }

    /// What it is.
    public let kind: Kind
    /// The destination entity; for what is left out, the source entity.
    public let entity: String
    /// The property, or the names of several with `+` between them.
    public let property: String
    /// How many records are concerned.
    public let count: Int
    /// Whether the migration cannot be done because of it.
    public let isObstacle: Bool

    /// Makes a finding.
    public init(_ kind: Kind, _ entity: String, _ property: String, count: Int, isObstacle: Bool = false) {
      self.kind = kind
      self.entity = entity
      self.property = property
      self.count = count
      self.isObstacle = isObstacle
    }
  }

  /// The entities, in the order of the mapping model; then those with records that it does not name.
  public package(set) var entities: [Entity]
  /// What was done to values, in the order of the new model.
  public package(set) var findings: [Finding]
  /// Whether the store has made the new records itself, in SQL, and they have not gone through memory.
  public package(set) var isDoneInStore = false
  /// Why a store that makes new records itself if it can has not done it; nil if it has, and for stores whose records are in memory anyway.
  public package(set) var reasonNotInStore: InStoreObstacle?

  /// How many transactions of the store's history are left out: a migrated store goes on with the next number, or has no history. Those that
  /// Core Data has put into a SQLite file count, too.
  public package(set) var lostTransactionCount = 0

  /// Whether the records have other references than before, since the type of the new store cannot call them as they were called.
  public package(set) var hasRenamedRecords = false

  package init(entities: [Entity] = [], findings: [Finding] = []) {
    self.entities = entities
    self.findings = findings
  }
}

extension MigrationReport {
  /// Why the migration cannot be done; empty where it can.
  public var obstacles: [Finding] { findings.filter(\.isObstacle) }

  /// The records and values that the new store has not: those of entities and properties that are gone, those that a mapping model takes nowhere, and
  /// links to records that are gone. A migration with losses needs the option ``StoreOptionKey/allowsMigrationLoss``. What
  /// ``MigrationResolutions`` gives up is not among them, and neither is the history (``lostTransactionCount``).
  public var losses: [Finding] { findings.filter(\.kind.isLoss) }

  /// How many records there were.
  public var sourceCount: Int { entities.reduce(0) { $0 + $1.sourceCount } }

  /// How many records there are.
  public var destinationCount: Int { entities.reduce(0) { $0 + $1.destinationCount } }

  /// How many records a mapping has taken and made; nil where it is all of its entity's.
  package struct Counts {
    let taken: Int?
    let made: Int?

    package init(taken: Int? = nil, made: Int? = nil) {
      self.taken = taken
      self.made = made
    }
  }

  /// What becomes of records by a mapping model: for each mapping how many it takes and makes, and then those of entities that no mapping takes,
  /// which are gone.
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

  /// The report of both, the one after the other: each entity by where it came from and where it has gone.
  package func followed(by next: MigrationReport) -> MigrationReport {
    var entities = next.entities.map { entity in
      let origins = self.entities.filter { $0.destinationName != nil && $0.destinationName == entity.sourceName }
      // Of which of them those are that each of several mappings takes, nobody tells.
      let isShared = next.entities.count { $0.sourceName == entity.sourceName } > 1
      let sourceCount = isShared || origins.isEmpty ? entity.sourceCount : origins.reduce(0) { $0 + $1.sourceCount }
      return Entity(entity, origin: origins.first, sourceCount: sourceCount)
    }
    entities += self.entities.filter { $0.destinationName == nil }
    return MigrationReport(entities: entities, findings: findings + next.findings)
  }

  /// - Throws: ``PersistenceError/Code/migrationFailed`` with all that stands in the way.
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
      "The store was left as it is, because \(reasons.compactMap(\.self).joined(separator: ", and because ")):\n\(lines)",
      recovery: hasMisfits ? .resolveMigration : .acceptMigrationLoss,
      context: .init(path: path, entity: obstacles.first?.entity, property: obstacles.first?.property)
    )
  }
}

extension MigrationReport.Finding: CustomStringConvertible {
  /// The finding in a line.
  public var description: String {
    let path = property.isEmpty ? entity : "\(entity).\(property)"
    return "\(path): \(count == 1 ? "1 record" : "\(count) records") \(words)"
  }

  private var words: String {
    switch kind {
    case .converted: "with a value that became one of another type"
    case .filled: "without a value that got the default one"
    case .unfit: "with a value that has no form in the new type"
    case .severalObjects: "with several objects where one is allowed"
    case .removedLinks: "that led to records which are gone"
    case .restoredLinks: "that lead to what leads back to them"
    case .duplicates: "with the values of another one, though they are to be unique"
    case .missing: "without a value, though there must be one"
    case .removedRecords: "left out: nothing is made of \(count == 1 ? "it" : "them")"
    case .removedValues: "with a value that is left out"
    }
  }
}

extension MigrationReport.Finding.Kind {
  /// Whether something is not in the new store any more.
  var isLoss: Bool { [.removedRecords, .removedValues, .removedLinks].contains(self) }
}

// MARK: MigrationProgress

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

  /// Adds units of work that are to be done. The store that migrates calls it.
  public func expect(_ unitCount: Int) { units.begin(unitCount) }

  /// Notes that a unit has been done. The store that migrates calls it.
  public func advance() { units.advance() }

  /// Throws ``PersistenceError/Code/migrationCancelled`` if the migration is to stop. The store that migrates calls it from time to time.
  public func check() throws(PersistenceError) {
    guard isCancelled else { return }
    throw PersistenceError(.migrationCancelled, "The migration was cancelled. The store is as it was.")
  }
}

// MARK: MigrationLosses

extension MappingCoverage {
  /// What is left out of the records of a store, with counts; nothing for what has no records and no values. O(records) of the entities that lose
  /// something.
  ///
  /// - Parameters:
  ///   - isAllowed: whether that is no obstacle.
  ///   - takenCount: how many records of an entity are taken by mappings with filter predicates.
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

  /// The same of a store that counts itself.
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

/// What an inferred migration does where the new model leaves open what becomes of records.
///
/// By default it refuses, says how many records are concerned, and leaves the store as it is.
public struct MigrationResolutions: Sendable, Hashable {
  /// What becomes of records that have the same values where the new model wants them to be unique.
  public enum Duplicates: String, Sendable, Hashable, CaseIterable, Codable {
    /// The migration fails.
    case refuse
    /// The first of them, in the order of the store, is kept; the others are deleted, and what led to them leads nowhere.
    case keepFirst
    /// The last of them is kept.
    case keepLast
  }

  /// What becomes of a relationship that leads to several objects where the new model has place for one.
  public enum SeveralObjects: String, Sendable, Hashable, CaseIterable, Codable {
    /// The migration fails.
    case refuse
    /// It leads to the first of them.
    case keepFirst
  }

  /// What becomes of a value that has no form in the new type of its attribute.
  public enum UnfitValues: String, Sendable, Hashable, CaseIterable, Codable {
    /// The migration fails.
    case refuse
    /// It becomes the default value of the attribute, or nil where there is none.
    case useDefault
  }

  /// What becomes of records that have the same values where they are to be unique.
  public var duplicates: Duplicates
  /// What becomes of a relationship that leads to several objects where one is allowed.
  public var severalObjects: SeveralObjects
  /// What becomes of values that have no form in their new type.
  public var unfitValues: UnfitValues

  /// Without arguments everything is refused that is not clear.
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
