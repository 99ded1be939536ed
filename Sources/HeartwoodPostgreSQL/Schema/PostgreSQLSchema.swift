import HeartwoodModel
import HeartwoodStore

/// The tables of a store: one for each root entity, with columns for the properties of all its subentities, and one for
/// each many-to-many relationship.
///
/// The schema depends only on the model, and the same model always gives the same names. An entity or a property gets
/// another name if its `userInfo` contains one under ``nameKey``.
struct PostgreSQLSchema: Sendable {
  /// The key of `userInfo` under which a model specifies the name of a table or a column.
  static let nameKey = "postgresName"
  static let storeTable = "heartwood_store"
  static let markTable = "heartwood_mark"
  /// A table of the records that the last saves have changed.
  static let logTable = "heartwood_log"
  static let ownTables = [logTable, markTable, storeTable]

  /// The name of the PostgreSQL schema.
  private(set) var name: String
  let model: ManagedObjectModel
  let tables: [RecordTable]
  let joins: [JoinTable]
  private let placements: [EntityPlacement?]
  /// The subqueries that stand for tables of another program.
  private var sources: [String: String] = [:]

  /// - Throws: ``PersistenceError/Code/capabilityMissing`` if the destination of a relationship is an entity that the
  ///   store does not keep.
  init(name: String, model: ManagedObjectModel, entities: [EntityDescription])
    throws(PersistenceError)
  {
    var builder = SchemaBuilder(model, entities)
    try builder.build()
    self.name = name
    self.model = model
    tables = builder.tables
    joins = builder.joins
    placements = builder.placements
  }

  /// Describes tables of another program, which are only read.
  ///
  /// - Parameter sources: the subquery for the table of each placement.
  init(name: String, model: ManagedObjectModel, placements: [EntityPlacement?], sources: [String: String]) {
    (self.name, self.model) = (name, model)
    (tables, joins) = ([], [])
    (self.placements, self.sources) = (placements, sources)
  }

  func keeps(_ entity: EntityDescription) -> Bool {
    placements.indices.contains(entity.ordinal) && placements[entity.ordinal] != nil
  }

  func placement(of entity: EntityDescription) throws(PersistenceError) -> EntityPlacement {
    if placements.indices.contains(entity.ordinal), let placement = placements[entity.ordinal] {
      return placement
    }
    throw PersistenceError(
      .entityUnknown,
      "The store keeps no records of the entity.",
      context: .init(storeType: .postgreSQL, entity: entity.name)
    )
  }

  /// The names of all tables; those of the store itself come last.
  var allTables: [String] {
    tables.map(\.name) + joins.map(\.name) + Self.historyTables + Self.ownTables
  }

  /// Returns the same tables in another schema.
  func renamed(_ name: String) -> PostgreSQLSchema {
    var schema = self
    schema.name = name
    return schema
  }

  /// Returns what a query reads the rows of a table from.
  func source(_ table: String) -> String { sources[table] ?? qualified(table) }

  /// Returns the quoted name of a table with its schema.
  func qualified(_ table: String) -> String {
    "\(PostgreSQLName.quoted(name)).\(PostgreSQLName.quoted(table))"
  }
}

// MARK: SchemaBuilder

private struct SchemaBuilder {
  private let model: ManagedObjectModel
  private let entities: [EntityDescription]
  private(set) var tables: [RecordTable] = []
  private(set) var joins: [JoinTable] = []
  private(set) var placements: [EntityPlacement?]
  /// The indexes in ``tables`` of the root entities' tables, by the ordinal of the entity.
  private var tablePlaces: [Int: Int] = [:]
  private var columnNames: [NameSpace] = []
  private var tableNames = NameSpace(
    reserved: Set(PostgreSQLSchema.historyTables + PostgreSQLSchema.ownTables)
  )

  /// A relationship of the entity that declares it.
  private struct Side: Hashable {
    let entity: Int
    let ordinal: Int
  }

  private var joinPlacements: [Side: JoinPlacement] = [:]

  init(_ model: ManagedObjectModel, _ entities: [EntityDescription]) {
    self.model = model
    self.entities = entities
    placements = Array(repeating: nil, count: model.entities.count)
  }

  /// The entities of all hierarchies in which the store keeps an entity, superentities first.
  private var placed: [EntityDescription] {
    let roots = Set(entities.map(\.rootEntity.ordinal))
    return model.entities.filter { roots.contains($0.rootEntity.ordinal) }.map { ($0, depth($0)) }
      .sorted { ($0.1, $0.0.ordinal) < ($1.1, $1.0.ordinal) }.map(\.0)
  }

  private func depth(_ entity: EntityDescription) -> Int {
    entity.superentity.map { depth($0) + 1 } ?? 0
  }

  mutating func build() throws(PersistenceError) {
    let placed = placed
    for entity in placed where entity.superentity == nil { addTable(entity) }
    for entity in placed { try addColumns(entity) }
    for entity in placed { try addToManies(entity) }
    for entity in placed { addConstraints(entity) }
  }

  private mutating func addTable(_ root: EntityDescription) {
    let name = tableNames.name([
      root.userInfo[PostgreSQLSchema.nameKey] ?? "", PostgreSQLName.snakeCase(root.name),
    ])
    tablePlaces[root.ordinal] = tables.count
    tables.append(RecordTable(name: name, defaultEntity: root.isAbstract ? nil : root.name))
    columnNames.append(.ofColumns)
  }

  private func tablePlace(_ entity: EntityDescription) -> Int? {
    tablePlaces[entity.rootEntity.ordinal]
  }

  private func inheritedCount(_ entity: EntityDescription) -> Int {
    entity.superentity?.properties.count ?? 0
  }

  /// Adds the columns of attributes and to-one relationships.
  private mutating func addColumns(_ entity: EntityDescription) throws(PersistenceError) {
    guard let place = tablePlace(entity) else { return }
    let inherited = entity.superentity.flatMap { placements[$0.ordinal]?.properties } ?? []
    var properties = inherited
    for ordinal in inheritedCount(entity)..<entity.properties.count {
      properties.append(try placement(entity, ordinal, place))
    }
    let concrete = model.concreteEntities(under: entity.rootEntity)
    placements[entity.ordinal] = EntityPlacement(
      entity: entity,
      table: tables[place].name,
      isAlone: concrete.count == 1,
      properties: properties
    )
  }

  private mutating func placement(
    _ entity: EntityDescription,
    _ ordinal: Int,
    _ place: Int
  ) throws(PersistenceError) -> PropertyPlacement? {
    let property = entity.properties[ordinal]
    if property.isTransient { return nil }
    switch property {
    case .attribute(let attribute):
      guard let type = AttributeField.columnType(attribute.type) else { return nil }
      let column = columnName(property, of: entity, suffix: "", place)
      tables[place].columns.append((column, type.definition))
      var exactColumn: String?
      if type == .timestamptz {
        exactColumn = columnNames[place].name(["\(column)_exact"])
        if let exactColumn {
          tables[place].columns.append((exactColumn, PostgreSQLType.double.definition))
          tables[place].dates.append((column, exactColumn))
        }
      }
      return .attribute(
        AttributePlacement(
          type: attribute.type,
          columnType: type,
          column: column,
          exactColumn: exactColumn
        )
      )
    case .relationship(let relationship):
      let destination = try destination(entity, ordinal)
      if relationship.isToMany { return nil }
      let column = columnName(property, of: entity, suffix: "_id", place)
      tables[place].columns.append((column, PostgreSQLType.uuid.definition))
      tables[place].references.append((column, destination.table))
      return .toOne(ToOnePlacement(column: column, destination: destination))
    }
  }

  private mutating func columnName(
    _ property: PropertyDescription,
    of entity: EntityDescription,
    suffix: String,
    _ place: Int
  ) -> String {
    let name = PostgreSQLName.snakeCase(property.name)
    return columnNames[place].name([
      property.userInfo[PostgreSQLSchema.nameKey] ?? "", name + suffix,
      "\(PostgreSQLName.snakeCase(entity.name))_\(name)\(suffix)",
    ])
  }

  private func destination(_ entity: EntityDescription, _ ordinal: Int) throws(PersistenceError)
    -> Destination
  {
    let target = entity.relationshipTargets[ordinal].map { model.entities[$0.entityOrdinal] }
    guard let target, let place = tablePlace(target) else {
      throw PersistenceError(
        .capabilityMissing,
        "The relationship refers to an entity that the store does not keep.",
        recovery: "Keep both in the same configuration.",
        context: .init(
          storeType: .postgreSQL,
          entity: entity.name,
          property: entity.properties[ordinal].name
        )
      )
    }
    let concrete = model.concreteEntities(under: target)
    return Destination(
      table: tables[place].name,
      entities: Dictionary(concrete.map { ($0.name, $0) }) { first, _ in first }
    )
  }
}

// MARK: Relationships to many

extension SchemaBuilder {
  /// Adds to-many relationships, whose inverses must have been added.
  private mutating func addToManies(_ entity: EntityDescription) throws(PersistenceError) {
    if let superentity = entity.superentity, let inherited = placements[superentity.ordinal] {
      for ordinal in inherited.properties.indices {
        placements[entity.ordinal]?.properties[ordinal] = inherited.properties[ordinal]
      }
    }
    for ordinal in inheritedCount(entity)..<entity.properties.count {
      guard let relationship = entity.properties[ordinal].relationship, relationship.isToMany,
        !relationship.isTransient
      else { continue }
      let property = try toMany(entity, ordinal, relationship)
      placements[entity.ordinal]?.properties[ordinal] = property
    }
  }

  private mutating func toMany(
    _ entity: EntityDescription,
    _ ordinal: Int,
    _ relationship: RelationshipDescription
  ) throws(PersistenceError) -> PropertyPlacement {
    let destination = try destination(entity, ordinal)
    let side = Side(entity: entity.ordinal, ordinal: ordinal)
    guard let inverse = mutualInverse(entity, ordinal) else {
      return .join(try join(side, nil, relationship, destination))
    }
    let owner = model.entities[inverse.entity]
    guard case .toOne(let place) = placements[inverse.entity]?.properties[inverse.ordinal] else {
      return .join(try join(side, inverse, relationship, destination))
    }
    var positionColumn: String?
    if relationship.isOrdered, let table = tablePlace(owner) {
      let base = place.column.hasSuffix("_id") ? String(place.column.dropLast(3)) : place.column
      positionColumn = columnNames[table].name(["\(base)_position"])
      if let positionColumn {
        tables[table].columns.append((positionColumn, PostgreSQLType.bigint.definition))
      }
    }
    return .toMany(
      ToManyPlacement(
        column: place.column,
        positionColumn: positionColumn,
        destination: destination
      )
    )
  }

  /// Returns the relationship that is stored together with a relationship, at the entity that declares it. Models from
  /// other sources may name an inverse that does not refer back, or whose own inverse is another one: each is then
  /// stored by itself.
  private func mutualInverse(_ entity: EntityDescription, _ ordinal: Int) -> Side? {
    guard let target = entity.relationshipTargets[ordinal],
      let inverseOrdinal = target.inverseOrdinal
    else {
      return nil
    }
    let destination = model.entities[target.entityOrdinal]
    guard destination.relationshipTargets.indices.contains(inverseOrdinal),
      let back = destination.relationshipTargets[inverseOrdinal],
      let backOrdinal = back.inverseOrdinal,
      !destination.properties[inverseOrdinal].isTransient,
      declaration(model.entities[back.entityOrdinal], backOrdinal) == declaration(entity, ordinal)
    else { return nil }
    return declaration(destination, inverseOrdinal)
  }

  private func declaration(_ entity: EntityDescription, _ ordinal: Int) -> Side {
    var entity = entity
    while let superentity = entity.superentity, ordinal < superentity.properties.count {
      entity = superentity
    }
    return Side(entity: entity.ordinal, ordinal: ordinal)
  }

  private mutating func join(
    _ side: Side,
    _ inverse: Side?,
    _ relationship: RelationshipDescription,
    _ destination: Destination
  ) throws(PersistenceError) -> JoinPlacement {
    let entity = model.entities[side.entity]
    if let inverse, inverse != side, let other = joinPlacements[inverse] {
      // The table exists already: this is its other side.
      let position = relationship.isOrdered ? addPosition(relationship, to: other.table) : nil
      return JoinPlacement(
        table: other.table,
        ownColumn: other.otherColumn,
        otherColumn: other.ownColumn,
        positionColumn: position,
        isReflexive: false,
        destination: destination
      )
    }
    let own = placements[side.entity]?.table ?? ""
    let name = tableNames.name([
      relationship.userInfo[PostgreSQLSchema.nameKey] ?? "",
      "\(own)_\(PostgreSQLName.snakeCase(relationship.name))",
    ])
    let columns = joinColumns(entity, relationship)
    joins.append(
      JoinTable(name: name, columns: [(columns.own, own), (columns.other, destination.table)])
    )
    let placement = JoinPlacement(
      table: name,
      ownColumn: columns.own,
      otherColumn: columns.other,
      positionColumn: relationship.isOrdered ? addPosition(relationship, to: name) : nil,
      isReflexive: inverse == side,
      destination: destination
    )
    joinPlacements[side] = placement
    return placement
  }

  private func joinColumns(
    _ entity: EntityDescription,
    _ relationship: RelationshipDescription
  ) -> (own: String, other: String) {
    let own = PostgreSQLName.shortened(PostgreSQLName.snakeCase(entity.name) + "_id")
    let other = PostgreSQLName.shortened(
      PostgreSQLName.snakeCase(relationship.destinationEntityName) + "_id"
    )
    return own == other ? ("source_id", "target_id") : (own, other)
  }

  private mutating func addPosition(_ relationship: RelationshipDescription, to table: String)
    -> String
  {
    guard let place = joins.firstIndex(where: { $0.name == table }) else { return "" }
    var names = NameSpace(
      reserved: Set(joins[place].columns.map(\.name) + joins[place].positionColumns)
    )
    let name = names.name(["\(PostgreSQLName.snakeCase(relationship.name))_position"])
    joins[place].positionColumns.append(name)
    return name
  }
}

// MARK: Constraints

extension SchemaBuilder {
  private mutating func addConstraints(_ entity: EntityDescription) {
    guard let place = tablePlace(entity), let placement = placements[entity.ordinal] else { return }
    let inherited = entity.superentity?.uniquenessConstraints.count ?? 0
    for constraint in entity.uniquenessConstraints.dropFirst(inherited) {
      let columns = constraint.flatMap { placement.valueColumns($0) }
      if columns.isEmpty { continue }
      let entities =
        entity.superentity == nil ? nil : model.concreteEntities(under: entity).map(\.name)
      tables[place].uniqueColumns.append((columns, entities))
    }
    for index in entity.definition.fetchIndexes { addIndex(index, placement, place) }
  }

  /// An index only improves performance, so one without a column that PostgreSQL can order is left out.
  private mutating func addIndex(
    _ index: FetchIndexDescription,
    _ placement: EntityPlacement,
    _ place: Int
  ) {
    var columns: [(String, Bool)] = []
    for element in index.elements {
      guard element.collationType == .binary, let name = element.propertyName,
        let ordinal = placement.entity.ordinal(ofProperty: name)
      else { return }
      let names = placement.valueColumns(ordinal)
      if names.isEmpty { return }
      if case .attribute(let attribute) = placement.properties[ordinal],
        attribute.columnType == .bytea
      {
        return
      }
      columns += names.map { ($0, element.isAscending) }
    }
    if !columns.isEmpty { tables[place].indexes.append(columns) }
  }
}

extension EntityPlacement {
  /// Returns the columns that together contain the value of an attribute or a to-one relationship, in the order in
  /// which they are compared.
  func valueColumns(_ ordinal: Int) -> [String] {
    switch properties[ordinal] {
    case .attribute(let place): [place.column] + (place.exactColumn.map { [$0] } ?? [])
    case .toOne(let place): [place.column]
    case .toMany, .join, nil: []
    }
  }
}
