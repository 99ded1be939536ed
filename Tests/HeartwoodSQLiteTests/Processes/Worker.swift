import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A process of its own that uses a store.
final class Worker {
  private let process = Process()
  private let output = Pipe()
  private var unread = Data()

  /// Starts it.
  init(_ arguments: String...) throws {
    process.executableURL = try BuiltExecutable.url(named: "SQLiteWorker")
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    try process.run()
  }

  deinit {
    if process.isRunning { kill() }
  }

  /// The next line that it says, or nil where it has ended.
  func nextLine() -> String? {
    while true {
      if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: unread[..<end], as: UTF8.self)
        unread = Data(unread[unread.index(after: end)...])
        return line
      }
      let more = output.fileHandleForReading.availableData
      if more.isEmpty { return nil }
      unread += more
    }
  }

  /// Ends it where it stands, as a power cut does for all that it has not handed over to the system.
  func kill() {
    send(SIGKILL)
    process.waitUntilExit()
  }

  /// Lets it stand where it is until it is to go on.
  func pause() { send(SIGSTOP) }

  /// Lets it go on.
  func resume() { send(SIGCONT) }

  private func send(_ signal: Int32) {
    #if canImport(Glibc)
      _ = Glibc.kill(process.processIdentifier, signal)
    #elseif canImport(Darwin)
      _ = Darwin.kill(process.processIdentifier, signal)
    #endif
  }

  /// Waits until it has ended well, and tells what it has said.
  @discardableResult
  func finish() throws -> [String] {
    var lines: [String] = []
    while let line = nextLine() { lines.append(line) }
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "\(process.arguments ?? [])")
    return lines
  }
}
