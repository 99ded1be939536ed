package import Foundation

/// The readers in Python that were written from the specifications alone.
package enum PythonReader {
  private static let interpreter = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    .map { "\($0)/python3" }.first { FileManager.default.isExecutableFile(atPath: $0) }

  package static var exists: Bool { interpreter != nil }

  package static func run(
    _ arguments: [String],
    of format: String = "Binary"
  ) throws -> (status: Int32, output: Data, errors: String) {
    try start([FormatFolder(format).url.appending(path: "reader.py").path] + arguments)
  }

  /// Runs the text of a program.
  package static func run(
    program: String,
    _ arguments: [String]
  ) throws -> (status: Int32, output: Data, errors: String) {
    try start(["-c", program] + arguments)
  }

  private static func start(_ arguments: [String]) throws -> (status: Int32, output: Data, errors: String) {
    guard let interpreter else { throw CocoaError(.fileNoSuchFile) }
    let process = Process()
    process.executableURL = URL(filePath: interpreter)
    process.arguments = arguments
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
    let message = try errors.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, bytes, String(decoding: message, as: UTF8.self))
  }
}
