import HeartwoodModel

/// How a column of another program's table is read as an attribute.
enum ForeignColumn {
  /// The name of a type without its limits: `character varying` for `character varying(40)`.
  static func baseType(_ type: String) -> String {
    guard let start = type.firstIndex(of: "("), let end = type[start...].firstIndex(of: ")") else { return type }
    return String(type[..<start] + type[type.index(after: end)...])
  }

  /// Returns the kind of the keys in a column; nil if records cannot have such keys.
  static func key(_ type: String) -> RecordKey? {
    switch baseType(type) {
    case "uuid": .uuid
    case "smallint", "integer", "bigint": .integer
    case "text", "character varying", "character": .text
    default: nil
    }
  }

  /// Returns the expression for the keys in a column. Numbers and UUIDs are not converted, so that indexes are used.
  static func key(_ column: String, _ kind: RecordKey) -> String {
    kind == .text ? "\(column)::text" : column
  }

  /// Returns the expression for the values of a column, and its type; nil if its values are not those of the attribute.
  static func value(_ column: String, _ type: String, as attribute: AttributeType) -> (String, PostgreSQLType)? {
    let base = baseType(type)
    switch attribute {
    case .integer16, .integer32, .integer64: return integer(column, base)
    case .boolean: return base == "boolean" ? (column, .boolean) : nil
    case .decimal:
      if base == "numeric" { return (column, .numeric) }
      return integer(column, base).map { _ in ("\(column)::numeric", .numeric) }
    case .double:
      let isNumber = ["double precision", "real", "numeric", "smallint", "integer", "bigint"].contains(base)
      return isNumber ? ("\(column)::double precision", .double) : nil
    case .float: return base == "real" ? (column, .real) : nil
    case .date: return date(column, base)
    case .uuid: return base == "uuid" ? (column, .uuid) : nil
    case .binary, .transformable: return base == "bytea" ? (column, .bytea) : nil
    case .string, .uri: return isText(base) ? ("\(column)::text COLLATE \"C\"", .text) : nil
    case .undefined: return nil
    }
  }

  private static func integer(_ column: String, _ base: String) -> (String, PostgreSQLType)? {
    switch base {
    case "smallint": (column, .smallint)
    case "integer": (column, .integer)
    case "bigint": (column, .bigint)
    default: nil
    }
  }

  /// A moment without a time zone is one of UTC, and a day begins at midnight in UTC.
  private static func date(_ column: String, _ base: String) -> (String, PostgreSQLType)? {
    switch base {
    case "timestamp with time zone": (column, .timestamptz)
    case "timestamp without time zone": ("(\(column) AT TIME ZONE 'UTC')", .timestamptz)
    case "date": ("(\(column)::timestamp AT TIME ZONE 'UTC')", .timestamptz)
    default: nil
    }
  }

  /// Every type has a text. Those of moments depend on settings of the server, and bytes are no text.
  private static func isText(_ base: String) -> Bool {
    !base.hasPrefix("timestamp") && base != "date" && base != "bytea"
  }

  /// Returns the types of attributes that a column can be read as, for errors.
  static func attributeTypes(_ type: String) -> [AttributeType] {
    AttributeType.allCases.filter { value("", type, as: $0) != nil }
  }
}
