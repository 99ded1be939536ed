import ArgumentParser
import BenchmarkSupport
import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Writes the bytes of a file over another one, durably: what no atomic save can do without.
struct WriteCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "write", abstract: "Replace a file by a copy, durably.")

  @Argument var source: String
  @Argument var destination: String

  func run() throws {
    let bytes = try Data(contentsOf: URL(filePath: source))
    let clock = ContinuousClock()
    let duration = try clock.measure { try replace(with: bytes) }
    try CaseReport(seconds: duration.seconds, rows: 0).print()
  }

  private func replace(with bytes: Data) throws {
    let temporary = destination + ".new"
    guard FileManager.default.createFile(atPath: temporary, contents: nil) else {
      throw CaseError("\(temporary) cannot be made.")
    }
    let file = try FileHandle(forWritingTo: URL(filePath: temporary))
    try file.write(contentsOf: bytes)
    try file.synchronize()
    try file.close()
    guard rename(temporary, destination) == 0 else { throw CaseError("\(temporary) cannot be renamed.") }
    let directory = open(URL(filePath: destination).deletingLastPathComponent().path, O_RDONLY)
    guard directory >= 0 else { throw CaseError("The folder of \(destination) cannot be opened.") }
    defer { close(directory) }
    guard fsync(directory) == 0 else { throw CaseError("The folder of \(destination) cannot be flushed.") }
  }
}
