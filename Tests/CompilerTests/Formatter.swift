import Foundation

/// The formatter of Swift's toolchain.
struct Formatter {
  let configuration: URL

  /// What it finds in files that is not as it would write it; empty where nothing is.
  func faults(in files: [URL]) throws -> String {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments =
      ["swift", "format", "lint", "--strict", "--configuration", configuration.path] + files.map(\.path)
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return text
  }
}
