import HeartwoodModel

/// Describes where the records of an entity and their properties are stored.
struct EntityPlacement: Sendable {
  let entity: EntityDescription
  /// The table of the root entity, which all its subentities share.
  let table: String
  /// Whether the table contains records of this entity only.
  let isAlone: Bool
  /// Indexed by ordinal; nil for transient properties, which no store keeps.
  var properties: [PropertyPlacement?]
  /// The column with the key of a record.
  var keyColumn = "id"
  var key = RecordKey.uuid
}

/// Describes where a property is stored.
enum PropertyPlacement: Sendable {
  case attribute(AttributePlacement)
  case toOne(ToOnePlacement)
  /// Each row of the destination refers to its owner.
  case toMany(ToManyPlacement)
  /// Rows with both keys.
  case join(JoinPlacement)
}

struct AttributePlacement: Sendable {
  let type: AttributeType
  let columnType: PostgreSQLType
  let column: String
  /// For dates: the column with the exact seconds since 2001, because PostgreSQL rounds the other column to
  /// microseconds.
  let exactColumn: String?
}

struct ToOnePlacement: Sendable {
  let column: String
  let destination: Destination
}

struct ToManyPlacement: Sendable {
  /// The column of the inverse relationship, in the table of the destination.
  let column: String
  /// The column with the position of the record among those of its owner, for an ordered relationship.
  let positionColumn: String?
  let destination: Destination
}

struct JoinPlacement: Sendable {
  let table: String
  /// The column with the key of the record that has the relationship.
  let ownColumn: String
  let otherColumn: String
  let positionColumn: String?
  /// Whether the relationship is its own inverse: there is then a row for each direction.
  let isReflexive: Bool
  let destination: Destination
}

/// The possible destinations of a relationship.
struct Destination: Sendable {
  let table: String
  /// The entities that can have records, by the name that is stored in the rows.
  let entities: [String: EntityDescription]
  var key = RecordKey.uuid

  /// The only possible entity; nil if the rows record the entity.
  var onlyEntity: EntityDescription? { entities.count == 1 ? entities.values.first : nil }
}

// MARK: Tables

/// A table of records.
struct RecordTable: Sendable {
  let name: String
  /// The entity of records that other programs insert without an entity name; nil if it is abstract.
  let defaultEntity: String?
  /// Names and definitions of the columns after those that every table has.
  var columns: [(name: String, definition: String)] = []
  /// The columns of dates, and the columns with their exact seconds.
  var dates: [(column: String, exactColumn: String)] = []
  /// The columns that refer to records, with the tables they refer to.
  var references: [(column: String, table: String)] = []
  /// Columns whose values must be unique, and the entities the constraint applies to; nil means all.
  var uniqueColumns: [(columns: [String], entities: [String]?)] = []
  /// Columns with their direction.
  var indexes: [[(column: String, isAscending: Bool)]] = []
}

/// A table of pairs of keys.
struct JoinTable: Sendable {
  let name: String
  let columns: [(name: String, table: String)]
  var positionColumns: [String] = []
}
