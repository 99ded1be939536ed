import Foundation
import HeartwoodModel
import HeartwoodStore
import Testing

@testable import HeartwoodPostgreSQL

/// What the driver does with a server.
@Suite(.needsServer) struct ConnectionTests {
  private let server: TestServer

  init() throws {
    server = try TestServer.shared.get()
  }

  private func connect(_ options: StoreOptions = StoreOptions()) throws -> PostgreSQLConnection {
    try PostgreSQLConnection(try server.location(schema: "public"), options: options)
  }

  private func error(_ body: () throws -> Void) -> PostgreSQLError? {
    do {
      try body()
      return nil
    } catch {
      return error as? PostgreSQLError
    }
  }

  @Test func parametersAndResultsAreBinary() throws {
    let connection = try connect()
    let uuid = UUID()
    let result = try connection.run(
      "SELECT $1::uuid, $2::bigint + 1, $3::text, $4::bytea, $5::boolean, NULL::text",
      [.uuid(uuid), .bigint(41), .text("ä'\\"), .bytea(Data([0, 255])), .boolean(true)]
    )
    let row = try result.first { (row: PostgreSQLRow) throws -> Int in
      #expect(try row.uuid(0) == uuid)
      #expect(try row.bigint(1) == 42)
      #expect(try row.text(2) == "ä'\\")
      #expect(try row.data(3) == Data([0, 255]))
      #expect(try row.boolean(4) == true)
      #expect(try row.text(5) == nil)
      return row.count
    }
    #expect(row == 6)
  }

  @Test func arraysAreUnnested() throws {
    let uuids = (0..<300).map { _ in UUID() }
    let result = try connect().run(
      "SELECT u.id, u.number FROM unnest($1::uuid[], $2::bigint[]) WITH ORDINALITY AS u(id, number, place) ORDER BY u.place",
      [.uuids(uuids), .bigints((0..<300).map(Int64.init))]
    )
    var found: [UUID] = []
    try result.forEachRow { row in found.append(try row.required(0, row.uuid)) }
    #expect(found == uuids)
  }

  @Test func emptyTextIsNotNull() throws {
    let length = try connect().run("SELECT length($1::text)::bigint", [.text("")]).first {
      try $0.bigint(0)
    }
    #expect(length == 0)
  }

  @Test func moreStatementsThanAreKept() throws {
    let connection = try connect()
    for number in 0..<300 {
      #expect(
        try connection.run("SELECT $1::bigint + \(number)", [.bigint(1)]).first { try $0.bigint(0) }
          == Int64(number + 1)
      )
    }
    #expect(
      try connection.run("SELECT $1::bigint + 0", [.bigint(1)]).first { try $0.bigint(0) } == 1
    )
    let count = try connection.execute("SELECT count(*) FROM pg_prepared_statements").first {
      try $0.text(0)
    }
    #expect(count == "256")
  }

  @Test func rowsAreCopiedInAndOut() throws {
    let connection = try connect()
    try connection.execute("CREATE TEMPORARY TABLE numbers (number bigint, name text)")
    let count = 20_000
    try connection.copyIn("COPY numbers FROM STDIN (FORMAT binary)") { buffer, endRow in
      for number in 0..<count {
        buffer.append(bigEndian: Int16(2))
        buffer.appendField(Int64(number))
        if number % 3 == 0 {
          buffer.appendNullField()
        } else {
          buffer.appendField("name \(number)".utf8)
        }
        try endRow(&buffer)
      }
    }
    var found = 0
    try connection.copyOut(
      "COPY (SELECT number, name FROM numbers ORDER BY number) TO STDOUT (FORMAT binary)"
    ) { row in
      let (number, name) = (try row.bigint(0), try row.text(1))
      #expect(number == Int64(found))
      #expect(name == (found % 3 == 0 ? nil : "name \(found)"))
      found += 1
    }
    #expect(found == count)
  }

  private struct Stop: Error {}

  @Test func copyingThatIsStoppedLeavesTheConnectionUsable() throws {
    let connection = try connect()
    try connection.execute("CREATE TEMPORARY TABLE numbers (number bigint)")
    #expect(throws: Stop.self) {
      try connection.copyIn("COPY numbers FROM STDIN (FORMAT binary)") { buffer, _ in
        buffer.append(bigEndian: Int16(1))
        throw Stop()
      }
    }
    #expect(throws: Stop.self) {
      try connection.copyOut("COPY (SELECT generate_series(1, 1000000)) TO STDOUT (FORMAT binary)") { _ in throw Stop()
      }
    }
    let count = try connection.execute("SELECT count(*) FROM numbers").first { try $0.text(0) }
    #expect(count == "0")
  }

  @Test func copiedRowsThatDoNotFitAreAnError() throws {
    let connection = try connect()
    try connection.execute("CREATE TEMPORARY TABLE numbers (number bigint PRIMARY KEY)")
    let failure = error {
      try connection.copyIn("COPY numbers FROM STDIN (FORMAT binary)") { buffer, endRow in
        for _ in 0..<2 {
          buffer.append(bigEndian: Int16(1))
          buffer.appendField(7 as Int64)
          try endRow(&buffer)
        }
      }
    }
    #expect(failure?.sqlState == "23505")
    #expect(failure?.constraintName == "numbers_pkey")
  }

  @Test func errorsHaveTheirState() throws {
    let connection = try connect()
    #expect(error { try connection.execute("SELECT * FROM missing_table") }?.sqlState == "42P01")
    #expect(
      error { try connection.run("SELECT 1 / $1::bigint", [.bigint(0)]) }?.sqlState == "22012"
    )
    #expect(try connection.execute("SELECT 1").rowCount == 1)
  }

  @Test func aMissingDatabaseAndAMissingServerAreErrors() throws {
    let database = try PostgreSQLLocation(
      text: server.url(schema: "s").replacing("/postgres/", with: "/no_such_database/")
    )
    let missing = error { _ = try PostgreSQLConnection(database, options: StoreOptions()) }
    #expect(missing?.sqlState == "3D000")
    #expect(missing?.persistenceError(at: "").code == .fileNotFound)
    let nowhere = try PostgreSQLLocation(text: "postgresql://heartwood@/app?host=/nonexistent")
    let unreachable = error { _ = try PostgreSQLConnection(nowhere, options: StoreOptions()) }
    #expect(unreachable?.persistenceError(at: "").code == .fileReadFailed)
  }

  @Test func statementsAreStoppedByTimeAndByOthers() throws {
    var options = StoreOptions()
    options[.postgresStatementTimeout] = .milliseconds(50)
    let impatient = try connect(options)
    let stopped = error { try impatient.execute("SELECT pg_sleep(30)") }
    #expect(stopped?.persistenceError(at: "").code == .storeBusy)
    let connection = try connect()
    Thread.detachNewThread {
      usleep(200_000)
      connection.cancel()
    }
    #expect(error { try connection.execute("SELECT pg_sleep(30)") }?.sqlState == "57014")
    #expect(try connection.execute("SELECT 1").rowCount == 1)
  }

  @Test func aConnectionThatTheServerEndsIsLost() throws {
    let (connection, other) = (try connect(), try connect())
    let number = try connection.execute("SELECT pg_backend_pid()").first { try $0.text(0) } ?? nil
    try other.execute("SELECT pg_terminate_backend(\(try #require(number)))")
    let failure = error { try connection.execute("SELECT pg_sleep(0.2)") }
    #expect(failure?.isOfConnection == true)
    #expect(connection.isLost)
  }
}
