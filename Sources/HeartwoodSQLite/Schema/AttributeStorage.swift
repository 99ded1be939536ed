import HeartwoodModel

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
