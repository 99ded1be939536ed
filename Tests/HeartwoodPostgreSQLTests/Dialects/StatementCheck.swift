import Heartwood
import HeartwoodStore
import Synchronization
import Testing

@testable import HeartwoodPostgreSQL

/// Holds each statement that a store sends in a test against the dialects of other engines.
///
/// The statements that one engine accepts and another does not are sent by ``PostgreSQLDialect``: what it calls the
/// dialect of PostgreSQL is held against the engines that accept it, YugabyteDB and Citus.
enum StatementCheck {
  /// Adds the check to options, unless the statements of the store are already observed.
  static func checking(_ options: StoreOptions) -> StoreOptions {
    var options = options
    if options[.postgresStatementObserver] != nil { return options }
    let dialect = options[.postgresDialect] ?? .postgreSQL
    let notesOthers = options[.postgresNotesOtherClients]
    options[.postgresStatementObserver] = PostgreSQLStatementObserver { check($0, dialect, notesOthers: notesOthers) }
    return options
  }

  /// The options of a store on CockroachDB: without triggers, and with the statements that it accepts.
  static var cockroachDB: StoreOptions {
    var options = StoreOptions()
    options[.postgresDialect] = .cockroachDB
    options[.postgresNotesOtherClients] = false
    return checking(options)
  }

  static func check(_ statement: String, _ dialect: PostgreSQLDialect, notesOthers: Bool) {
    // Tables of other programs are read only in PostgreSQL and Citus, which have this.
    if statement.contains("pg_current_snapshot()") { return }
    guard seen.withLock({ $0.insert(Key(statement, dialect)).inserted }) else { return }
    for finding in findings(statement, dialect, notesOthers: notesOthers) {
      Issue.record("\(finding): \(statement)")
    }
  }

  /// Returns what engines do not accept, each with its name.
  static func findings(_ statement: String, _ dialect: PostgreSQLDialect, notesOthers: Bool) -> [String] {
    let isOfTriggers = ["CREATE TRIGGER", "CREATE FUNCTION"].contains { statement.hasPrefix($0) }
    if notesOthers, isOfTriggers { return [] }
    let engines: [SQLDialect] = dialect == .cockroachDB ? SQLDialect.allCases : [.yugabyteDB, .citus]
    return engines.flatMap { engine in engine.findings(statement).map { "\(engine.rawValue) does not accept \($0)" } }
  }

  private struct Key: Hashable {
    let statement: String
    let dialect: PostgreSQLDialect

    init(_ statement: String, _ dialect: PostgreSQLDialect) { (self.statement, self.dialect) = (statement, dialect) }
  }

  /// The statements that have been checked, so that each is read once.
  private static let seen = Mutex<Set<Key>>([])
}
