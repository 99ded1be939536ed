import HeartwoodModel

/// Describes where a property of an entity is stored in a file.
enum PropertyPlacement: Sendable, Hashable {
  case attribute(AttributePlacement)
  case toOne(ToOnePlacement)
  case toMany(ToManyPlacement)
  case join(JoinPlacement)
}

// MARK: AttributePlacement

/// A column with the values of an attribute.
struct AttributePlacement: Sendable, Hashable {
  let column: String
  let storage: AttributeStorage
}

// MARK: ToOnePlacement

/// A column with the key of the destination of a to-one relationship.
struct ToOnePlacement: Sendable, Hashable {
  let column: String
  /// The column with the number of the destination's entity: only if the destination entity has subentities.
  let entityColumn: String?
  /// The column with the position of the row in the inverse, if that is ordered. The numbers have gaps.
  let orderColumn: String?
}

// MARK: ToManyPlacement

/// A column in the table of the destination that contains the key of the owner.
struct ToManyPlacement: Sendable, Hashable {
  /// The table of the destination.
  let table: String
  let column: String
  /// The column beside it that contains the number of the owner's entity, as ``ToOnePlacement/entityColumn`` of the
  /// inverse.
  let entityColumn: String?
  /// The column by which the objects are ordered.
  let orderColumn: String?
  /// Whether the column belongs to this relationship, which has no inverse, and to no property of the destination. An
  /// object can then be in the relationship of one owner only.
  let ownsColumn: Bool
}

// MARK: JoinPlacement

/// A table with a row for each pair of objects.
struct JoinPlacement: Sendable, Hashable {
  let table: String
  /// The column with the key of the object that has the relationship.
  let ownColumn: String
  /// The column with the key of a destination object.
  let otherColumn: String
  /// The column by which the objects of the relationship are ordered, if they are.
  let orderColumn: String?
  /// The column by which the objects of the inverse are ordered, in the same rows.
  let inverseOrderColumn: String?
  /// Whether the relationship is its own inverse, so that a pair applies in both directions, however many rows there
  /// are for it.
  let isReflexive: Bool

  /// The same table from the point of view of the inverse.
  var inverse: JoinPlacement {
    JoinPlacement(
      table: table,
      ownColumn: otherColumn,
      otherColumn: ownColumn,
      orderColumn: inverseOrderColumn,
      inverseOrderColumn: orderColumn,
      isReflexive: isReflexive
    )
  }
}

// MARK: EntityPlacement

/// Describes where the records of an entity are stored in a file.
struct EntityPlacement: Sendable {
  let entity: EntityDescription
  /// The number in `Z_PRIMARYKEY` and in the column `Z_ENT`.
  let number: Int
  /// The name of the root entity, whose row in `Z_PRIMARYKEY` contains the greatest key of the whole table.
  let rootName: String
  /// The number of the root entity.
  let rootNumber: Int
  /// The table of the root entity, with the records of all its subentities.
  let tableName: String
  /// Indexed by the ordinal of the property; nil for properties that no store keeps.
  let properties: [PropertyPlacement?]
}

// MARK: AttributeStorage

/// The form in which a column stores the values of an attribute.
enum AttributeStorage: Sendable, Hashable {
  /// Integers of every width, and 0 and 1 for booleans.
  case integer
  /// Reals, of double and of single precision.
  case float
  /// Seconds since 2001-01-01 00:00 UTC.
  case timestamp
  /// Decimal numbers, as the reals or integers nearest to them.
  case decimal
  case text
  /// The text of a URI.
  case uri
  /// 16 bytes.
  case uuid
  case blob
  /// Bytes that a transformer made.
  case transformable
  /// The byte 01 and the data, or the byte 02 and the name of a file with the data, followed by a NUL.
  /// `isTransformable` is true if a transformer made the data.
  case externalBlob(isTransformable: Bool)

  init(_ attribute: AttributeDescription) {
    switch attribute.type {
    case .integer16, .integer32, .integer64, .boolean: self = .integer
    case .double, .float: self = .float
    case .date: self = .timestamp
    case .decimal: self = .decimal
    case .string: self = .text
    case .uri: self = .uri
    case .uuid: self = .uuid
    case .binary where attribute.allowsExternalBinaryDataStorage: self = .externalBlob(isTransformable: false)
    case .transformable where attribute.allowsExternalBinaryDataStorage: self = .externalBlob(isTransformable: true)
    case .binary: self = .blob
    case .transformable, .undefined: self = .transformable
    }
  }

  var columnType: SQLiteColumnType {
    switch self {
    case .integer: .integer
    case .float: .float
    case .timestamp: .timestamp
    case .decimal: .decimal
    case .text, .uri: .text
    case .uuid, .blob, .transformable, .externalBlob: .blob
    }
  }
}
