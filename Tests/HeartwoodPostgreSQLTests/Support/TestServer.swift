import Foundation
import HeartwoodStore
import PostgreSQLServers
import Testing

@testable import HeartwoodPostgreSQL

#if canImport(Glibc)
  import Glibc
#endif

/// A PostgreSQL server for the tests of this process: a cluster of its own in a temporary folder, with a socket in that folder and no TCP.
///
/// A shell stands between the tests and the server. It stops the server and removes the folder when its input ends, which it does however the tests
/// end.
final class TestServer: Sendable {
  /// The server, started when it is first asked for; an error says why there is none.
  static let shared = Result { try TestServer() }

  /// Whether the programs of a server are installed. If not, tests that need one are skipped.
  static let isInstalled = PostgreSQLPrograms.folder != nil
  static let reason: Comment =
    "PostgreSQL's server is not installed (Debian and Ubuntu: apt-get install postgresql; macOS: brew install postgresql)."

  private let folder: String
  /// The commands of the shell, which runs as long as this is open.
  private let input: FileHandle

  init() throws {
    let binaries = try #require(PostgreSQLPrograms.folder)
    // A socket's path has 107 bytes at most.
    folder = "/tmp/hwpg-\(UUID().uuidString.prefix(8))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    if geteuid() == 0 {
      try FileManager.default.setAttributes([.ownerAccountName: "postgres"], ofItemAtPath: folder)
    }
    let initialization =
      PostgreSQLPrograms.prefix + [
        "\(binaries)/initdb", "-D", "\(folder)/data", "-U", "heartwood", "-A", "trust", "-E",
        "UTF8", "--no-locale",
        "--no-sync", "--no-instructions",
      ]
    let server =
      PostgreSQLPrograms.prefix + [
        "\(binaries)/postgres", "-D", "\(folder)/data", "-k", folder, "-c", "listen_addresses=",
        "-c", "fsync=off",
        "-c", "max_connections=200", "-c", "log_destination=stderr",
      ]
    // Each line is a command: a signal ends the server, and START starts it again. A file says that it has ended.
    let script = """
      cd /
      start() { \(Self.command(server)) >> \(folder)/log 2>&1 < /dev/null & server=$!; }
      \(Self.command(initialization)) > \(folder)/log 2>&1 || exit 1
      start
      while read line; do
        if [ $line = START ]; then start; else kill -$line $server; wait $server; touch \(folder)/ended; fi
      done
      kill -INT $server
      wait $server
      rm -rf \(folder)
      """
    let shell = Process()
    shell.executableURL = URL(filePath: "/bin/sh")
    shell.arguments = ["-c", script]
    let pipe = Pipe()
    shell.standardInput = pipe
    try shell.run()
    input = pipe.fileHandleForWriting
    try waitUntilReady(shell)
  }

  /// Ends the server: in an orderly way, or as a crash does.
  func stop(crashing: Bool = false) throws {
    let ended = "\(folder)/ended"
    try input.write(contentsOf: Data((crashing ? "QUIT\n" : "INT\n").utf8))
    for _ in 0..<600 where !FileManager.default.fileExists(atPath: ended) { usleep(50_000) }
    try FileManager.default.removeItem(atPath: ended)
  }

  /// Starts the server again, with the same data.
  func start() throws {
    try input.write(contentsOf: Data("START\n".utf8))
    try waitUntilReady()
  }

  private static func command(_ words: [String]) -> String {
    words.map { "'\($0)'" }.joined(separator: " ")
  }

  private func waitUntilReady(_ shell: Process? = nil) throws {
    let location = try location(schema: "none")
    for _ in 0..<600 {
      guard shell?.isRunning != false else { break }
      if FileManager.default.fileExists(atPath: "\(folder)/.s.PGSQL.5432") {
        // try?: a server that is starting refuses connections.
        if (try? PostgreSQLConnection(location, options: StoreOptions())) != nil { return }
      }
      usleep(50_000)
    }
    // try?: without a log there is nothing more to say.
    let log = (try? String(contentsOfFile: "\(folder)/log", encoding: .utf8)) ?? ""
    throw TestServerFailure(message: "The server did not start. \(log)")
  }

  /// The URL of a schema.
  func url(schema: String, _ items: String = "") -> String {
    "postgresql://heartwood@/postgres/\(schema)?host=\(folder)\(items.isEmpty ? "" : "&")\(items)"
  }

  func location(schema: String) throws -> PostgreSQLLocation {
    try PostgreSQLLocation(text: url(schema: schema))
  }

  /// A name that no other test has.
  static func newSchema() -> String {
    "t_\(UUID().uuidString.replacing("-", with: "").lowercased())"
  }
}

struct TestServerFailure: Error {
  let message: String
}

extension Trait where Self == ConditionTrait {
  /// Skips a test, with the reason, if there is no server to be started.
  static var needsServer: Self { .enabled(if: TestServer.isInstalled, TestServer.reason) }
}
