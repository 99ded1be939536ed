import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// The reason why a migration is not done in SQL.
typealias MigrationObstacle = InStoreMigration.Obstacle

/// The translation of the rows of one entity.
struct EntityTranslation {
  /// A change to rows that is counted, or a change that is not possible.
  struct Tally {
    let kind: MigrationReport.Finding.Kind
    /// The ordinal of the new property.
    let ordinal: Int
    /// A condition that is true for the rows that are counted.
    let condition: String
  }

  let plan: EntityMigration
  let source: EntityPlacement
  let destination: EntityPlacement
  /// The columns of the new table, and their values, as expressions of a row of the old table, called `r`.
  var cells: [(column: String, value: String)] = []
  var parameters: [PostgreSQLParameter] = []
  var tallies: [Tally] = []

  mutating func parameter(_ parameter: PostgreSQLParameter) -> String {
    parameters.append(parameter)
    return "$\(parameters.count)"
  }

  /// A condition that is true for the rows of the entity.
  var condition: String { "r.entity = \(PostgreSQLName.literal(source.entity.name))" }
}

/// The pairs of a many-to-many relationship.
struct JoinTranslation {
  let oldTable: String
  let newTable: String
  /// The new column with the key of the owner on one side, and the old columns from which both columns are filled.
  let ownColumn: String
  var cells: [(column: String, value: String)]
}

/// A relationship that becomes ordered: by the keys of its records, whatever their entities.
struct OrderTranslation {
  let table: String
  let ownerColumn: String
  let column: String
}

/// Translates a migration to SQL, if SQL can produce exactly what the framework would produce from the records in
/// memory.
struct MigrationTranslator {
  private let plan: MigrationPlan
  private let old: PostgreSQLSchema
  private let new: PostgreSQLSchema
  private(set) var entities: [EntityTranslation] = []
  private(set) var joins: [JoinTranslation] = []
  private(set) var orders: [OrderTranslation] = []

  /// - Throws: ``MigrationObstacle``.
  init(_ plan: MigrationPlan, from old: PostgreSQLSchema, to new: PostgreSQLSchema) throws {
    (self.plan, self.old, self.new) = (plan, old, new)
    if plan.destination.hasDerivedAttributes { throw MigrationObstacle("attributes are derived") }
    if plan.restoresInverses { throw MigrationObstacle("a relationship is made from its inverse") }
    for entity in plan.entities.compactMap(\.self) { try add(entity) }
    try addPositions()
    try addJoins()
  }

  private mutating func add(_ plan: EntityMigration) throws {
    // There are no records of an entity that the store did not keep.
    guard old.keeps(plan.source) else { return }
    guard new.keeps(plan.destination) else {
      throw MigrationObstacle("the new store does not keep \(plan.destination.name)")
    }
    var entity = EntityTranslation(
      plan: plan,
      source: try old.placement(of: plan.source),
      destination: try new.placement(of: plan.destination)
    )
    for ordinal in plan.columns.indices { try add(ordinal, to: &entity) }
    entities.append(entity)
  }

  private func add(_ ordinal: Int, to entity: inout EntityTranslation) throws {
    let source = entity.plan.columns[ordinal].sourceOrdinal.flatMap { entity.source.properties[$0] }
    if entity.plan.columns[ordinal].sourceOrdinal != nil,
      entity.plan.destination.properties[ordinal].relationship != nil
    {
      try checkLinks(ordinal, entity.plan)
    }
    switch (entity.destination.properties[ordinal], entity.plan.columns[ordinal], source) {
    case (.attribute(let place), .constant(let value), _):
      for (column, parameter) in zip(
        entity.destination.valueColumns(ordinal),
        try Self.parameters(value, place, entity.plan.destination, ordinal)
      ) {
        entity.cells.append((column, entity.parameter(parameter)))
      }
    case (.attribute(let place), .attribute(let sourceOrdinal), .attribute(let oldPlace)):
      try AttributeTranslation(entity.plan, ordinal, place, sourceOrdinal, oldPlace).add(to: &entity)
    case (.toOne(let place), .relationship, .toOne(let oldPlace)):
      entity.cells.append((place.column, "r.\(PostgreSQLName.quoted(oldPlace.column))"))
    case (.toMany, .relationship, .toMany), (.join, .relationship, .join): break
    case (_, .relationship, _), (_, .attribute, _):
      throw MigrationObstacle("\(entity.plan.destination.properties[ordinal].name) is kept in another form")
    case (_, .constant, _), (_, .absent, _): break
    }
  }

  static func parameters(
    _ value: PropertyValue,
    _ place: AttributePlacement,
    _ entity: EntityDescription,
    _ ordinal: Int
  ) throws -> [PostgreSQLParameter] {
    do throws(AttributeField.Refusal) {
      return try AttributeField.parameters(value, place)
    } catch {
      throw PersistenceError(
        .valueUnsupported,
        error.problem,
        recovery: error.recovery,
        context: .init(storeType: .postgreSQL, entity: entity.name, property: entity.properties[ordinal].name)
      )
    }
  }

  /// - Throws: ``MigrationObstacle`` if records that a relationship referred to may be gone.
  private func checkLinks(_ ordinal: Int, _ plan: EntityMigration) throws(MigrationObstacle) {
    let name = plan.destination.properties[ordinal].name
    guard let source = plan.columns[ordinal].sourceOrdinal,
      let oldTarget = plan.source.relationshipTargets[source].map({ old.model.entities[$0.entityOrdinal] }),
      let newTarget = plan.destination.relationshipTargets[ordinal].map({ new.model.entities[$0.entityOrdinal] })
    else { throw MigrationObstacle("the store does not keep what \(name) refers to") }
    let allowed = Set(new.model.concreteEntities(under: newTarget).map(\.ordinal))
    for entity in old.model.concreteEntities(under: oldTarget) where old.keeps(entity) {
      guard let successor = self.plan.destinationOrdinals[entity.ordinal], allowed.contains(successor) else {
        throw MigrationObstacle("\(name) may refer to records that are gone")
      }
    }
  }
}

// MARK: Orders and pairs

extension MigrationTranslator {
  /// The distance between the positions of ordered records.
  private static let gap = "1024::bigint"

  /// Returns the positions of records that had no order: in the order of their keys, as they are read.
  static func places(among owner: String, by key: String) -> String {
    "row_number() OVER (PARTITION BY \(owner) ORDER BY \(key)) * \(gap)"
  }

  /// Adds the columns with the positions of ordered relationships to the rows of their destinations.
  private mutating func addPositions() throws {
    var seen: Set<String> = []
    for owner in entities {
      for (ordinal, property) in owner.destination.properties.enumerated() {
        guard case .toMany(let place) = property, let column = place.positionColumn,
          let source = owner.plan.columns[ordinal].sourceOrdinal,
          case .toMany(let oldPlace) = owner.source.properties[source],
          seen.insert("\(place.destination.table).\(column)").inserted
        else { continue }
        guard let oldColumn = oldPlace.positionColumn else {
          orders.append(OrderTranslation(table: place.destination.table, ownerColumn: place.column, column: column))
          continue
        }
        let value = "r.\(PostgreSQLName.quoted(oldColumn))"
        for index in entities.indices where place.destination.entities[entities[index].plan.destination.name] != nil {
          entities[index].cells.append((column, value))
        }
      }
    }
  }

  private mutating func addJoins() throws(MigrationObstacle) {
    var places: [String: Int] = [:]
    for entity in entities {
      for (ordinal, property) in entity.destination.properties.enumerated() {
        guard case .join(let place) = property else { continue }
        guard let source = entity.plan.columns[ordinal].sourceOrdinal,
          case .join(let oldPlace) = entity.source.properties[source]
        else {
          if entity.plan.columns[ordinal].sourceOrdinal == nil, !isMade(place) { continue }
          throw MigrationObstacle("a many-to-many relationship is new at one end")
        }
        guard place.isReflexive == oldPlace.isReflexive else {
          throw MigrationObstacle("a relationship that is its own inverse gets another form")
        }
        try checkOwners(of: oldPlace, place)
        add(place, oldPlace, &places)
      }
    }
  }

  /// Whether the pairs of a table have a source.
  private func isMade(_ place: JoinPlacement) -> Bool {
    entities.contains { entity in
      entity.destination.properties.enumerated().contains { ordinal, property in
        if case .join(let other) = property, other.table == place.table {
          return entity.plan.columns[ordinal].sourceOrdinal != nil
        }
        return false
      }
    }
  }

  /// Checks that no pairs of an entity that loses the relationship would remain: pairs do not record the entity of the
  /// owner.
  private func checkOwners(of oldPlace: JoinPlacement, _ place: JoinPlacement) throws(MigrationObstacle) {
    for entity in old.model.entities where old.keeps(entity) && !entity.isAbstract {
      // try?: an entity that is not kept has no pairs.
      guard let placement = try? old.placement(of: entity),
        placement.properties.contains(where: { Self.isSide($0, of: oldPlace) })
      else { continue }
      let goesOn = entities.contains { translation in
        translation.plan.source === entity && translation.destination.properties.contains { Self.isSide($0, of: place) }
      }
      if !goesOn { throw MigrationObstacle("a many-to-many relationship is removed from some of its entities") }
    }
  }

  private static func isSide(_ property: PropertyPlacement?, of place: JoinPlacement) -> Bool {
    if case .join(let other) = property {
      other.table == place.table && other.ownColumn == place.ownColumn
    } else {
      false
    }
  }

  private mutating func add(_ place: JoinPlacement, _ oldPlace: JoinPlacement, _ places: inout [String: Int]) {
    let (own, other) = (
      "r.\(PostgreSQLName.quoted(oldPlace.ownColumn))", "r.\(PostgreSQLName.quoted(oldPlace.otherColumn))"
    )
    let index = places[place.table] ?? joins.count
    if places[place.table] == nil {
      places[place.table] = index
      joins.append(
        JoinTranslation(
          oldTable: oldPlace.table,
          newTable: place.table,
          ownColumn: place.ownColumn,
          cells: [(place.ownColumn, own), (place.otherColumn, other)]
        )
      )
    }
    guard let column = place.positionColumn, !joins[index].cells.contains(where: { $0.column == column }) else {
      return
    }
    let value =
      oldPlace.positionColumn.map { "r.\(PostgreSQLName.quoted($0))" } ?? Self.places(among: own, by: other)
    joins[index].cells.append((column, value))
  }
}

// MARK: AttributeTranslation

/// Translates the values of an attribute in SQL.
private struct AttributeTranslation {
  private let entity: EntityDescription
  private let ordinal: Int
  private let old: AttributeDescription
  private let new: AttributeDescription
  private let place: AttributePlacement
  private let oldPlace: AttributePlacement
  /// The column in the old table.
  private let column: String

  /// - Throws: ``MigrationObstacle`` if the form of the values changes in a way that SQL does not reproduce.
  init(
    _ plan: EntityMigration,
    _ ordinal: Int,
    _ place: AttributePlacement,
    _ sourceOrdinal: Int,
    _ oldPlace: AttributePlacement
  ) throws(MigrationObstacle) {
    guard let old = plan.source.properties[sourceOrdinal].attribute,
      let new = plan.destination.properties[ordinal].attribute
    else { throw MigrationObstacle("an attribute is made from something else") }
    (entity, self.ordinal, self.old, self.new) = (plan.destination, ordinal, old, new)
    (self.place, self.oldPlace) = (place, oldPlace)
    column = "r.\(PostgreSQLName.quoted(oldPlace.column))"
    guard isSameForm || convertsInSQL else {
      throw MigrationObstacle(
        "values of \(new.name) become of another form (\(old.type.rawValue) → \(new.type.rawValue))"
      )
    }
  }

  private var isSameForm: Bool {
    old.type == new.type || [old.type, new.type].allSatisfy { $0 == .binary || $0 == .transformable }
  }

  private var convertsInSQL: Bool {
    switch new.type {
    case .integer16, .integer32, .integer64, .boolean, .double: Self.isWhole(old.type)
    case .string: Self.isWhole(old.type) && old.type != .boolean
    default: false
    }
  }

  private static func isWhole(_ type: AttributeType) -> Bool { type.integerRange != nil || type == .boolean }

  /// The value for records without one.
  private var filling: PropertyValue { new.isOptional ? .null : new.defaultValue }

  func add(to entity: inout EntityTranslation) throws {
    if isSameForm { try addSame(to: &entity) } else { try addConverted(to: &entity) }
    if !filling.isNull {
      entity.tallies.append(.init(kind: .filled, ordinal: ordinal, condition: "\(column) IS NULL"))
    }
    if isSameForm { return }
    entity.tallies.append(.init(kind: .unfit, ordinal: ordinal, condition: "\(column) IS NOT NULL AND NOT (\(fits))"))
  }

  private func addSame(to entity: inout EntityTranslation) throws {
    let columns = [place.column] + (place.exactColumn.map { [$0] } ?? [])
    let values = [column] + (oldPlace.exactColumn.map { ["r.\(PostgreSQLName.quoted($0))"] } ?? [])
    let fillers = try MigrationTranslator.parameters(filling, place, self.entity, ordinal)
    for (index, column) in columns.enumerated() where values.indices.contains(index) {
      var value = values[index]
      if !filling.isNull {
        value = "CASE WHEN \(self.column) IS NULL THEN \(entity.parameter(fillers[index])) ELSE \(value) END"
      }
      entity.cells.append((column, value))
    }
  }

  private func addConverted(to entity: inout EntityTranslation) throws {
    let filler = try MigrationTranslator.parameters(filling, place, self.entity, ordinal)
    let substitute = try MigrationTranslator.parameters(new.defaultValue, place, self.entity, ordinal)
    let (fillerPlace, substitutePlace) = (entity.parameter(filler[0]), entity.parameter(substitute[0]))
    let converted =
      switch new.type {
      case .boolean: "(\(number) <> 0)"
      case .string: "\(number)::text"
      default: "\(number)::\(place.columnType.rawValue)"
      }
    entity.cells.append(
      (
        place.column,
        "CASE WHEN \(column) IS NULL THEN \(fillerPlace) WHEN \(fits) THEN \(converted) ELSE \(substitutePlace) END"
      )
    )
    entity.tallies.append(.init(kind: .converted, ordinal: ordinal, condition: "\(column) IS NOT NULL AND \(fits)"))
  }

  /// The old value as an integer.
  private var number: String { old.type == .boolean ? "\(column)::integer" : column }

  /// A condition in SQL that is true if an integer can be represented in the new type.
  private var fits: String {
    if new.type == .boolean { return "\(number) BETWEEN 0 AND 1" }
    guard let range = new.type.integerRange else { return "\(column) IS NOT NULL" }
    return "\(number) BETWEEN \(range.lowerBound) AND \(range.upperBound)"
  }
}
