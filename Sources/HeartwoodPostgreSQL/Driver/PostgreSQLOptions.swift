public import HeartwoodStore

extension StoreType {
  /// Tables of a PostgreSQL database.
  public static let postgreSQL: StoreType = "PostgreSQL"
}

extension StoreOptionKey<Duration> {
  /// How long a store waits for the server to answer when it connects, for each host. Five seconds by default; `connect_timeout` in the URL
  /// counts before it.
  public static let postgresConnectTimeout = StoreOptionKey(
    "postgresConnectTimeout",
    default: .seconds(5)
  )
  /// How long a save waits for others that save to the same store, and for rows that another client has locked. Five seconds by default.
  public static let postgresLockTimeout = StoreOptionKey(
    "postgresLockTimeout",
    default: .seconds(5)
  )
}

extension StoreOptionKey<Bool> {
  /// Whether a new store gets triggers by which it notices what is changed by other means than Heartwood. On by default; turn it off for servers that
  /// have no triggers.
  public static let postgresNotesOtherClients = StoreOptionKey(
    "postgresNotesOtherClients",
    default: true
  )
}

extension StoreOptionKey<Duration?> {
  /// How long one statement may take. No limit by default.
  public static let postgresStatementTimeout = StoreOptionKey("postgresStatementTimeout")
}

extension StoreOptionKey<String?> {
  /// The path of libpq. By default the system finds it.
  public static let postgresLibraryPath = StoreOptionKey("postgresLibraryPath")
}

extension StoreOptionKey<PostgreSQLStatementObserver?> {
  /// Is told of each statement. None by default.
  public static let postgresStatementObserver = StoreOptionKey("postgresStatementObserver")
}

/// Is told of each statement that a store sends, on the thread that sends it.
public struct PostgreSQLStatementObserver: Sendable {
  let observe: @Sendable (_ statement: String) -> Void

  /// - Parameter observe: gets the statement with `$1` and so on in the place of values.
  public init(_ observe: @escaping @Sendable (_ statement: String) -> Void) {
    self.observe = observe
  }
}
