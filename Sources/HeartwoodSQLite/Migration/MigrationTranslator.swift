import HeartwoodModel
import HeartwoodStore

/// Says a migration in SQL, where SQL can make just what ``TableMigration`` would.
struct MigrationTranslator {
  let plan: TablePlan
  let old: SQLiteSchema
  let new: SQLiteSchema
  /// The file that the records are taken from.
  private let path: String
  var entities: [EntityTranslation] = []
  var joins: [JoinTranslation] = []
  var narrowings: [NarrowingTranslation] = []
  var orders: Set<OrderTranslation> = []

  init(_ migration: InStoreMigration, from old: SQLiteSchema, to new: SQLiteSchema, path: String) {
    plan = migration.plan
    self.old = old
    self.new = new
    self.path = path
  }

  /// - Throws: ``MigrationObstacle``, and ``PersistenceError/Code/valueUnsupported`` for a default value that SQLite has no place for.
  func translation() throws -> MigrationTranslation {
    try checkModels()
    var translator = self
    for entity in plan.entities.compactMap(\.self) { try translator.add(entity) }
    try translator.checkTables()
    try translator.addJoins()
    try translator.addOwnedColumns()
    return MigrationTranslation(
      old: old,
      new: new,
      entities: translator.entities,
      joins: translator.joins,
      narrowings: translator.narrowings,
      orders: translator.orders
    )
  }
}

// MARK: What cannot be done

extension MigrationTranslator {
  private func checkModels() throws(MigrationObstacle) {
    if plan.destination.hasDerivedAttributes { throw MigrationObstacle("attributes are derived") }
    if InverseSettlement.isNeeded(plan) { throw MigrationObstacle("a relationship is made of what leads back") }
    for placement in new.entities.compactMap(\.self) {
      for ordinal in placement.entity.uniquenessConstraints.flatMap(\.self) {
        guard case .attribute(let place) = placement.properties[ordinal], StoredValue.isExternal(place.storage) else {
          continue
        }
        throw MigrationObstacle("data in files are to be unique")
      }
    }
  }

  /// Records of one table must have had their keys in one table: others may be of the same key.
  private func checkTables() throws(MigrationObstacle) {
    for entities in Dictionary(grouping: entities, by: \.destination.tableName).values {
      guard Set(entities.map(\.source.tableName)).count > 1 else { continue }
      throw MigrationObstacle("records of several tables come into one")
    }
  }
}

// MARK: Rows

extension MigrationTranslator {
  private mutating func add(_ plan: EntityPlan) throws {
    // Of an entity that the store did not keep there are no records.
    guard let source = old.placement(of: plan.source) else { return }
    guard let destination = new.placement(of: plan.destination) else {
      throw MigrationObstacle("the new store does not keep \(plan.destination.name)")
    }
    var translation = EntityTranslation(plan: plan, source: source, destination: destination)
    for ordinal in plan.columns.indices { try add(ordinal, to: &translation) }
    entities.append(translation)
  }

  private mutating func add(_ ordinal: Int, to translation: inout EntityTranslation) throws {
    let plan = translation.plan
    switch (translation.destination.properties[ordinal], plan.columns[ordinal]) {
    case (.attribute(let place), .constant(let value)):
      let stored = StoredValue(plan.destination.name, plan.destination.properties[ordinal].name, path)
      translation.columns.append((place.column, try AttributeTranslation.constant(value, place, stored)))
    case (.attribute(let place), .attribute(let source)):
      try addAttribute(ordinal, place, source, to: &translation)
    case (.toOne(let place), .relationship(let source)):
      let link = try link(ordinal, from: source, plan)
      try addToOne(place, link, translation.source.properties[source], to: &translation)
    case (.toMany(let place), .relationship(let source)):
      _ = try link(ordinal, from: source, plan)
      // The column of the inverse says it all, where the model knows that.
      if !place.ownsColumn, plan.destination.traits[ordinal].inverseOrdinal == nil {
        throw MigrationObstacle("a relationship shares the column of one that is not its inverse")
      }
    case (.join, .relationship(let source)):
      _ = try link(ordinal, from: source, plan)
    default: break
    }
  }

  /// - Throws: ``MigrationObstacle`` where records may be gone that the relationship led to.
  private func link(_ ordinal: Int, from source: Int, _ plan: EntityPlan) throws(MigrationObstacle) -> LinkTranslation {
    try LinkTranslation(plan, ordinal, source, old, new, self.plan.destinationOrdinals)
  }

  private func addAttribute(
    _ ordinal: Int,
    _ place: AttributePlacement,
    _ source: Int,
    to translation: inout EntityTranslation
  ) throws {
    let plan = translation.plan
    guard case .attribute(let oldPlace) = translation.source.properties[source],
      let oldAttribute = plan.source.properties[source].attribute,
      let attribute = plan.destination.properties[ordinal].attribute
    else { throw MigrationObstacle("an attribute is made of what is none") }
    let stored = StoredValue(plan.destination.name, attribute.name, path)
    let values = try AttributeTranslation(oldAttribute, in: oldPlace, attribute, in: place, ordinal: ordinal, stored)
    translation.columns.append((place.column, try values.value()))
    translation.tallies += values.tallies
    translation.anomalies.append(values.anomaly)
  }

  private mutating func addToOne(
    _ place: ToOnePlacement,
    _ link: LinkTranslation,
    _ source: PropertyPlacement?,
    to translation: inout EntityTranslation
  ) throws {
    guard case .toOne(let oldPlace) = source else {
      return narrowings.append(try link.narrowing(to: place, source, of: translation))
    }
    let column = SQLiteName.quoted(oldPlace.column)
    translation.columns.append((place.column, SQLFragment(column)))
    translation.anomalies.append(ValueAnomaly.condition(ofKeyIn: column))
    let number = try link.entityNumber(oldPlace)
    translation.anomalies.append("\(column) IS NOT NULL AND \(number) IS NULL")
    if let entityColumn = place.entityColumn {
      translation.columns.append((entityColumn, SQLFragment("CASE WHEN \(column) IS NOT NULL THEN \(number) END")))
    }
    guard let orderColumn = place.orderColumn else { return }
    addOrder(orderColumn, oldPlace.orderColumn, column: place.column, to: &translation)
  }

  /// Keeps the places of an order, or numbers them where there are none yet.
  mutating func addOrder(
    _ orderColumn: String,
    _ oldOrderColumn: String?,
    column: String,
    to translation: inout EntityTranslation
  ) {
    if let oldOrderColumn {
      translation.columns.append((orderColumn, SQLFragment(SQLiteName.quoted(oldOrderColumn))))
    } else {
      let table = translation.destination.tableName
      orders.insert(OrderTranslation(table: table, column: column, orderColumn: orderColumn))
    }
  }
}
