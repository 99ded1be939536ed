import HeartwoodStore
import Testing

@testable import HeartwoodPostgreSQL

/// URLs of stores.
@Suite struct LocationTests {
  private func code(_ body: () throws -> Void) -> PersistenceError? {
    do {
      try body()
      return nil
    } catch {
      return error as? PersistenceError
    }
  }

  @Test func partsOfTheURLAreParametersOfTheConnection() throws {
    let location = try PostgreSQLLocation(
      text: "postgresql://ann%40home@db.example:5433/app/to%20do?sslmode=verify-full"
    )
    #expect(
      location.parameters == [
        "user": "ann@home", "host": "db.example", "port": "5433", "dbname": "app",
        "sslmode": "verify-full",
      ]
    )
    #expect(location.schema == "to do")
  }

  @Test func whatIsLeftOutHasADefault() throws {
    let location = try PostgreSQLLocation(text: "POSTGRES:///app?host=/run/postgresql&service=main")
    #expect(location.parameters == ["dbname": "app", "host": "/run/postgresql", "service": "main"])
    #expect(location.schema == "public")
    #expect(try PostgreSQLLocation(text: "postgres://").parameters.isEmpty)
  }

  @Test(
    arguments: [
      ("postgresql://a:1/app/s?x=y", "postgresql://a:1/app/new%20one?x=y"),
      ("postgresql:///app", "postgresql:///app/new%20one"),
      ("postgresql://a", "postgresql://a//new%20one"),
    ]
  )
  func anotherSchemaHasAURLToo(_ text: String, _ expected: String) throws {
    let location = try PostgreSQLLocation(text: text).replacing(schema: "new one")
    #expect(location.text == expected)
    let parsed = try PostgreSQLLocation(text: expected)
    #expect(parsed.schema == "new one")
    #expect(parsed.parameters == location.parameters)
  }

  @Test func severalHostsAndAddresses() throws {
    let location = try PostgreSQLLocation(
      text: "postgresql://a:1,b,[::1]:3/app/s?target_session_attrs=read-write"
    )
    #expect(location.parameters["host"] == "a,b,::1")
    #expect(location.parameters["port"] == "1,,3")
    #expect(location.parameters["target_session_attrs"] == "read-write")
  }

  @Test(
    arguments: [
      "postgresql://ann:secret@host/app", "postgresql://host/app?password=secret",
      "postgresql://host/app?sslpassword=secret",
    ]
  )
  func aPasswordIsRefusedAndNotShown(_ text: String) {
    let error = code { _ = try PostgreSQLLocation(text: text) }
    #expect(error?.code == .fileNotFound)
    #expect(error.map { "\($0)".contains("secret") } == false)
    #expect(error?.message.contains("PGPASSWORD") == true)
  }

  @Test(
    arguments: [
      "mysql://host/app", "postgresql://host/a/b/c", "postgresql://host/app/pg_x",
      "postgresql://host/%zz", "",
      "postgresql://host/app/\(String(repeating: "x", count: 64))",
    ]
  )
  func whatIsNoPlaceIsRefused(_ text: String) {
    #expect(code { _ = try PostgreSQLLocation(text: text) }?.code == .fileNotFound)
  }

  @Test func otherMachinesAreReachedBySafeConnections() throws {
    let options = StoreOptions()
    let remote = try PostgreSQLLocation(text: "postgresql://db.example/app").connectionParameters(
      options
    )
    #expect(remote["sslmode"] == "require")
    #expect(remote["connect_timeout"] == "5")
    #expect(remote["client_encoding"] == "UTF8")
    let local = try PostgreSQLLocation(text: "postgresql://localhost/app?connect_timeout=9")
      .connectionParameters(
        options
      )
    #expect(local["sslmode"] == nil)
    #expect(local["connect_timeout"] == "9")
  }

  @Test(arguments: [
    ("postgresql://a,b/app", false, "read-write"), ("postgresql:///app?host=/a,/b", true, "prefer-standby"),
    ("postgresql://a,b/app?target_session_attrs=any", false, "any"), ("postgresql://a/app", false, nil),
  ])
  func ofSeveralHostsTheRightOneIsUsed(_ text: String, isReadOnly: Bool, _ expected: String?) throws {
    var options = StoreOptions()
    options[.isReadOnly] = isReadOnly
    let location = try PostgreSQLLocation(text: text)
    #expect(location.connectionParameters(options)["target_session_attrs"] == expected)
    // An old libpq does not know standbys.
    let old = location.connectionParameters(options, prefersStandbys: false)
    #expect(old["target_session_attrs"] == (expected == "prefer-standby" ? nil : expected))
  }

  @Test func aMissingLibrarySaysWhatToInstall() {
    let error = code { _ = try LibPQ.open(atPath: "libnothing-of-this-name.so") }
    #expect(error?.code == .capabilityMissing)
    #expect(error?.message.contains("libpq5") == true)
  }
}
