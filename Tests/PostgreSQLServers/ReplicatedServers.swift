import Foundation
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A primary server and its standby, which has each transaction before the primary reports the commit: two clusters in
/// a temporary folder, each with a socket in a folder of its own and no TCP.
///
/// A shell stops the servers and removes the folder when its input ends, which it does however this process ends.
package final class ReplicatedServers: Sendable {
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  private let binaries: String
  private let folder: String
  /// The input of the shell.
  private let input: FileHandle
  private let commandCount = Mutex(0)
  /// Which of the two servers is the primary, and which the standby.
  private let roles = Mutex((primary: "a", standby: "b"))
  private var primary: String { roles.withLock { $0.primary } }
  private var standby: String { roles.withLock { $0.standby } }

  /// Starts both.
  package init() throws {
    guard let binaries = PostgreSQLPrograms.folder else {
      throw Failure(description: "PostgreSQL's server is not installed.")
    }
    self.binaries = binaries
    // A socket's path has 107 bytes at most.
    folder = "/tmp/hwpg-\(UUID().uuidString.prefix(8))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    if geteuid() == 0 {
      try FileManager.default.setAttributes([.ownerAccountName: "postgres"], ofItemAtPath: folder)
    }
    input = try Self.watch(folder)
    for name in ["a", "b"] { try run("mkdir", "\(folder)/\(name)") }
    let initialization = ["-U", "heartwood", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"]
    try run(["\(binaries)/initdb", "-D", data("a")] + initialization)
    try start("a")
    try addStandby()
  }

  /// Starts the shell that runs commands, a line each, and cleans up at the end.
  ///
  /// It runs them because a server outlives the command that starts it, and would keep what this process has open.
  private static func watch(_ folder: String) throws -> FileHandle {
    let shell = Process()
    shell.executableURL = URL(filePath: "/bin/sh")
    shell.arguments = [
      "-c",
      """
      cd /; number=0
      while IFS= read -r line; do
        number=$((number + 1))
        eval "$line" > \(folder)/output 2>&1 < /dev/null
        echo $? > \(folder)/status
        mv \(folder)/status \(folder)/status.$number
      done
      for file in \(folder)/*/data/postmaster.pid; do
        if [ -f "$file" ]; then kill -QUIT "$(head -n 1 "$file")" 2> /dev/null; fi
      done
      sleep 1
      rm -rf \(folder)
      """,
    ]
    let pipe = Pipe()
    shell.standardInput = pipe
    try shell.run()
    return pipe.fileHandleForWriting
  }

  /// The URL of a schema, which names both servers.
  package func url(schema: String) -> String {
    "postgresql://heartwood@/postgres/\(schema)?host=\(folder)/a,\(folder)/b"
  }

  private func data(_ name: String) -> String { "\(folder)/\(name)/data" }
}

// MARK: Servers

extension ReplicatedServers {
  /// Ends the primary as a loss of power does, but for what the system has not written yet.
  package func killPrimary() throws {
    let file = try String(contentsOfFile: "\(data(primary))/postmaster.pid", encoding: .utf8)
    guard let line = file.split(separator: "\n").first, let process = pid_t(line) else {
      throw Failure(description: "The primary does not run.")
    }
    kill(process, SIGKILL)
    // The other processes of the server end when they notice that the first one has.
    while kill(process, 0) == 0 { usleep(10_000) }
  }

  /// Starts the primary again, with the data that it has.
  package func restartPrimary() throws { try start(primary) }

  /// Makes the standby the primary.
  package func promoteStandby() throws {
    try run("\(binaries)/pg_ctl", "-D", data(standby), "-w", "promote")
    roles.withLock { $0 = ($0.standby, $0.primary) }
  }

  /// Makes a new standby of the primary's data, in place of the other server.
  package func addStandby() throws {
    try run("rm", "-rf", data(standby))
    try run(
      "\(binaries)/pg_basebackup",
      "-h",
      "\(folder)/\(primary)",
      "-U",
      "heartwood",
      "-D",
      data(standby),
      "-R",
      "-X",
      "stream",
      "-c",
      "fast",
      "--no-sync"
    )
    try start(standby)
    try execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
    try execute("SELECT pg_reload_conf()")
  }

  private func start(_ name: String) throws {
    // The first process of a server that was killed has left its file.
    let options = "-k \(folder)/\(name) -c listen_addresses= -c max_connections=100 -c fsync=off -c wal_keep_size=64MB"
    try run(
      "\(binaries)/pg_ctl",
      "-D",
      data(name),
      "-w",
      "-t",
      "60",
      "-l",
      "\(folder)/\(name)/log",
      "-o",
      options,
      "start"
    )
  }

  /// Runs a statement on the primary.
  package func execute(_ statement: String) throws {
    try run("\(binaries)/psql", "-h", "\(folder)/\(primary)", "-U", "heartwood", "-d", "postgres", "-qc", statement)
  }

  private func run(_ words: String...) throws { try run(words) }

  /// Runs a program, as the user that the package has made if this is root, whom the server refuses.
  private func run(_ words: [String]) throws {
    let line = (PostgreSQLPrograms.prefix + words).map { "'\($0.replacing("'", with: "'\\''"))'" }.joined(
      separator: " "
    )
    let status = try commandCount.withLock { count in
      count += 1
      try input.write(contentsOf: Data("\(line)\n".utf8))
      let file = "\(folder)/status.\(count)"
      while !FileManager.default.fileExists(atPath: file) { usleep(2_000) }
      return try String(contentsOfFile: file, encoding: .utf8)
    }
    if status == "0\n" { return }
    let text = try String(contentsOfFile: "\(folder)/output", encoding: .utf8)
    throw Failure(description: "\(words.joined(separator: " ")): \(text)")
  }
}
