import HeartwoodModel

/// What the plan says of each property.
extension SchemaPlan {
  /// Indexed by the ordinal of the entity in the model; nil for those that the store does not keep.
  var mappings: [EntityMapping?] {
    let lookup = Lookup(self)
    return model.entities.map { entity in
      guard let member = forest[entity.ordinal], let table = lookup.tables[member.root.ordinal] else { return nil }
      return EntityMapping(
        entity: entity,
        number: number(entity),
        rootName: member.root.name,
        rootNumber: number(member.root),
        tableName: table,
        properties: entity.properties.indices.map { property in
          entity.properties[property].isTransient ? nil : slot(property, of: entity).flatMap { mapping($0, lookup) }
        }
      )
    }
  }

  /// Names by what they are for.
  private struct Lookup {
    let columns: [ColumnRole: String]
    /// By the ordinal of the topmost entity.
    let tables: [Int: String]
    let joins: [PropertySlot: JoinMapping]

    init(_ plan: SchemaPlan) {
      columns = Dictionary(plan.tables.flatMap(\.columns).map { ($0.role, $0.name) }) { first, _ in first }
      tables = Dictionary(plan.tables.map { ($0.root.ordinal, $0.name) }) { first, _ in first }
      joins = Dictionary(plan.joins.flatMap { [($0.relationship, $0.mapping), ($0.inverse, $0.mapping.inverse)] }) {
        first,
        _ in first
      }
    }
  }

  private func mapping(_ slot: PropertySlot, _ lookup: Lookup) -> PropertyMapping? {
    switch property(slot) {
    case .attribute(let attribute):
      lookup.columns[.value(slot)].map {
        .attribute(AttributeMapping(column: $0, storage: AttributeStorage(attribute)))
      }
    case .relationship(let relationship) where relationship.isToMany: toMany(slot, lookup)
    case .relationship:
      lookup.columns[.value(slot)].map {
        .toOne(
          ToOneMapping(
            column: $0,
            entityColumn: lookup.columns[.entity(slot)],
            orderColumn: lookup.columns[.order(slot)]
          )
        )
      }
    }
  }

  private func toMany(_ slot: PropertySlot, _ lookup: Lookup) -> PropertyMapping? {
    if let join = lookup.joins[slot] { return .join(join) }
    guard let destination = destination(of: slot), let root = forest[destination.ordinal]?.root,
      let table = lookup.tables[root.ordinal]
    else { return nil }
    let inverse = inverse(of: slot)
    let role = inverse.map(ColumnRole.value) ?? .owner(slot)
    return lookup.columns[role].map { column in
      .toMany(
        ToManyMapping(
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
  fileprivate var mapping: JoinMapping {
    JoinMapping(
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
