import HeartwoodStore
import Synchronization

/// The connection of a store, which is made when it is first needed, and again if it was lost.
///
/// After a failover another server answers, so what a store knows about the last connection may not be true of the next
/// one: see ``connection()``.
final class PostgreSQLSession: Sendable {
  let location: PostgreSQLLocation
  private let options: StoreOptions
  private let state: Mutex<State>

  private struct State: Sendable {
    var connection: PostgreSQLConnection?
    /// Whether a connection was made since the store was opened.
    var hasConnected = false
  }

  /// - Parameter connection: a connection that exists already.
  init(_ location: PostgreSQLLocation, _ options: StoreOptions, _ connection: PostgreSQLConnection? = nil) {
    (self.location, self.options) = (location, options)
    state = Mutex(State(connection: connection, hasConnected: connection != nil))
  }

  /// The connection, which may be lost; nil if there is none.
  var current: PostgreSQLConnection? { state.withLock { $0.connection } }

  /// Returns the connection, and makes one if there is none that can be used.
  ///
  /// If an earlier connection was lost, it tries for some time: another server may be about to take over.
  func connection() throws -> (connection: PostgreSQLConnection, isNew: Bool) {
    let (last, hasConnected) = state.withLock { ($0.connection, $0.hasConnected) }
    if let last, !last.isLost { return (last, false) }
    let connection = try connect(within: hasConnected ? reconnectTimeout : .zero)
    state.withLock { $0 = State(connection: connection, hasConnected: true) }
    return (connection, true)
  }

  /// The interval between attempts to connect, in microseconds.
  private static let attemptInterval = 100_000

  private func connect(within timeout: Duration) throws -> PostgreSQLConnection {
    let deadline = ContinuousClock.now + timeout
    while true {
      do {
        return try PostgreSQLConnection(location, options: options)
      } catch let error as PostgreSQLError where error.isOfConnection && ContinuousClock.now < deadline {
        Waiting.sleep(microseconds: Self.attemptInterval)
      }
    }
  }

  private var reconnectTimeout: Duration {
    options[.postgresReconnectTimeout] ?? (location.namesSeveralHosts ? .seconds(30) : .zero)
  }

  /// Forgets the connection, so that the next one is a new one.
  func drop() { state.withLock { $0.connection = nil } }

  /// Closes the connection.
  func close() { state.withLock { $0 = State() } }

  /// Calls `body`, and calls it once more if the connection was lost in the meantime.
  func connectingAgain<Value>(_ body: () throws -> Value) throws -> Value {
    let hadConnection = current != nil
    do {
      return try body()
    } catch let error where hadConnection && error.tellsOfLostConnection {
      drop()
      return try body()
    }
  }

  /// Rolls back the transaction. If the connection cannot do so, it is closed, and the server then ends the
  /// transaction.
  func rollBack(_ connection: PostgreSQLConnection) {
    connection.clearQueue()
    if connection.isIdle, !connection.isLost { return }
    do {
      try connection.execute("ROLLBACK")
    } catch {
      drop()
    }
  }
}

extension Error {
  /// The error of the server that is this one or its cause.
  var serverError: PostgreSQLError? {
    self as? PostgreSQLError ?? (self as? PersistenceError)?.underlyingError as? PostgreSQLError
  }

  /// Whether a connection was lost, also if that is the cause of another error.
  var tellsOfLostConnection: Bool { serverError?.isOfConnection ?? false }
}
