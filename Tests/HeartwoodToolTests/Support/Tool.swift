import Foundation
import TestSupport
import Testing

/// Runs the built tool.
struct Tool {
  /// How a run ended.
  struct Outcome {
    let status: Int32
    let output: Data
    let errors: String

    var text: String { String(decoding: output, as: UTF8.self) }
    var lines: [String] { text.split(separator: "\n").map(String.init) }

    /// The output as a JSON value.
    func json() throws -> Any { try JSONSerialization.jsonObject(with: output, options: .fragmentsAllowed) }

    /// Each line of the output as a JSON object.
    func jsonLines() throws -> [[String: Any]] {
      try lines.map { line in
        try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
      }
    }
  }

  /// The working directory of the runs.
  let folder: URL

  /// Runs the tool with `arguments`.
  func callAsFunction(_ arguments: String...) throws -> Outcome { try self(arguments) }

  func callAsFunction(_ arguments: [String]) throws -> Outcome {
    try run(try BuiltExecutable.url(named: "heartwood"), arguments)
  }

  /// Runs what the plugin runs.
  func generator(_ arguments: String...) throws -> Outcome {
    try run(try BuiltExecutable.url(named: "HeartwoodGenerate"), arguments)
  }

  /// Runs a line of a shell, for which `heartwood` is the tool.
  func shell(_ line: String) throws -> Outcome {
    let tool = try BuiltExecutable.url(named: "heartwood").path
    return try run(URL(filePath: "/bin/sh"), ["-c", "heartwood() { '\(tool)' \"$@\"; }\n\(line)"])
  }

  private func run(_ executable: URL, _ arguments: [String]) throws -> Outcome {
    let names = (UUID().uuidString + ".out", UUID().uuidString + ".err")
    let files = (folder.appending(path: names.0), folder.appending(path: names.1))
    defer {
      try? FileManager.default.removeItem(at: files.0)
      try? FileManager.default.removeItem(at: files.1)
    }
    let process = Process()
    process.executableURL = executable
    process.arguments = arguments
    process.currentDirectoryURL = folder
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try Self.newFile(files.0)
    process.standardError = try Self.newFile(files.1)
    try process.run()
    process.waitUntilExit()
    return Outcome(
      status: process.terminationStatus,
      output: try Data(contentsOf: files.0),
      errors: try String(contentsOf: files.1, encoding: .utf8)
    )
  }

  private static func newFile(_ url: URL) throws -> FileHandle {
    try Data().write(to: url)
    return try FileHandle(forWritingTo: url)
  }
}
