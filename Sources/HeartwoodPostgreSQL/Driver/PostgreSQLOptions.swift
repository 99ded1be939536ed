public import HeartwoodStore

extension StoreType {
  /// A store in the tables of a PostgreSQL database.
  public static let postgreSQL: StoreType = "PostgreSQL"
}

extension StoreOptionKey<Duration> {
  /// The time that a store waits for each host of the server when it connects. Five seconds by default;
  /// `connect_timeout` in the URL takes precedence.
  public static let postgresConnectTimeout = StoreOptionKey(
    "postgresConnectTimeout",
    default: .seconds(5)
  )
  /// The time that a save waits for other saves to the same store, and for rows that another client has locked. Five
  /// seconds by default.
  public static let postgresLockTimeout = StoreOptionKey(
    "postgresLockTimeout",
    default: .seconds(5)
  )
}

extension StoreOptionKey<Bool> {
  /// Whether a new store gets triggers that detect changes made by other means than Heartwood. On by default; turn it
  /// off for servers that do not support triggers.
  public static let postgresNotesOtherClients = StoreOptionKey(
    "postgresNotesOtherClients",
    default: true
  )
}

extension StoreOptionKey<Duration?> {
  /// The time for which a store that has lost its connection tries to make another one, before a fetch or a save fails.
  /// By default, 30 seconds if the URL names several hosts, one of which may be about to take over, and otherwise no
  /// longer than one attempt.
  public static let postgresReconnectTimeout = StoreOptionKey("postgresReconnectTimeout")
  /// The time that one statement may take. No limit by default.
  public static let postgresStatementTimeout = StoreOptionKey("postgresStatementTimeout")
}

extension StoreOptionKey<String?> {
  /// The path of libpq. By default, the system searches for the library.
  public static let postgresLibraryPath = StoreOptionKey("postgresLibraryPath")
}

extension StoreOptionKey<PostgreSQLStatementObserver?> {
  /// An observer that is called with each statement. None by default.
  public static let postgresStatementObserver = StoreOptionKey("postgresStatementObserver")
}

/// Observes each statement that a store sends, on the thread that sends it.
public struct PostgreSQLStatementObserver: Sendable {
  let observe: @Sendable (_ statement: String) -> Void
  /// Is called whenever the store waits for the server.
  let roundTrip: (@Sendable () -> Void)?

  /// - Parameter observe: receives the statement, with `$1` and so on in place of the values. Statements that are sent
  ///   together are observed one after the other, before the first of them is sent.
  public init(_ observe: @escaping @Sendable (_ statement: String) -> Void) {
    self.init(observe, roundTrip: nil)
  }

  init(_ observe: @escaping @Sendable (_ statement: String) -> Void, roundTrip: (@Sendable () -> Void)?) {
    (self.observe, self.roundTrip) = (observe, roundTrip)
  }
}
