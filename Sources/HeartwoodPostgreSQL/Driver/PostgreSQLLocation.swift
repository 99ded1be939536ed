import HeartwoodFoundation
import HeartwoodStore

/// The location of a store: a schema of a database, and how libpq connects to it.
///
///     postgresql://user@host:port/database/schema?sslmode=require
///
/// The schema is the last part of the path, or `public` if there is none. Query items are libpq's connection
/// parameters: `?host=/run/postgresql` is the folder of a socket, `?host=a,b` names several hosts, and `?service=name`
/// a service. A password is refused, because URLs are displayed and logged: libpq finds it in `PGPASSWORD`, `~/.pgpass`
/// or a service file.
struct PostgreSQLLocation: Sendable, Hashable {
  static let schemes = ["postgresql", "postgres"]
  static let defaultSchema = "public"
  /// The number of bytes of a name that PostgreSQL keeps.
  static let greatestNameLength = 63

  /// libpq's connection parameters, by their keywords.
  let parameters: [String: String]
  let schema: String
  /// The URL as it was given.
  let text: String

  init(url: URL) throws(PersistenceError) {
    try self.init(text: url.absoluteString)
  }

  init(text: String) throws(PersistenceError) {
    let rest = Self.schemes.lazy.compactMap { scheme in
      text.lowercased().hasPrefix(scheme + "://") ? text.dropFirst(scheme.count + 3) : nil
    }.first
    guard let rest else { throw Self.failure("It does not begin with postgresql://.", text: "") }
    var parameters: [String: String] = [:]
    let question = rest.firstIndex(of: "?") ?? rest.endIndex
    try Self.readQuery(rest[question...].dropFirst(), &parameters)
    var authority = rest[..<question]
    var path: Substring = ""
    if let slash = authority.firstIndex(of: "/") {
      path = authority[slash...].dropFirst()
      authority = authority[..<slash]
    }
    try Self.readAuthority(authority, &parameters)
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    if parts.count > 2 {
      throw Self.failure("Its path has more parts than a database and a schema.", text: text)
    }
    if let database = parts.first, !database.isEmpty {
      parameters["dbname"] = try Self.decoded(database)
    }
    let schema =
      parts.count == 2 && !parts[1].isEmpty ? try Self.decoded(parts[1]) : Self.defaultSchema
    guard schema.utf8.count <= Self.greatestNameLength, !schema.hasPrefix("pg_"),
      !schema.utf8.contains(0)
    else {
      throw Self.failure(
        "PostgreSQL does not take “\(schema)” for the name of a schema.",
        text: text
      )
    }
    self.parameters = parameters
    self.schema = schema
    self.text = text
  }

  private static func readAuthority(
    _ authority: Substring,
    _ parameters: inout [String: String]
  ) throws(PersistenceError) {
    var hosts = authority
    if let at = authority.lastIndex(of: "@") {
      hosts = authority[authority.index(after: at)...]
      let user = authority[..<at]
      if user.contains(":") { throw passwordFailure }
      if !user.isEmpty { parameters["user"] = try decoded(user) }
    }
    if hosts.isEmpty { return }
    var (names, ports): ([String], [String]) = ([], [])
    for host in hosts.split(separator: ",", omittingEmptySubsequences: false) {
      // An IPv6 address is in brackets, and contains colons.
      let bracket = host.lastIndex(of: "]")
      let colon = host[(bracket ?? host.startIndex)...].lastIndex(of: ":")
      let name = host[..<(colon ?? host.endIndex)]
      names.append(try decoded(bracket == nil ? name : name.dropFirst().dropLast()))
      ports.append(colon.map { String(host[host.index(after: $0)...]) } ?? "")
    }
    if names.contains(where: { !$0.isEmpty }) { parameters["host"] = names.joined(separator: ",") }
    if ports.contains(where: { !$0.isEmpty }) { parameters["port"] = ports.joined(separator: ",") }
  }

  private static func readQuery(_ query: Substring, _ parameters: inout [String: String])
    throws(PersistenceError)
  {
    for item in query.split(separator: "&") {
      let equals = item.firstIndex(of: "=") ?? item.endIndex
      let name = try decoded(item[..<equals])
      if name == "password" || name == "sslpassword" { throw passwordFailure }
      parameters[name] = try decoded(item[equals...].dropFirst())
    }
  }

  private static func decoded(_ text: Substring) throws(PersistenceError) -> String {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      let digits = rest.prefix(2)
      guard digits.count == 2, let byte = UInt8(String(Substring(digits)), radix: 16), byte != 0
      else {
        throw failure(
          "A part of it has a percent sign that is not followed by two hexadecimal digits.",
          text: ""
        )
      }
      bytes.append(byte)
      rest = rest.dropFirst(2)
    }
    guard let decoded = String(validating: bytes, as: UTF8.self) else {
      throw failure("A part of it is not UTF-8.", text: "")
    }
    return decoded
  }

  private static let passwordFailure = failure(
    "It holds a password, which would be shown wherever the URL is.",
    recovery: "Leave it out, and give it in PGPASSWORD, ~/.pgpass or a service file.",
    text: ""
  )

  /// - Parameter text: the URL if it may be shown.
  private static func failure(
    _ problem: String,
    recovery: PersistenceError.Recovery =
      "Write it as postgresql://user@host:port/database/schema.",
    text: String
  ) -> PersistenceError {
    PersistenceError(
      .fileNotFound,
      "The URL cannot be that of a PostgreSQL store. \(problem)",
      recovery: recovery,
      context: .init(path: text.isEmpty ? nil : text, storeType: .postgreSQL)
    )
  }
}

extension PostgreSQLLocation {
  /// Returns the location of another schema in the same database.
  func replacing(schema: String) -> PostgreSQLLocation {
    let question = text.firstIndex(of: "?") ?? text.endIndex
    var parts = text[..<question].split(separator: "/", omittingEmptySubsequences: false).map(
      String.init
    )
    // The parts before the path are the scheme, an empty one, and the host.
    while parts.count < 4 { parts.append("") }
    parts[4...] = [Self.encoded(schema)]
    return PostgreSQLLocation(parameters, schema, parts.joined(separator: "/") + text[question...])
  }

  private static func encoded(_ name: String) -> String {
    name.utf8.map { byte in
      let character = Character(Unicode.Scalar(byte))
      if character.isASCII, character.isLetter || character.isNumber || character == "_" {
        return String(character)
      }
      return "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }.joined()
  }

  private init(_ parameters: [String: String], _ schema: String, _ text: String) {
    self.parameters = parameters
    self.schema = schema
    self.text = text
  }

  /// Returns all parameters for libpq: those of the URL, and defaults for those it does not set.
  ///
  /// - Parameter prefersStandbys: whether libpq can prefer a standby for a store that is only read: since PostgreSQL 14.
  func connectionParameters(_ options: StoreOptions, prefersStandbys: Bool = true) -> [String: String] {
    var all = [
      "connect_timeout": "\(max(1, options[.postgresConnectTimeout].components.seconds))",
      "tcp_user_timeout": "10000",
      "application_name": "Heartwood",
    ]
    all.merge(parameters) { $1 }
    // libpq does not convert encodings: texts are UTF-8.
    all["client_encoding"] = "UTF8"
    // libpq reads the environment only for parameters that are not set here.
    if parameters["sslmode"] == nil, parameters["service"] == nil, !isLocal {
      all["sslmode"] = "require"
    }
    // Of several hosts, all but one are standbys, which cannot save.
    if namesSeveralHosts, parameters["target_session_attrs"] == nil {
      if !options[.isReadOnly] {
        all["target_session_attrs"] = "read-write"
      } else if prefersStandbys {
        all["target_session_attrs"] = "prefer-standby"
      }
    }
    return all
  }

  /// Whether the store may be on any of several hosts, and on another one after a failover.
  var namesSeveralHosts: Bool {
    ["host", "hostaddr"].contains { parameters[$0]?.contains(",") == true }
  }

  /// Whether the server is on the same machine, so that the connection cannot be intercepted on a network.
  private var isLocal: Bool {
    guard let host = parameters["host"] else { return true }
    return host.split(separator: ",").allSatisfy {
      $0.hasPrefix("/") || $0 == "localhost" || $0 == "127.0.0.1" || $0 == "::1"
    }
  }
}
