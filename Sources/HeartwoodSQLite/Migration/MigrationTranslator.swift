import HeartwoodModel
import HeartwoodStore

/// Translates a migration to SQL, if SQL can produce exactly what ``TableMigration`` would.
struct MigrationTranslator {
  let plan: MigrationPlan
  let old: SQLiteSchema
  let new: SQLiteSchema
  /// The path of the file from which the records are read.
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

  /// - Throws: ``MigrationObstacle``, and ``PersistenceError/Code/valueUnsupported`` for a default value that SQLite
  ///   cannot store.
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
    if plan.restoresInverses { throw MigrationObstacle("a relationship is made from its inverse") }
    for placement in new.entities.compactMap(\.self) {
      for ordinal in placement.entity.uniquenessConstraints.flatMap(\.self) {
        guard case .attribute(let place) = placement.properties[ordinal], StoredValue.isExternal(place.storage) else {
          continue
        }
        throw MigrationObstacle("data in files must be unique")
      }
    }
  }

  /// Checks that the records of each table had their keys in one table: otherwise keys may be the same.
  private func checkTables() throws(MigrationObstacle) {
    for entities in Dictionary(grouping: entities, by: \.destination.tableName).values {
      guard Set(entities.map(\.source.tableName)).count > 1 else { continue }
      throw MigrationObstacle("records of several tables come into one")
    }
  }
}

// MARK: Rows

extension MigrationTranslator {
  private mutating func add(_ plan: EntityMigration) throws {
    // There are no records of an entity that the store did not keep.
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
      // The column of the inverse is sufficient, if the model has an inverse.
      if !place.ownsColumn, plan.destination.relationshipTargets[ordinal]?.inverseOrdinal == nil {
        throw MigrationObstacle("a relationship shares the column of one that is not its inverse")
      }
    case (.join, .relationship(let source)):
      _ = try link(ordinal, from: source, plan)
    default: break
    }
  }

  /// - Throws: ``MigrationObstacle`` if records that the relationship referred to may be gone.
  private func link(_ ordinal: Int, from source: Int, _ plan: EntityMigration) throws(MigrationObstacle)
    -> LinkTranslation
  {
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
    else { throw MigrationObstacle("an attribute is made from something else") }
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

  /// Keeps the positions of an order, or numbers the records if there are no positions yet.
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

// MARK: Tables

// Relationships that are stored elsewhere than in the row of the record that has them.

extension MigrationTranslator {
  /// A relationship of one entity.
  private struct Slot {
    let property: PropertyPlacement
    /// The place where it was stored; nil for a new one.
    let source: PropertyPlacement?
    let entity: EntityTranslation
    let ordinal: Int
  }

  /// The relationships of all entities that can have records.
  private var slots: [Slot] {
    entities.flatMap { entity in
      entity.destination.properties.enumerated().compactMap { ordinal, property -> Slot? in
        guard let property, entity.plan.destination.properties[ordinal].relationship != nil else { return nil }
        let source = entity.plan.columns[ordinal].sourceOrdinal.flatMap { entity.source.properties[$0] }
        return Slot(property: property, source: source, entity: entity, ordinal: ordinal)
      }
    }
  }

  /// Returns the place where the relationship that is stored at `property` was stored, for all entities that have it.
  private func source(of property: PropertyPlacement, _ slots: [Slot]) throws(MigrationObstacle) -> PropertyPlacement? {
    let sources = Set(slots.lazy.filter { $0.property == property }.map(\.source))
    guard sources.count <= 1 else { throw MigrationObstacle("a relationship was kept in several places") }
    return sources.first ?? nil
  }
}

// MARK: Tables of pairs

extension MigrationTranslator {
  mutating func addJoins() throws(MigrationObstacle) {
    let slots = slots
    var seen: Set<String> = []
    for slot in slots {
      guard case .join(let place) = slot.property, seen.insert(place.table).inserted,
        let source = try source(of: slot.property, slots),
        let target = slot.entity.plan.destination.relationshipTargets[slot.ordinal],
        let member = new.entities[target.entityOrdinal]
      else { continue }
      let inverse = try self.source(of: .join(place.inverse), slots)
      joins.append(
        JoinTranslation(
          pairs: try pairs(source, inverse, place),
          place: place,
          ownerTable: slot.entity.destination.tableName,
          memberTable: member.tableName
        )
      )
    }
    // Otherwise, a relationship that only the second of two entities has would be missed.
    for slot in slots where slot.source != nil {
      guard case .join(let place) = slot.property, !joins.contains(where: { $0.place.table == place.table }) else {
        continue
      }
      throw MigrationObstacle("a many-to-many relationship is new at one end")
    }
  }

  /// Returns the pairs of a relationship that was stored at `source`, and its inverse at `inverse`.
  private func pairs(
    _ source: PropertyPlacement,
    _ inverse: PropertyPlacement?,
    _ place: JoinPlacement
  ) throws(MigrationObstacle) -> String {
    let inOrder = (place.orderColumn != nil, place.inverseOrderColumn != nil)
    switch source {
    case .toOne(let old):
      if case .toOne = inverse { throw MigrationObstacle("both ends of a relationship were to-one") }
      // Each owner has one member.
      let order = Self.order(inOrder.1, old.orderColumn, among: SQLiteName.quoted(old.column), by: "Z_PK")
      return Self.pairs("Z_PK", old.column, try tableOfOwners(.join(place), source), "\(RelationshipWriter.gap)", order)
    case .toMany(let old):
      let order = Self.order(inOrder.0, old.orderColumn, among: SQLiteName.quoted(old.column), by: "Z_PK")
      return Self.pairs(old.column, "Z_PK", old.table, order, "\(RelationshipWriter.gap)")
    case .join(let old):
      guard old.isReflexive == place.isReflexive, !place.isReflexive || !inOrder.0 else {
        throw MigrationObstacle("a relationship that is its own inverse gets another form")
      }
      let (own, other) = (SQLiteName.quoted(old.ownColumn), SQLiteName.quoted(old.otherColumn))
      return Self.pairs(
        old.ownColumn,
        old.otherColumn,
        old.table,
        Self.order(inOrder.0, old.orderColumn, among: own, by: other),
        Self.order(inOrder.1, old.inverseOrderColumn, among: other, by: own)
      )
    case .attribute: throw MigrationObstacle("a relationship is made of an attribute")
    }
  }

  /// Returns the table of the rows with the column of a to-one relationship.
  private func tableOfOwners(
    _ property: PropertyPlacement,
    _ source: PropertyPlacement
  ) throws(MigrationObstacle) -> String {
    let owners = slots.lazy.filter { $0.property == property && $0.source == source }
    let tables = Set(owners.map(\.entity.source.tableName))
    guard let table = tables.first, tables.count == 1 else {
      throw MigrationObstacle("a relationship was kept in several tables")
    }
    return table
  }

  private static func pairs(
    _ owner: String,
    _ member: String,
    _ table: String,
    _ place: String,
    _ inversePlace: String
  ) -> String {
    let (owner, member) = (SQLiteName.quoted(owner), SQLiteName.quoted(member))
    return "SELECT \(owner) AS owner, \(member) AS member, \(place) AS place, \(inversePlace) AS inversePlace "
      + "FROM \(SQLFragment.old(table)) WHERE \(owner) IS NOT NULL AND \(member) IS NOT NULL"
  }

  /// Returns the previous positions of an order, or new ones; NULL if the relationship has no order.
  private static func order(_ isOrdered: Bool, _ column: String?, among owner: String, by key: String) -> String {
    guard isOrdered else { return "NULL" }
    return column.map(SQLiteName.quoted) ?? SQLFragment.place(among: owner, by: key)
  }
}

// MARK: Columns in the rows of members

extension MigrationTranslator {
  /// Adds the columns of relationships without an inverse to the rows of their destinations.
  mutating func addOwnedColumns() throws(MigrationObstacle) {
    let slots = slots
    var seen: Set<PropertyPlacement> = []
    for slot in slots {
      guard case .toMany(let place) = slot.property, place.ownsColumn, seen.insert(slot.property).inserted,
        let source = try source(of: slot.property, slots)
      else { continue }
      guard case .toMany(let old) = source else {
        throw MigrationObstacle("a relationship without an inverse was kept in another form")
      }
      try checkOwners(of: source, slots.filter { $0.property == slot.property }.map(\.entity.source.number))
      for index in entities.indices {
        guard entities[index].destination.tableName == place.table, entities[index].source.tableName == old.table else {
          continue
        }
        entities[index].columns.append((place.column, SQLFragment(SQLiteName.quoted(old.column))))
        guard let orderColumn = place.orderColumn else { continue }
        var entity = entities[index]
        addOrder(orderColumn, old.orderColumn, column: place.column, to: &entity)
        entities[index] = entity
      }
    }
  }

  /// Checks that no rows of an entity that loses the relationship would keep it: rows contain their owner, but not its
  /// entity.
  private func checkOwners(of source: PropertyPlacement?, _ owners: [Int]) throws(MigrationObstacle) {
    for entity in entities where entity.source.properties.contains(source) {
      guard !owners.contains(entity.source.number) else { continue }
      throw MigrationObstacle("a relationship without an inverse is removed from some of its entities")
    }
  }
}
