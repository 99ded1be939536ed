package import HeartwoodModel

/// Where a property of an entity is kept in a file.
package enum PropertyPlacement: Sendable, Hashable {
  case attribute(AttributePlacement)
  case toOne(ToOnePlacement)
  case toMany(ToManyPlacement)
  case join(JoinPlacement)
}

// MARK: AttributePlacement

/// A column with the values of an attribute.
package struct AttributePlacement: Sendable, Hashable {
  package let column: String
  package let storage: AttributeStorage
}

// MARK: ToOnePlacement

/// A column with the key of the one object that a relationship leads to.
package struct ToOnePlacement: Sendable, Hashable {
  package let column: String
  /// The column with the number of that object's entity: only where the destination has subentities.
  let entityColumn: String?
  /// The column with the place of the row among those of the inverse, where that is ordered. The numbers have gaps.
  let orderColumn: String?
}

// MARK: ToManyPlacement

/// A column in the table of the destination that holds the key of the owner.
package struct ToManyPlacement: Sendable, Hashable {
  /// The table of the destination.
  let table: String
  let column: String
  /// The column beside it that holds the number of the owner's entity, as ``ToOnePlacement/entityColumn`` of the inverse.
  let entityColumn: String?
  /// The column by which the objects are ordered.
  let orderColumn: String?
  /// Whether the column belongs to this relationship, which has no inverse, and to no property of the destination. An object of the
  /// destination can then be in the relationship of one owner only.
  let ownsColumn: Bool
}

// MARK: JoinPlacement

/// A table with a row for each pair of objects.
package struct JoinPlacement: Sendable, Hashable {
  package let table: String
  /// The column with the key of the object whose relationship it is.
  package let ownColumn: String
  /// The column with the key of an object that the relationship leads to.
  package let otherColumn: String
  /// The column by which the objects of the relationship are ordered, where they are.
  package let orderColumn: String?
  /// The same of the inverse, for the same rows.
  let inverseOrderColumn: String?
  /// Whether the relationship is its own inverse, so that a pair holds in both directions, however many rows there are for it.
  let isReflexive: Bool

  /// The same table as the inverse has it.
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

/// Where the records of an entity are kept in a file.
package struct EntityPlacement: Sendable {
  package let entity: EntityDescription
  /// The number in `Z_PRIMARYKEY` and in the column `Z_ENT`.
  package let number: Int
  /// The name of the topmost entity, whose row in `Z_PRIMARYKEY` has the greatest key of the whole table.
  package let rootName: String
  /// The number of that entity.
  package let rootNumber: Int
  /// The table of the topmost entity, with the records of all that inherit from it.
  package let tableName: String
  /// Indexed by the ordinal of the property; nil for those that no store keeps.
  package let properties: [PropertyPlacement?]
}

// MARK: AttributeStorage

/// The form in which a column holds the values of an attribute.
package enum AttributeStorage: Sendable, Hashable {
  /// Integers of every width, and 0 and 1 for truth values.
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
  /// 01 and the bytes, or 02 and the name of a file that has them, with a NUL behind it. `isTransformable` tells who made the bytes.
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
