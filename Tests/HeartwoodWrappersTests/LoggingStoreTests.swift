import Foundation
import Heartwood
import HeartwoodStore
import HeartwoodWrappers
import Logging
import Synchronization
import Testing

/// Remembers what is logged.
private final class LogMemory: Sendable {
  struct Entry: Sendable {
    let level: Logger.Level
    let message: String
    let metadata: [String: String]
  }

  private let storage = Mutex<[Entry]>([])

  var entries: [Entry] { storage.withLock { $0 } }

  func append(_ entry: Entry) { storage.withLock { $0.append(entry) } }
}

private struct MemoryLogHandler: LogHandler {
  let memory: LogMemory
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.trace

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let values = (event.metadata ?? [:]).mapValues { "\($0)" }
    memory.append(.init(level: event.level, message: "\(event.message)", metadata: values))
  }
}

@Suite struct LoggingStoreTests {
  private let memory = LogMemory()
  private let fixture: WrapperFixture

  init() throws {
    var fixture = try WrapperFixture(LoggingStore<CSVStore>.self)
    let memory = memory
    fixture.options[.storeLogger] = Logger(label: "test") { _ in MemoryLogHandler(memory: memory) }
    self.fixture = fixture
  }

  @Test func loadingAndSavingAreLogged() throws {
    try fixture.write(["private", "text"], "LoggingCSV")
    #expect(try fixture.read("LoggingCSV") == ["private", "text"])
    let entries = memory.entries
    #expect(entries.allSatisfy { $0.metadata["type"] == "CSV" && $0.metadata["path"] == WrapperFixture.path })
    let save = try #require(entries.first { $0.message == "save" })
    #expect(save.level == .info)
    #expect(save.metadata["records"] == "2")
    #expect(save.metadata["bytes"] == "\(try fixture.bytes.count)")
    #expect(save.metadata["duration"] != nil)
    #expect(entries.contains { $0.message == "load" })
    #expect(!entries.contains { "\($0)".contains("private") })
  }

  @Test func failuresAreErrors() throws {
    try fixture.setBytes(Array("no store".utf8))
    _ = try fixture.readingError("LoggingCSV")
    let failure = try #require(memory.entries.first { $0.level == .error })
    #expect(failure.message.hasSuffix("failed"))
    #expect(failure.metadata["error"] != nil)
  }

  /// The logger is the store's: another store of the type logs elsewhere.
  @Test func eachStoreHasALoggerOfItsOwn() throws {
    let other = LogMemory()
    var silent = fixture
    silent.options[.storeLogger] = Logger(label: "other") { _ in MemoryLogHandler(memory: other) }
    try silent.write(["text"], "LoggingCSV")
    #expect(memory.entries.isEmpty && !other.entries.isEmpty)
  }
}
