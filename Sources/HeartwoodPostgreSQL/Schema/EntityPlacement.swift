import HeartwoodModel

/// Where the records of an entity are, and their properties.
struct EntityPlacement: Sendable {
  let entity: EntityDescription
  /// The table of the topmost entity above, which all below share.
  let table: String
  /// Whether the table holds records of this entity alone.
  let isAlone: Bool
  /// Indexed by ordinal; nil for what no store keeps: transient properties.
  var properties: [PropertyPlacement?]
}

/// Where a property is.
enum PropertyPlacement: Sendable {
  case attribute(AttributePlacement)
  case toOne(ToOnePlacement)
  /// The rows of the destination say whom they belong to.
  case toMany(ToManyPlacement)
  /// Rows of both keys.
  case join(JoinPlacement)
}

struct AttributePlacement: Sendable {
  let type: AttributeType
  let columnType: PostgreSQLType
  let column: String
  /// For dates: the column with just the seconds since 2001, which PostgreSQL rounds to microseconds in the other one.
  let exactColumn: String?
}

struct ToOnePlacement: Sendable {
  let column: String
  let destination: Destination
}

struct ToManyPlacement: Sendable {
  /// The column of the inverse relationship, in the table of the destination.
  let column: String
  /// The column with the place of the record among those of its owner, for an ordered relationship.
  let positionColumn: String?
  let destination: Destination
}

struct JoinPlacement: Sendable {
  let table: String
  /// The column with the key of the record whose relationship it is.
  let ownColumn: String
  let otherColumn: String
  let positionColumn: String?
  /// Whether the relationship is its own inverse: then there is a row for each direction.
  let isReflexive: Bool
  let destination: Destination
}

/// The records that a relationship may lead to.
struct Destination: Sendable {
  let table: String
  /// The entities that have records of their own, by the name that the rows have.
  let entities: [String: EntityDescription]

  /// The entity of all of them; nil if rows say which.
  var onlyEntity: EntityDescription? { entities.count == 1 ? entities.values.first : nil }
}

// MARK: Tables

/// A table of records.
struct RecordTable: Sendable {
  let name: String
  /// The entity whose records others insert who do not say which; nil if that is abstract.
  let defaultEntity: String?
  /// Names and definitions of the columns behind those that every table has.
  var columns: [(name: String, definition: String)] = []
  /// The columns of dates, and those beside them.
  var dates: [(column: String, exactColumn: String)] = []
  /// The columns that refer to records, with the tables of these.
  var references: [(column: String, table: String)] = []
  /// Columns whose values no two rows may share, and the entities that this is about; nil means all.
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
