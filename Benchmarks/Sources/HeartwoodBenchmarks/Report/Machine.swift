import Foundation

/// What the measurements ran on, line by line.
struct Machine {
  let lines: [String]

  static func describe(_ programs: Programs) -> Machine {
    let process = ProcessInfo.processInfo
    let memory = process.physicalMemory / (1 << 30)
    let load = loadAverage.map { ", load \($0) before the first run" } ?? ""
    var lines = [
      "\(Date.now.formatted(.iso8601))",
      "\(processorName ?? "unknown processor"), \(process.activeProcessorCount) cores, \(memory) GB\(load)",
      "\(process.operatingSystemVersionString)",
      firstLine(["/usr/bin/env", "swift", "--version"]) ?? "unknown Swift",
    ]
    if let tool = firstLine([programs.tool, "--version"]) { lines.append("heartwood \(tool)") }
    if let grdb = firstLine([programs.grdb, "version"]) { lines.append(grdb) }
    let duckDB = programs.python.flatMap { firstLine([$0, programs.duckdb, "version"]) }
    lines.append(duckDB.map { "DuckDB \($0)" } ?? "no DuckDB: its comparisons are left out")
    return Machine(lines: lines)
  }

  private static func firstLine(_ command: [String]) -> String? {
    guard let outcome = try? ChildProcess.run(command) else { return nil }
    return String(decoding: outcome.output, as: UTF8.self).split(separator: "\n").first.map(String.init)
  }

  /// As Linux tells it.
  private static var processorName: String? {
    guard let text = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8) else { return nil }
    return text.split(separator: "\n").first { $0.hasPrefix("model name") }?
      .split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) }
  }

  /// The number of processes that wanted to run in the last minute, as Linux tells it.
  private static var loadAverage: String? {
    (try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8))?.split(separator: " ").first.map(String.init)
  }
}
