import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The programs of a PostgreSQL server.
package enum PostgreSQLPrograms {
  /// The folder of the programs; nil if they are not installed.
  package static let folder: String? = {
    let environment = ProcessInfo.processInfo.environment
    let debian = "/usr/lib/postgresql"
    // try?: a folder that is not there has no versions.
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: debian)) ?? []
    let candidates =
      [environment["HEARTWOOD_POSTGRES_BIN"]].compactMap(\.self)
      + versions.sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }.map { "\(debian)/\($0)/bin" }
      + (environment["PATH"] ?? "").split(separator: ":").map(String.init)
      + ["/opt/homebrew/bin", "/usr/local/bin"]
    return candidates.first { folder in
      ["initdb", "postgres"].allSatisfy { FileManager.default.isExecutableFile(atPath: "\(folder)/\($0)") }
    }
  }()

  /// The words before each command: root may not run the programs, and leaves them to the user that the package has
  /// made.
  package static let prefix: [String] =
    geteuid() == 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] : []
}
