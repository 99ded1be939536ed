import HeartwoodModel
import HeartwoodStore

// What is kept elsewhere than in the row of the record whose relationship it is.

extension MigrationTranslator {
  /// A relationship as one entity has it.
  private struct Slot {
    let property: PropertyPlacement
    /// Where it was kept; nil for a new one.
    let source: PropertyPlacement?
    let entity: EntityTranslation
    let ordinal: Int
  }

  /// All relationships of records that there may be.
  private var slots: [Slot] {
    entities.flatMap { entity in
      entity.destination.properties.enumerated().compactMap { ordinal, property -> Slot? in
        guard let property, entity.plan.destination.properties[ordinal].relationship != nil else { return nil }
        let source = entity.plan.columns[ordinal].sourceOrdinal.flatMap { entity.source.properties[$0] }
        return Slot(property: property, source: source, entity: entity, ordinal: ordinal)
      }
    }
  }

  /// Where the relationship that is kept at `property` was kept, by all entities that have it.
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
    // What only the second of two entities has would be passed over.
    for slot in slots where slot.source != nil {
      guard case .join(let place) = slot.property, !joins.contains(where: { $0.place.table == place.table }) else {
        continue
      }
      throw MigrationObstacle("a relationship between many and many is new at one end")
    }
  }

  /// The pairs of a relationship that was kept at `source`, and its inverse at `inverse`.
  private func pairs(
    _ source: PropertyPlacement,
    _ inverse: PropertyPlacement?,
    _ place: JoinPlacement
  ) throws(MigrationObstacle) -> String {
    let inOrder = (place.orderColumn != nil, place.inverseOrderColumn != nil)
    switch source {
    case .toOne(let old):
      if case .toOne = inverse { throw MigrationObstacle("both ends of a relationship led to one object") }
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

  /// The table of the rows with the column of a to-one relationship.
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

  /// The places of an order as they were, or new ones; nothing where there is to be no order.
  private static func order(_ isOrdered: Bool, _ column: String?, among owner: String, by key: String) -> String {
    guard isOrdered else { return "NULL" }
    return column.map(SQLiteName.quoted) ?? SQLFragment.place(among: owner, by: key)
  }
}

// MARK: Columns in the rows of members

extension MigrationTranslator {
  /// Adds the columns of relationships without an inverse to the rows that they lead to.
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

  /// Rows tell their owner, and not of which entity it is: those of one that is not to have the relationship any more would keep it.
  private func checkOwners(of source: PropertyPlacement?, _ owners: [Int]) throws(MigrationObstacle) {
    for entity in entities where entity.source.properties.contains(source) {
      guard !owners.contains(entity.source.number) else { continue }
      throw MigrationObstacle("a relationship without an inverse goes from some of those that had it")
    }
  }
}
