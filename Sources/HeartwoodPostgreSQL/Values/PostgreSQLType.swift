import HeartwoodFoundation

/// A type of columns and parameters.
enum PostgreSQLType: String, Sendable, Hashable, CaseIterable {
  case smallint, integer, bigint, boolean, real, numeric, text, timestamptz, uuid, bytea
  case double = "double precision"

  /// The object identifier of the type, which is the same in every database.
  var oid: UInt32 {
    switch self {
    case .boolean: 16
    case .bytea: 17
    case .bigint: 20
    case .smallint: 21
    case .integer: 23
    case .text: 25
    case .real: 700
    case .double: 701
    case .timestamptz: 1184
    case .numeric: 1700
    case .uuid: 2950
    }
  }

  /// The object identifier of the array type.
  var arrayOID: UInt32 {
    switch self {
    case .boolean: 1000
    case .bytea: 1001
    case .bigint: 1016
    case .smallint: 1005
    case .integer: 1007
    case .text: 1009
    case .real: 1021
    case .double: 1022
    case .timestamptz: 1185
    case .numeric: 1231
    case .uuid: 2951
    }
  }

  /// The object identifiers of the types whose values are read as those of this type.
  var readableOIDs: [UInt32] {
    switch self {
    case .smallint, .integer, .bigint: [Self.smallint.oid, Self.integer.oid, Self.bigint.oid]
    case .text: [oid, Self.varcharOID]
    default: [oid]
    }
  }

  private static let varcharOID: UInt32 = 1043

  /// The type in the definition of a column. Texts are ordered by their bytes, which is the order of Unicode scalars.
  var definition: String { self == .text ? "text COLLATE \"C\"" : rawValue }

  /// The name of the type in the server's catalog.
  var catalogName: String { self == .timestamptz ? "timestamp with time zone" : rawValue }
}

// MARK: PostgreSQLParameter

/// A value for a `$1` in a statement.
struct PostgreSQLParameter: Sendable {
  struct Kind: Sendable {
    let oid: UInt32
  }

  let type: Kind
  /// The value in the binary format of the type; nil for NULL.
  let bytes: [UInt8]?

  init(_ type: PostgreSQLType, _ bytes: [UInt8]?) {
    self.type = Kind(oid: type.oid)
    self.bytes = bytes
  }

  private init(arrayOf type: PostgreSQLType, _ bytes: [UInt8]?) {
    self.type = Kind(oid: type.arrayOID)
    self.bytes = bytes
  }
}

extension PostgreSQLParameter {
  static func text(_ text: String) -> PostgreSQLParameter {
    PostgreSQLParameter(.text, Array(text.utf8))
  }

  static func bytea(_ data: Data) -> PostgreSQLParameter {
    PostgreSQLParameter(.bytea, Array(data))
  }

  static func bigint(_ number: Int64) -> PostgreSQLParameter {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: number)
    return PostgreSQLParameter(.bigint, bytes)
  }

  static func integer(_ number: Int32) -> PostgreSQLParameter {
    PostgreSQLParameter(.integer, number.bigEndianBytes)
  }

  static func boolean(_ flag: Bool) -> PostgreSQLParameter {
    PostgreSQLParameter(.boolean, [flag ? 1 : 0])
  }

  static func uuid(_ uuid: UUID) -> PostgreSQLParameter {
    PostgreSQLParameter(.uuid, withUnsafeBytes(of: uuid.uuid) { Array($0) })
  }

  static func uuids(_ uuids: some Collection<UUID>) -> PostgreSQLParameter {
    var elements = ArrayBuilder(.uuid, capacity: uuids.count)
    for uuid in uuids { elements.append { $0.appendField(uuid) } }
    return elements.parameter
  }

  /// NULL instead of an array.
  static let noUUIDs = PostgreSQLParameter(arrayOf: .uuid, nil)

  static func bigints(_ numbers: some Collection<Int64>) -> PostgreSQLParameter {
    var elements = ArrayBuilder(.bigint, capacity: numbers.count)
    for number in numbers { elements.append { $0.appendField(number) } }
    return elements.parameter
  }

  /// Builds an array of one dimension, element by element.
  struct ArrayBuilder {
    let type: PostgreSQLType
    private var fields: [UInt8] = []
    private var count: Int32 = 0

    init(_ type: PostgreSQLType, capacity: Int = 0) {
      self.type = type
      fields.reserveCapacity(capacity * 12)
    }

    /// - Parameter body: appends one field.
    mutating func append(_ body: (inout [UInt8]) throws -> Void) rethrows {
      try body(&fields)
      count += 1
    }

    var parameter: PostgreSQLParameter {
      var bytes: [UInt8] = []
      bytes.reserveCapacity(fields.count + 20)
      // The number of dimensions (0 without elements), whether elements may be NULL, their type, their number, and the
      // first index.
      bytes.append(bigEndian: Int32(count == 0 ? 0 : 1))
      bytes.append(bigEndian: Int32(1))
      bytes.append(bigEndian: type.oid)
      if count > 0 {
        bytes.append(bigEndian: count)
        bytes.append(bigEndian: Int32(1))
        bytes += fields
      }
      return PostgreSQLParameter(arrayOf: type, bytes)
    }
  }
}
