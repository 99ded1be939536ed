import HeartwoodModel
import HeartwoodStore

/// The tables of another program, as the `userInfo` of a model names them.
///
/// | key | of | names |
/// | --- | --- | --- |
/// | `postgresName` | entity | the table or view |
/// | `postgresKey` | entity | the column with the key |
/// | `postgresName` | attribute, to-one relationship | the column |
/// | `postgresName` | to-many relationship | the table of pairs |
/// | `postgresKey`, `postgresDestinationKey` | the same | its columns: the record's own key, and the other one |
/// | `postgresPosition` | ordered relationship | the column with the order |
struct ForeignSchema: Sendable {
  /// The keys of `userInfo`, beside ``PostgreSQLSchema/nameKey``.
  static let (keyKey, destinationKeyKey) = ("postgresKey", "postgresDestinationKey")
  static let positionKey = "postgresPosition"

  /// The tables for ``FetchTranslator``: each is a subquery with a column for each property.
  let translated: PostgreSQLSchema
  private let entities: [Int: ForeignEntity]

  /// Returns whether a model names the columns of keys, and so may describe tables of another program.
  static func isDescribed(by entities: [EntityDescription]) -> Bool {
    entities.contains { $0.userInfo[keyKey] != nil }
  }

  /// Returns the name of the table of an entity.
  static func table(_ entity: EntityDescription) -> String {
    entity.userInfo[PostgreSQLSchema.nameKey] ?? PostgreSQLName.snakeCase(entity.name)
  }

  /// - Throws: ``PersistenceError/Code/fileMalformed`` for tables and columns that are missing or have types that
  ///   cannot be read, and ``PersistenceError/Code/capabilityMissing`` for subentities and relationships that are in no
  ///   table.
  init(name: String, model: ManagedObjectModel, entities: [EntityDescription], _ catalog: Catalog)
    throws(PersistenceError)
  {
    var builder = ForeignSchemaBuilder(name, model, catalog)
    for entity in entities { try builder.addKey(entity) }
    for entity in entities { try builder.addColumns(entity) }
    for entity in entities { try builder.addLinks(entity) }
    self.entities = builder.entities
    var placements = [EntityPlacement?](repeating: nil, count: model.entities.count)
    for (ordinal, entity) in builder.entities { placements[ordinal] = entity.placement }
    let sources = builder.entities.values.map { ($0.entity.name, $0.source(schema: name)) }
    translated = PostgreSQLSchema(
      name: name,
      model: model,
      placements: placements,
      sources: Dictionary(sources) { first, _ in first }
    )
  }

  func entity(_ entity: EntityDescription) throws(PersistenceError) -> ForeignEntity {
    if let found = entities[entity.ordinal] { return found }
    throw PersistenceError(
      .entityUnknown,
      "The store keeps no records of the entity.",
      context: .init(storeType: .postgreSQL, entity: entity.name)
    )
  }
}

/// An entity, and the table of another program with its records.
struct ForeignEntity: Sendable {
  /// The names of the columns in the subquery that have no property.
  static let (key, exactDate) = ("heartwood_key", "heartwood_exact")

  /// An attribute or a to-one relationship.
  struct Column: Sendable {
    let ordinal: Int
    let name: String
    let expression: String
    /// The attribute; nil for a to-one relationship.
    let attribute: AttributePlacement?
  }

  /// A relationship that is in rows of another table: those of the destination, or pairs.
  struct Link: Sendable {
    let ordinal: Int
    let isToMany: Bool
    let table: String
    /// The columns with the keys of the record itself, and of its destinations.
    let (own, other): (String, String)
    let position: String?
    let destination: EntityDescription
    let destinationKey: RecordKey
  }

  let entity: EntityDescription
  let table: String
  let keyColumn: String
  let key: RecordKey
  fileprivate(set) var columns: [Column] = []
  fileprivate(set) var links: [Link] = []
  /// The destinations of the to-one relationships with a column, by ordinal.
  fileprivate(set) var destinations: [Int: (entity: EntityDescription, key: RecordKey)] = [:]

  /// Returns the name of the column of a property in the subquery.
  static func alias(_ property: PropertyDescription) -> String { PostgreSQLName.shortened("p_" + property.name) }

  /// Returns a subquery that has the table's columns in the form of a store.
  fileprivate func source(schema: String) -> String {
    let key = ForeignColumn.key("t.\(PostgreSQLName.quoted(keyColumn))", self.key)
    var texts = ["\(key) AS \(Self.key)", "NULL::double precision AS \(Self.exactDate)"]
    texts += columns.map { "\($0.expression) AS \(PostgreSQLName.quoted(Self.alias(entity.properties[$0.ordinal])))" }
    let name = "\(PostgreSQLName.quoted(schema)).\(PostgreSQLName.quoted(table))"
    return "(SELECT \(texts.joined(separator: ", ")) FROM \(name) AS t)"
  }

  fileprivate var placement: EntityPlacement {
    var properties = [PropertyPlacement?](repeating: nil, count: entity.properties.count)
    for column in columns {
      if let attribute = column.attribute {
        properties[column.ordinal] = .attribute(attribute)
      } else if let destination = destinations[column.ordinal] {
        properties[column.ordinal] = .toOne(
          ToOnePlacement(
            column: Self.alias(entity.properties[column.ordinal]),
            destination: Destination(
              table: destination.entity.name,
              entities: [destination.entity.name: destination.entity],
              key: destination.key
            )
          )
        )
      }
    }
    return EntityPlacement(
      entity: entity,
      table: entity.name,
      isAlone: true,
      properties: properties,
      keyColumn: Self.key,
      key: key
    )
  }
}

// MARK: ForeignSchemaBuilder

private struct ForeignSchemaBuilder {
  private let name: String
  private let model: ManagedObjectModel
  private let catalog: Catalog
  private(set) var entities: [Int: ForeignEntity] = [:]

  init(_ name: String, _ model: ManagedObjectModel, _ catalog: Catalog) {
    (self.name, self.model, self.catalog) = (name, model, catalog)
  }

  mutating func addKey(_ entity: EntityDescription) throws(PersistenceError) {
    if entity.superentity != nil || entity.isAbstract {
      throw failure(
        .capabilityMissing,
        "Tables of another program are read without subentities.",
        "Make it an entity of its own in the model; a view can select its rows.",
        entity
      )
    }
    let table = ForeignSchema.table(entity)
    let column = entity.userInfo[ForeignSchema.keyKey] ?? "id"
    let type = try self.column(column, table, entity, nil).type
    guard let key = ForeignColumn.key(type) else {
      throw failure(
        .fileMalformed,
        "The column \(column) of the table \(table) has the type \(type), and keys are uuid, bigint, integer, smallint, "
          + "text or character varying.",
        "Name another column in postgresKey.",
        entity
      )
    }
    entities[entity.ordinal] = ForeignEntity(entity: entity, table: table, keyColumn: column, key: key)
  }

  mutating func addColumns(_ entity: EntityDescription) throws(PersistenceError) {
    guard let table = entities[entity.ordinal]?.table else { return }
    for (ordinal, property) in entity.properties.enumerated() where !property.isTransient {
      switch property {
      case .attribute(let attribute):
        guard attribute.type != .undefined else { continue }
        let column = try self.attribute(attribute, property, ordinal, of: entity, table)
        entities[entity.ordinal]?.columns.append(column)
      case .relationship(let relationship):
        if !relationship.isToMany { try addToOne(property, ordinal, of: entity, table) }
      }
    }
  }

  private func attribute(
    _ attribute: AttributeDescription,
    _ property: PropertyDescription,
    _ ordinal: Int,
    of entity: EntityDescription,
    _ table: String
  ) throws(PersistenceError) -> ForeignEntity.Column {
    let name = property.userInfo[PostgreSQLSchema.nameKey] ?? PostgreSQLName.snakeCase(property.name)
    let type = try column(name, table, entity, property).type
    let source = "t.\(PostgreSQLName.quoted(name))"
    guard let (expression, columnType) = ForeignColumn.value(source, type, as: attribute.type) else {
      let possible = ForeignColumn.attributeTypes(type).map(\.rawValue)
      throw failure(
        .fileMalformed,
        "The column \(name) of the table \(table) has the type \(type), which cannot be read as \(attribute.type.rawValue).",
        possible.isEmpty
          ? "Leave it out of the model."
          : "In the model, give the attribute the type \(possible.joined(separator: " or ")).",
        entity,
        property
      )
    }
    let place = AttributePlacement(
      type: attribute.type,
      columnType: columnType,
      column: ForeignEntity.alias(property),
      exactColumn: attribute.type == .date ? ForeignEntity.exactDate : nil
    )
    return ForeignEntity.Column(ordinal: ordinal, name: name, expression: expression, attribute: place)
  }

  /// Adds the column of a to-one relationship. Without one, the relationship is in the column of its inverse.
  private mutating func addToOne(
    _ property: PropertyDescription,
    _ ordinal: Int,
    of entity: EntityDescription,
    _ table: String
  ) throws(PersistenceError) {
    let given = property.userInfo[PostgreSQLSchema.nameKey]
    let name = given ?? PostgreSQLName.snakeCase(property.name) + "_id"
    let isInverse = catalog.tables[table]?.columns[name] == nil && given == nil
    if isInverse, try inverse(entity, ordinal)?.isToMany == false { return }
    let type = try column(name, table, entity, property).type
    let destination = try destination(entity, ordinal)
    try checkKey(name, type, of: table, is: destination.key, entity, property)
    let source = "t.\(PostgreSQLName.quoted(name))"
    entities[entity.ordinal]?.columns.append(
      ForeignEntity.Column(
        ordinal: ordinal,
        name: name,
        expression: ForeignColumn.key(source, destination.key),
        attribute: nil
      )
    )
    entities[entity.ordinal]?.destinations[ordinal] = (destination.entity, destination.key)
  }

  /// Adds the relationships without a column in the table of the entity.
  mutating func addLinks(_ entity: EntityDescription) throws(PersistenceError) {
    guard let foreign = entities[entity.ordinal] else { return }
    for (ordinal, property) in entity.properties.enumerated() {
      guard let relationship = property.relationship, !property.isTransient, foreign.destinations[ordinal] == nil else {
        continue
      }
      let inverse = try inverseLink(foreign, ordinal, property, isToMany: relationship.isToMany)
      let link: ForeignEntity.Link
      if let inverse { link = inverse } else { link = try pairs(foreign, ordinal, property) }
      entities[entity.ordinal]?.links.append(link)
    }
  }

  /// Returns the relationship if its inverse has a column in the table of the destination.
  private func inverseLink(
    _ foreign: ForeignEntity,
    _ ordinal: Int,
    _ property: PropertyDescription,
    isToMany: Bool
  ) throws(PersistenceError) -> ForeignEntity.Link? {
    let destination = try destination(foreign.entity, ordinal)
    guard let inverse = foreign.entity.relationshipTargets[ordinal]?.inverseOrdinal,
      let column = destination.columns.first(where: { $0.ordinal == inverse })
    else { return nil }
    let position = property.userInfo[ForeignSchema.positionKey]
    if let position { _ = try self.column(position, destination.table, foreign.entity, property) }
    return ForeignEntity.Link(
      ordinal: ordinal,
      isToMany: isToMany,
      table: destination.table,
      own: column.name,
      other: destination.keyColumn,
      position: position,
      destination: destination.entity,
      destinationKey: destination.key
    )
  }

  /// Returns the relationship if it is in a table of pairs, which it or its inverse names.
  private func pairs(_ foreign: ForeignEntity, _ ordinal: Int, _ property: PropertyDescription) throws(PersistenceError)
    -> ForeignEntity.Link
  {
    let destination = try destination(foreign.entity, ordinal)
    let (info, other) = (property.userInfo, try inverse(foreign.entity, ordinal)?.userInfo)
    guard let table = info[PostgreSQLSchema.nameKey] ?? other?[PostgreSQLSchema.nameKey] else {
      throw failure(
        .capabilityMissing,
        "The relationship has no inverse with a column, and names no table of pairs.",
        "Name the table in postgresName, and its columns in postgresKey and postgresDestinationKey.",
        foreign.entity,
        property
      )
    }
    let own =
      info[ForeignSchema.keyKey] ?? other?[ForeignSchema.destinationKeyKey]
      ?? PostgreSQLName.snakeCase(foreign.entity.name) + "_id"
    let otherKey =
      info[ForeignSchema.destinationKeyKey] ?? other?[ForeignSchema.keyKey]
      ?? PostgreSQLName.snakeCase(destination.entity.name) + "_id"
    for (column, key) in [(own, foreign.key), (otherKey, destination.key)] {
      let type = try self.column(column, table, foreign.entity, property).type
      try checkKey(column, type, of: table, is: key, foreign.entity, property)
    }
    let position = info[ForeignSchema.positionKey]
    if let position { _ = try column(position, table, foreign.entity, property) }
    return ForeignEntity.Link(
      ordinal: ordinal,
      isToMany: property.relationship?.isToMany == true,
      table: table,
      own: own,
      other: otherKey,
      position: position,
      destination: destination.entity,
      destinationKey: destination.key
    )
  }

  // MARK: Looking up

  private func destination(_ entity: EntityDescription, _ ordinal: Int) throws(PersistenceError) -> ForeignEntity {
    let target = entity.relationshipTargets[ordinal].flatMap { entities[$0.entityOrdinal] }
    if let target { return target }
    throw failure(
      .capabilityMissing,
      "The relationship refers to an entity that the store does not keep.",
      "Keep both in the same configuration.",
      entity,
      entity.properties[ordinal]
    )
  }

  private func inverse(_ entity: EntityDescription, _ ordinal: Int) throws(PersistenceError) -> RelationshipInverse? {
    guard let inverse = entity.relationshipTargets[ordinal]?.inverseOrdinal else { return nil }
    let property = try destination(entity, ordinal).entity.properties[inverse]
    return property.relationship.map { RelationshipInverse(isToMany: $0.isToMany, userInfo: property.userInfo) }
  }

  private struct RelationshipInverse {
    let isToMany: Bool
    let userInfo: [String: String]
  }

  private func column(
    _ column: String,
    _ table: String,
    _ entity: EntityDescription,
    _ property: PropertyDescription?
  ) throws(PersistenceError) -> Catalog.Column {
    guard let found = catalog.tables[table] else {
      throw failure(
        .fileMalformed,
        "The schema \(name) has no table \(table).",
        "Name the table in postgresName, or the schema in the URL.",
        entity,
        property
      )
    }
    if let column = found.columns[column] { return column }
    throw failure(
      .fileMalformed,
      "The table \(table) has no column \(column).",
      property == nil ? "Name the column of the key in postgresKey." : "Name the column in postgresName.",
      entity,
      property
    )
  }

  private func checkKey(
    _ column: String,
    _ type: String,
    of table: String,
    is key: RecordKey,
    _ entity: EntityDescription,
    _ property: PropertyDescription
  ) throws(PersistenceError) {
    if ForeignColumn.key(type) == key { return }
    throw failure(
      .fileMalformed,
      "The column \(column) of the table \(table) has the type \(type), and the keys that it refers to are of another "
        + "type.",
      "Name another column in the model.",
      entity,
      property
    )
  }

  private func failure(
    _ code: PersistenceError.Code,
    _ problem: String,
    _ recovery: String,
    _ entity: EntityDescription,
    _ property: PropertyDescription? = nil
  ) -> PersistenceError {
    PersistenceError(
      code,
      problem,
      recovery: .custom(recovery),
      context: .init(storeType: .postgreSQL, entity: entity.name, property: property?.name)
    )
  }
}
