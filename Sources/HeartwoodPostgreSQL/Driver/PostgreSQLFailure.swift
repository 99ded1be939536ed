import HeartwoodFoundation
import HeartwoodStore

/// An error that a PostgreSQL server or libpq reported: the `underlyingError` of the `PersistenceError` that a store
/// throws.
///
/// It contains no value of a record, because the detail of the server's report is left out.
public struct PostgreSQLError: Error, Sendable, Hashable {
  /// The SQLSTATE: the five characters by which PostgreSQL identifies the error, such as `23505`. Nil if the server
  /// sent none, for example because the connection was lost.
  public let sqlState: String?
  /// The message of the server or of libpq, in the server's language.
  public let message: String
  /// The name of the violated constraint; nil for any other error.
  public let constraintName: String?
  /// The name of the table; nil if the server does not report one.
  public let tableName: String?

  init(sqlState: String?, message: String, constraintName: String? = nil, tableName: String? = nil) {
    self.sqlState = sqlState
    self.message = message
    self.constraintName = constraintName
    self.tableName = tableName
  }

  /// Whether the connection can no longer be used: it is lost, or the server is closing it.
  var isOfConnection: Bool {
    guard let sqlState else { return true }
    return sqlState.hasPrefix("08") || ["57P01", "57P02", "57P03", "57P05"].contains(sqlState)
  }
}

extension PostgreSQLError: CustomStringConvertible {
  /// The SQLSTATE, if there is one, and the message.
  public var description: String { sqlState.map { "\($0): \(message)" } ?? message }
}

extension PostgreSQLError {
  /// Returns the error as a `PersistenceError`.
  ///
  /// - Parameter place: the URL of the store, without a password.
  func persistenceError(at place: String, entity: String? = nil) -> PersistenceError {
    let (code, problem, recovery) = meaning
    return PersistenceError(
      code,
      problem,
      recovery: recovery,
      context: .init(path: place, storeType: .postgreSQL, entity: entity),
      underlyingError: self
    )
  }

  private typealias Meaning = (PersistenceError.Code, String, PersistenceError.Recovery?)

  private var meaning: Meaning {
    guard let sqlState else {
      return (
        .fileReadFailed, "The server cannot be reached, or the connection to it was lost.",
        "Check that the server runs and accepts connections, and try again."
      )
    }
    return ofState(sqlState) ?? ofClass(String(sqlState.prefix(2)))
      ?? (.fileReadFailed, "The server reported an error.", nil)
  }

  private func ofState(_ state: String) -> Meaning? {
    switch state {
    case "23505":
      return (
        .constraintConflict,
        "A record has values that another one has, and that must be unique\(constraint).",
        "Change one of the two."
      )
    case "23503":
      return (
        .danglingReference,
        "A relationship refers to a record that is not there\(constraint). Nothing was saved.",
        "Read the records again."
      )
    case "3D000":
      return (.fileNotFound, "The server has no such database.", "Create it with createdb.")
    case "3F000": return (.fileNotFound, "The database has no such schema.", nil)
    case "25006":
      return (.storeReadOnly, "The server, or the transaction, is for reading only.", nil)
    case "42501":
      return (
        .storeReadOnly, "The user lacks the right to do this in the database.",
        "Grant it, or open it as another user."
      )
    case "42P01", "42703", "42804", "42883":
      // These messages of the server name tables and columns, and no values.
      return (
        .fileMalformed, "The tables do not have the expected form: \(message).",
        "heartwood verify lists what is missing or has changed."
      )
    case "42P06", "42P07":
      return (
        .fileExists, "A table or a schema of this name exists already.",
        "Choose another schema: the last part of the URL's path."
      )
    case "53100":
      return (
        .fileWriteFailed, "The server's disk is full. Nothing was changed.",
        "Make room and try again."
      )
    case "55P03":
      return (
        .storeBusy,
        "Another connection has held the store for longer than the store was told to wait. Nothing was changed.",
        .waitLonger(.postgresLockTimeout)
      )
    case "57014":
      return (
        .storeBusy, "The statement was stopped, or took longer than it may. Nothing was changed.",
        .waitLonger(.postgresStatementTimeout)
      )
    case "22021", "22P05":
      return (
        .valueUnsupported, "PostgreSQL cannot keep a text with such characters.", "Remove them."
      )
    default: return nil
    }
  }

  private func ofClass(_ name: String) -> Meaning? {
    switch name {
    case "08", "57":
      return (
        .fileReadFailed,
        "The connection to the server was lost. Whether a save was done is looked up.", .tryAgain
      )
    case "28":
      return (
        .fileReadFailed, "The server does not accept the user.",
        "Give the password in PGPASSWORD, ~/.pgpass or a service file, or change the server's pg_hba.conf."
      )
    case "40":
      return (
        .storeBusy, "Another connection has changed the same rows. Nothing was changed.", .tryAgain
      )
    case "23":
      return (.constraintConflict, "The database does not allow the change\(constraint).", nil)
    case "53":
      return (.storeBusy, "The server has no room for another connection or statement.", .tryAgain)
    case "54":
      return (
        .valueUnsupported, "A value is too large for PostgreSQL, or for an index of it.",
        "Keep it in an attribute without an index."
      )
    default: return nil
    }
  }

  private var constraint: String { constraintName.map { " (\($0))" } ?? "" }
}
