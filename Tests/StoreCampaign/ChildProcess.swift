import Foundation
import HeartwoodStore

/// This program again, in a process of its own.
final class ChildProcess {
  private let process = Process()
  private let output = Pipe()

  init(_ command: String, _ place: StorePlace, _ first: Int, _ second: Int) throws {
    process.executableURL = Bundle.main.executableURL
    process.arguments = [command, place.type.rawValue, place.folder.path, "\(first)", "\(second)"]
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    try process.run()
  }

  /// Waits until it says something, or has ended.
  func waitForOutput() -> Data { output.fileHandleForReading.availableData }

  /// Ends it where it stands, and tells what it has said that nobody has read.
  ///
  /// - Returns: nil where it had ended by itself, which it must not.
  func kill() -> Data? {
    guard process.isRunning else { return nil }
    #if canImport(Darwin)
      _ = Darwin.kill(process.processIdentifier, SIGKILL)
    #else
      _ = Glibc.kill(process.processIdentifier, SIGKILL)
    #endif
    let rest = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return process.terminationReason == .uncaughtSignal ? rest : nil
  }

  /// Waits until it has ended, and tells what it has said.
  func finish() throws -> String {
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw StoreCampaign.Flaw("A process ended by itself: \(text)") }
    return text
  }
}
