import HeartwoodModel

/// The columns of a table of records.
extension SchemaPlan {
  /// The position of a column: columns of one kind are together, and within them those of one entity. Integers and
  /// relationships of an entity are not separated.
  private struct Place: Comparable {
    enum Kind: Int { case number, owner, order, float, decimal, text, uri, uuid, transformable, blob }

    let kind: Kind
    let member: Int
    let isRelationship: Bool
    let sequence: Int

    static func < (left: Place, right: Place) -> Bool {
      (left.kind.rawValue, left.member, left.isRelationship ? 1 : 0, left.sequence)
        < (right.kind.rawValue, right.member, right.isRelationship ? 1 : 0, right.sequence)
    }
  }

  /// Columns that are being put together.
  private struct Columns {
    private var placed: [(place: Place, column: Column)] = []
    private var names = UniqueNames(reserved: [SQLiteName.primaryKey, SQLiteName.entity, SQLiteName.version])

    mutating func add(
      _ name: String,
      _ type: SQLiteColumnType,
      _ role: ColumnRole,
      _ kind: Place.Kind,
      member: Int,
      isRelationship: Bool = false
    ) {
      let place = Place(kind: kind, member: member, isRelationship: isRelationship, sequence: placed.count)
      placed.append((place, Column(name: names.unique(name), type: type, role: role)))
    }

    var sorted: [Column] { placed.sorted { $0.place < $1.place }.map(\.column) }
  }

  func table(of root: EntityForest.Member, name: String) -> Table {
    var columns = Columns()
    let members = forest.members.filter { $0.root === root.entity }
    for (index, member) in members.enumerated() {
      for slot in ownSlots(member) { add(slot, to: &columns, member: index) }
    }
    for slot in slots where leadsHereWithoutInverse(slot, root.entity) { addOwner(slot, to: &columns) }
    let fixed = [SQLiteName.primaryKey, SQLiteName.entity, SQLiteName.version].map {
      Column(name: $0, type: .integer, role: .row($0))
    }
    return Table(name: name, root: root.entity, columns: fixed + columns.sorted)
  }

  private func add(_ slot: PropertySlot, to columns: inout Columns, member: Int) {
    switch property(slot) {
    case .attribute(let attribute):
      let type = AttributeStorage(attribute).columnType
      columns.add(SQLiteName.plain(attribute.name), type, .value(slot), Self.kind(attribute), member: member)
    case .relationship(let relationship) where !relationship.isToMany:
      addToOne(slot, relationship.name, to: &columns, member: member)
    case .relationship: break
    }
  }

  private func addToOne(_ slot: PropertySlot, _ name: String, to columns: inout Columns, member: Int) {
    columns.add(SQLiteName.plain(name), .integer, .value(slot), .number, member: member, isRelationship: true)
    if let destination = destination(of: slot), forest.hasSubentities(destination) {
      let column = SQLiteName.entityColumn(number(destination), name)
      columns.add(column, .integer, .entity(slot), .number, member: member, isRelationship: true)
    }
    if let inverse = inverse(of: slot), isOrdered(inverse) {
      columns.add(SQLiteName.orderPrefix + name.uppercased(), .integer, .order(slot), .order, member: member)
    }
  }

  private func leadsHereWithoutInverse(_ slot: PropertySlot, _ root: EntityDescription) -> Bool {
    guard isToMany(slot), inverse(of: slot) == nil, let destination = destination(of: slot) else { return false }
    return forest[destination.ordinal]?.root === root
  }

  private func addOwner(_ slot: PropertySlot, to columns: inout Columns) {
    let owner = number(model.entities[slot.entity])
    columns.add(SQLiteName.numbered(owner, name(slot)), .integer, .owner(slot), .owner, member: 0)
    guard isOrdered(slot) else { return }
    let order = SQLiteName.orderPrefix + "\(owner)" + name(slot).uppercased()
    columns.add(order, .integer, .ownerOrder(slot), .order, member: Int.max)
  }

  private static func kind(_ attribute: AttributeDescription) -> Place.Kind {
    switch attribute.type {
    case .integer16, .integer32, .integer64, .boolean: .number
    case .double, .float, .date: .float
    case .decimal: .decimal
    case .string: .text
    case .uri: .uri
    case .uuid: .uuid
    case .transformable, .undefined: .transformable
    case .binary: .blob
    }
  }
}

// MARK: Placements

/// The placement of each property according to the plan.
extension SchemaPlan {
  /// Indexed by the ordinal of the entity in the model; nil for entities that the store does not keep.
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

  /// Names by their purpose.
  private struct Lookup {
    let columns: [ColumnRole: String]
    /// The tables, by the ordinal of the root entity.
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

// MARK: Indexes

/// The indexes, in the order in which Core Data creates them.
extension SchemaPlan {
  var indexes: [SQLiteIndex] {
    var names = UniqueNames(reserved: tables.map(\.name) + joins.map(\.name))
    return tables.flatMap { table in
      relationshipIndexes(table, &names) + joinIndexes(table, &names) + declaredIndexes(table, &names)
    }
  }

  private func relationshipIndexes(_ table: Table, _ names: inout UniqueNames) -> [SQLiteIndex] {
    var columns = table.columns.filter { column in
      switch column.role {
      case .value(let slot): relationship(slot) != nil
      case .owner: true
      case .row, .entity, .order, .ownerOrder: false
      }
    }.map(\.name)
    if forest.hasSubentities(table.root) { columns.append(SQLiteName.entity) }
    return columns.map { column in
      SQLiteIndex(
        name: names.unique("\(table.name)_\(column)_INDEX"),
        tableName: table.name,
        terms: [SQLiteIndex.Term(column: column, isAscending: nil)],
        isUnique: false
      )
    }
  }

  /// Returns the indexes by the keys of the other end: the table's own key covers the first.
  private func joinIndexes(_ table: Table, _ names: inout UniqueNames) -> [SQLiteIndex] {
    joins.filter { forest[$0.relationship.entity]?.root === table.root }.map { join in
      SQLiteIndex(
        name: names.unique("\(join.name)_\(join.otherColumn)_INDEX"),
        tableName: join.name,
        terms: [join.otherColumn, join.ownColumn].map { SQLiteIndex.Term(column: $0, isAscending: nil) },
        isUnique: false
      )
    }
  }

  /// Returns the indexes and the constraints that the model declares. An index with a condition, an expression or an
  /// R-tree is left out, because it only improves performance.
  private func declaredIndexes(_ table: Table, _ names: inout UniqueNames) -> [SQLiteIndex] {
    let columns = Dictionary(table.columns.map { ($0.role, $0.name) }) { first, _ in first }
    var indexes: [SQLiteIndex] = []
    for member in forest.members where member.root === table.root {
      let definition = member.entity.definition
      for index in definition.fetchIndexes where index.partialIndexPredicate == nil {
        guard let terms = terms(index.elements, of: member.entity, columns) else { continue }
        let name = names.unique("Z_\(definition.name)_\(index.name)")
        indexes.append(SQLiteIndex(name: name, tableName: table.name, terms: terms, isUnique: false))
      }
      for attributes in definition.uniquenessConstraints
      where attributes.allSatisfy({ member.entity.property(named: $0)?.attribute != nil }) {
        let elements = attributes.map { FetchIndexElementDescription(.property($0)) }
        guard let terms = terms(elements, of: member.entity, columns) else { continue }
        let name = names.unique("Z_\(definition.name)_UNIQUE_\(attributes.joined(separator: "_"))")
        var index = SQLiteIndex(name: name, tableName: table.name, terms: terms, isUnique: true)
        if isInherited(attributes, member) { index.entityNumbers = numbers(under: member.entity) }
        indexes.append(index)
      }
    }
    return indexes
  }

  /// Returns whether an entity inherits all of the attributes from another one, whose records outside the constraint
  /// have values too.
  private func isInherited(_ attributes: [String], _ member: EntityForest.Member) -> Bool {
    let own = Set(member.ownProperties.map { member.entity.properties[$0].name })
    return own.isDisjoint(with: attributes)
  }

  /// Returns the numbers of an entity and all its subentities.
  private func numbers(under entity: EntityDescription) -> [Int] {
    forest.members.filter { $0.entity.isKind(of: entity) }.map { number($0.entity) }.sorted()
  }

  private func terms(
    _ elements: [FetchIndexElementDescription],
    of entity: EntityDescription,
    _ columns: [ColumnRole: String]
  ) -> [SQLiteIndex.Term]? {
    let terms = elements.compactMap { element -> SQLiteIndex.Term? in
      guard element.collationType == .binary,
        let slot = element.propertyName.flatMap(entity.ordinal(ofProperty:)).flatMap({ slot($0, of: entity) }),
        let column = columns[.value(slot)]
      else { return nil }
      return SQLiteIndex.Term(column: column, isAscending: element.isAscending)
    }
    return terms.count == elements.count && !terms.isEmpty ? terms : nil
  }
}
