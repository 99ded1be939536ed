import ArgumentParser
import GRDB

/// Says which SQLite the peer uses.
struct VersionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "version", abstract: "Say which versions these are.")

  func run() throws {
    let version = try DatabaseQueue().read { try String.fetchOne($0, sql: "SELECT sqlite_version()") }
    print("GRDB 7.10.0, SQLite \(version ?? "unknown")")
  }
}
