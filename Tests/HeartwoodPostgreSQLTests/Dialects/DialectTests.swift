import Foundation
import Heartwood
import HeartwoodStore
import Testing

@testable import HeartwoodPostgreSQL

/// Engines that speak PostgreSQL's protocol and cannot be run here: CockroachDB, YugabyteDB, and Citus with a schema
/// for each store. All tests of stores hold what is sent against them (``StatementCheck``); these show that the check
/// finds something, and that it sees every kind of statement.
struct DialectTests {
  @Test(arguments: [
    "ALTER TABLE a ADD UNIQUE (b) DEFERRABLE INITIALLY DEFERRED", "LISTEN a", "SELECT pg_notify('a', 'b')",
    "CREATE TRIGGER t AFTER INSERT ON a EXECUTE FUNCTION f()", "SELECT pg_current_xact_id()::text",
    "SELECT pg_xact_status($1::text::xid8)", "SELECT xmin FROM a", "SELECT pg_advisory_xact_lock(7)",
    "LOCK TABLE a", "COPY (SELECT 1) TO STDOUT (FORMAT binary)", "CREATE TABLE a (b text COLLATE \"C\")",
    "CREATE TABLE a (b integer)", "CREATE INDEX ON a (b DESC NULLS FIRST)", "SELECT ctid FROM a",
    "CREATE TEMPORARY TABLE a (b uuid)", "BEGIN; NOTIFY a; COMMIT", "UPDATE a SET b = gen_random_uuid()",
    "SELECT starts_with(a, 'b') FROM c", "VACUUM a", "SELECT 'a",
  ])
  func isNotAccepted(_ statement: String) {
    let findings = StatementCheck.findings(statement, .cockroachDB, notesOthers: false)
    #expect(!findings.isEmpty)
  }

  @Test(arguments: [
    "SELECT 'LISTEN', \"ctid\", E'it\\'s DEFERRABLE' FROM \"notify\"", "SELECT count(*) FROM a WHERE b = ANY($1)",
    "INSERT INTO a AS m (b) VALUES ($1)", "SELECT u.a FROM unnest($1::uuid[]) AS u(a)",
    "CREATE INDEX ON \"a\" (b NULLS FIRST)", "CREATE TABLE \"a\" (b int4)", "SELECT b COLLATE \"C\" FROM a",
  ])
  func isAccepted(_ statement: String) {
    #expect(StatementCheck.findings(statement, .cockroachDB, notesOthers: false) == [])
  }

  @Test func statementsAreReadAsTheServerReadsThem() throws {
    let tokens = try #require(SQLToken.tokens("a.\"b\"\"c\" = $12 AND E'x\\'y''z' <> $t$ $q$ ; $t$::text, 1.5"))
    #expect(
      tokens == [
        .word("A"), .symbol("."), .quotedName("b\"c"), .symbol("="), .parameter(12), .word("AND"), .text("x'y'z"),
        .symbol("<"), .symbol(">"), .text(" $q$ ; "), .symbol(":"), .symbol(":"), .word("TEXT"), .symbol(","),
        .number("1.5"),
      ]
    )
    #expect(SQLToken.tokens("SELECT \"a") == nil)
  }

  /// Whatever a store does, what it sends is seen, and accepted.
  @Test(.needsServer, arguments: PostgreSQLDialect.allCases)
  func everyKindOfStatementIsSeen(_ dialect: PostgreSQLDialect) throws {
    let log = StatementLog()
    var options = log.options
    options[.postgresDialect] = dialect
    options[.postgresNotesOtherClients] = false
    options[.tracksPersistentHistory] = true
    let bench = try StoreBench()
    try work(bench, options)
    let statements = log.all
    for statement in statements {
      #expect(StatementCheck.findings(statement, dialect, notesOthers: false) == [], "\(statement)")
    }
    let kinds = [
      "SET", "SHOW", "BEGIN", "COMMIT", "CREATE SCHEMA", "CREATE TABLE", "CREATE INDEX", "CREATE UNIQUE INDEX",
      "ALTER TABLE", "INSERT INTO", "WITH done AS (UPDATE", "WITH done AS (DELETE", "WITH done AS (SELECT", "COPY \"",
      "SELECT r.id FROM", "SELECT count(*)", "UPDATE", "DELETE FROM", "ALTER SCHEMA", "DROP TABLE", "DROP SCHEMA",
      dialect.copiesRowsOut ? "COPY (SELECT" : "SELECT r.id, r.version",
    ]
    for kind in kinds { #expect(statements.contains { $0.hasPrefix(kind) }, "\(kind) is not seen") }
  }

  /// Does everything that a store can do.
  private func work(_ bench: StoreBench, _ options: StoreOptions) throws {
    let context = try bench.context(options)
    let list = try bench.insert("List", ["name": "Home"], in: context)
    let tag = try bench.insert("Tag", ["name": "new"], in: context)
    let items = try (0..<150).map { number in
      try bench.insert("Item", ["title": "\(number)", "code": "\(number)", "count": number, "list": list], in: context)
    }
    try list.setValue(items[0], forKey: "favourite")
    try items[0].setValue(Set([tag]), forKey: "tags")
    try context.save()
    try items[0].setValue("1", forKey: "code")
    try items[1].setValue("0", forKey: "code")
    try items[0].setValue(Set<ManagedObject>(), forKey: "tags")
    context.detectConflicts(for: items[2])
    context.delete(items[149])
    try context.save()
    let coordinator = context.persistentStoreCoordinator
    _ = try bench.titles(context, where: "title BEGINSWITH '1' AND count > 5")
    _ = try context.count(entityName: "Item")
    // What is found in memory needs all records.
    _ = try bench.titles(try bench.context(options), where: "title LIKE[c] '1*'")
    _ = try coordinator.execute(
      BatchUpdateRequest(
        entityName: "Item",
        where: try FetchPredicate(format: "count < 3"),
        propertiesToUpdate: ["title": "x"]
      )
    )
    let token = try #require(try coordinator.execute(.fetchHistory(after: nil as PersistentHistoryToken?)).last?.token)
    try coordinator.deleteHistory(before: token)
    let engine = coordinator.persistentStores[0].engine
    #expect(try engine.fileFaults(limit: 10) == [])
    coordinator.close()
    try move(bench, options)
  }

  /// Copies the store, replaces another one by the copy, and removes it.
  private func move(_ bench: StoreBench, _ options: StoreOptions) throws {
    let format = PostgreSQLFormat()
    let (location, url) = (try bench.server.location(schema: bench.schema), try bench.url)
    let temporary = try #require(try format.temporaryURL(for: url))
    let schema = try PostgreSQLLocation(url: temporary).schema
    try PostgreSQLStore.copy(from: location, toSchema: schema, options: options)
    try format.moveStore(at: temporary, to: url, replacing: true, options: options)
    #expect(try format.readMetadata(at: url, options: options)?.storeType == .postgreSQL)
    try format.removeStore(at: url, options: options)
  }
}
