import HeartwoodStore

/// What a server that speaks PostgreSQL's protocol accepts of the statements that a store sends.
///
/// All other statements are accepted by every server that is known; see <doc:PostgreSQL>. YugabyteDB and Citus accept
/// what PostgreSQL does of these two.
enum PostgreSQLDialect: Sendable, CaseIterable {
  case postgreSQL
  case cockroachDB

  init(_ connection: OpaquePointer, _ library: LibPQ) {
    let isCockroachDB = "crdb_version".withCString { library.parameterStatus(connection, $0) } != nil
    self = isCockroachDB ? .cockroachDB : .postgreSQL
  }
}

extension PostgreSQLDialect {
  /// Whether `COPY … TO STDOUT` has the format `binary`.
  var copiesRowsOut: Bool { self == .postgreSQL }

  /// Whether a column may have the collation `"C"`. Where it may not, all texts are ordered by their bytes anyway.
  var collatesColumns: Bool { self == .postgreSQL }

  /// Returns the definition of a column as the server takes it.
  func definition(_ column: String) -> String {
    guard self == .cockroachDB else { return column }
    switch column {
    case PostgreSQLType.text.definition: return PostgreSQLType.text.rawValue
    // `integer` has 64 bits there.
    case PostgreSQLType.integer.definition: return "int4"
    default: return column
    }
  }
}

extension StoreOptionKey<PostgreSQLDialect?> {
  /// The dialect to use, for tests; by default, that of the server.
  static let postgresDialect = StoreOptionKey("postgresDialect")
}
