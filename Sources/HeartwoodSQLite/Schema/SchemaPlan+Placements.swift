import HeartwoodModel

/// What the plan says of each property.
extension SchemaPlan {
  /// Indexed by the ordinal of the entity in the model; nil for those that the store does not keep.
  var placements: [EntityPlacement?] {
    let lookup = Lookup(self)
    return model.entities.map { entity in
      guard let member = forest[entity.ordinal], let table = lookup.tables[member.root.ordinal] else { return nil }
      return EntityPlacement(
        entity: entity,
        number: number(entity),
        rootName: member.root.name,
        rootNumber: number(member.root),
        tableName: table,
        properties: entity.properties.indices.map { property in
          entity.properties[property].isTransient ? nil : slot(property, of: entity).flatMap { placement($0, lookup) }
        }
      )
    }
  }

  /// Names by what they are for.
  private struct Lookup {
    let columns: [ColumnRole: String]
    /// By the ordinal of the topmost entity.
    let tables: [Int: String]
    let joins: [PropertySlot: JoinPlacement]

    init(_ plan: SchemaPlan) {
      columns = Dictionary(plan.tables.flatMap(\.columns).map { ($0.role, $0.name) }) { first, _ in first }
      tables = Dictionary(plan.tables.map { ($0.root.ordinal, $0.name) }) { first, _ in first }
      joins = Dictionary(plan.joins.flatMap { [($0.relationship, $0.placement), ($0.inverse, $0.placement.inverse)] }) {
        first,
        _ in first
      }
    }
  }

  private func placement(_ slot: PropertySlot, _ lookup: Lookup) -> PropertyPlacement? {
    switch property(slot) {
    case .attribute(let attribute):
      lookup.columns[.value(slot)].map {
        .attribute(AttributePlacement(column: $0, storage: AttributeStorage(attribute)))
      }
    case .relationship(let relationship) where relationship.isToMany: toMany(slot, lookup)
    case .relationship:
      lookup.columns[.value(slot)].map {
        .toOne(
          ToOnePlacement(
            column: $0,
            entityColumn: lookup.columns[.entity(slot)],
            orderColumn: lookup.columns[.order(slot)]
          )
        )
      }
    }
  }

  private func toMany(_ slot: PropertySlot, _ lookup: Lookup) -> PropertyPlacement? {
    if let join = lookup.joins[slot] { return .join(join) }
    guard let destination = destination(of: slot), let root = forest[destination.ordinal]?.root,
      let table = lookup.tables[root.ordinal]
    else { return nil }
    let inverse = inverse(of: slot)
    let role = inverse.map(ColumnRole.value) ?? .owner(slot)
    return lookup.columns[role].map { column in
      .toMany(
        ToManyPlacement(
          table: table,
          column: column,
          entityColumn: inverse.flatMap { lookup.columns[.entity($0)] },
          orderColumn: isOrdered(slot) ? lookup.columns[inverse.map(ColumnRole.order) ?? .ownerOrder(slot)] : nil,
          ownsColumn: inverse == nil
        )
      )
    }
  }
}

extension SchemaPlan.Join {
  fileprivate var placement: JoinPlacement {
    JoinPlacement(
      table: name,
      ownColumn: ownColumn,
      otherColumn: otherColumn,
      orderColumn: orderColumn,
      inverseOrderColumn: inverseOrderColumn,
      isReflexive: isReflexive
    )
  }

  var table: SQLiteTable {
    let keys = [ownColumn, otherColumn]
    return SQLiteTable(
      name: name,
      columns: (keys + [orderColumn, inverseOrderColumn].compactMap(\.self)).map { .init(name: $0, type: .integer) },
      compoundKey: keys
    )
  }
}
