public import HeartwoodStore
public import Logging
import Synchronization

/// Any atomic store, which logs what it does: each loading and saving with the path, the number of records and bytes and the
/// time, as a message of level `info`; each failure as one of level `error`. Values are never logged.
///
/// ``StoreLogging`` turns it on and off and says where it goes.
public final class LoggingStore<Base: AtomicStore>: ForwardingStore {
  /// `Logging`.
  public static var name: String { "Logging" }
  /// `Logging`.
  public static var displayName: String { "Logging" }

  private let base: Base
  private let path: String

  /// Makes the store inside.
  public init(_ setup: StoreSetup) throws {
    base = try Base(setup)
    path = setup.path ?? "-"
  }

  /// Logs what the store inside loads.
  public func load(_ file: StoreInput, into loader: StoreLoader) throws {
    try StoreLogging.log("load", Base.typeDescription.type, path) {
      try base.load(file, into: loader)
    } details: {
      ["bytes": "\(file.size)"]
    }
    loader.metadata.storeType = Self.typeDescription.type
  }

  /// Logs where the store inside refuses.
  public func validate(_ contents: StoreContents) throws {
    try StoreLogging.log("validate", Base.typeDescription.type, path) { try base.validate(contents) }
  }

  /// Logs what the store inside saves.
  public func save(_ contents: inout StoreContents, over previous: PreviousSave?, to output: StoreOutput) throws {
    let type = contents.metadata.storeType
    contents.metadata.storeType = Base.typeDescription.type
    defer { contents.metadata.storeType = type }
    let count = contents.count
    try StoreLogging.log("save", Base.typeDescription.type, path) {
      try base.save(&contents, over: previous, to: output)
    } details: {
      ["bytes": "\(output.byteCount)", "records": "\(count)"]
    }
  }
}

extension LoggingStore {
  /// Logs that the store inside reads its metadata.
  public static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata {
    var metadata = try StoreLogging.log("metadata", Base.typeDescription.type, file.path) {
      try Base.readMetadata(from: file, options: options)
    }
    metadata.storeType = typeDescription.type
    return metadata
  }

  /// Logs that the metadata are written over.
  public static func metadataPatches(
    _ metadata: StoreMetadata,
    in file: StoreInput,
    options: StoreOptions
  ) throws -> [FilePatch]? {
    var inner = metadata
    inner.storeType = Base.typeDescription.type
    return try StoreLogging.log("set metadata", Base.typeDescription.type, file.path) {
      try Base.metadataPatches(inner, in: file, options: options)
    }
  }
}

extension LoggingStore: SalvagingStore {
  /// Logs that the store inside reads what is sound.
  public func salvage(_ file: StoreInput, into salvage: StoreSalvage) throws {
    try StoreLogging.log("salvage", Base.typeDescription.type, path) {
      try salvage.read(base, from: file, options: StoreOptions())
    } details: {
      ["bytes": "\(file.size)"]
    }
  }
}

// MARK: StoreLogging

/// The switch of all ``LoggingStore``s, and where their messages go.
public enum StoreLogging {
  private struct State: Sendable {
    var isEnabled = true
    var logger = Logger(label: "heartwood.store")
  }

  private static let state = Mutex(State())

  /// Whether logging stores log. On by default.
  public static var isEnabled: Bool {
    get { state.withLock { $0.isEnabled } }
    set { state.withLock { $0.isEnabled = newValue } }
  }

  /// Where messages go: a logger with the label `heartwood.store`, unless another is set.
  public static var logger: Logger {
    get { state.withLock { $0.logger } }
    set { state.withLock { $0.logger = newValue } }
  }

  /// Runs `body`, and logs what it did and how long it took, or how it failed.
  static func log<Result>(
    _ action: String,
    _ type: StoreType,
    _ path: String,
    _ body: () throws -> Result,
    details: () -> Logger.Metadata = { [:] }
  ) rethrows -> Result {
    let (isEnabled, logger) = state.withLock { ($0.isEnabled, $0.logger) }
    guard isEnabled else { return try body() }
    let start = ContinuousClock.now
    var metadata: Logger.Metadata = ["type": "\(type)", "path": "\(path)"]
    do {
      let result = try body()
      metadata.merge(details()) { $1 }
      metadata["duration"] = "\(start.duration(to: .now))"
      logger.info("\(action)", metadata: metadata)
      return result
    } catch {
      metadata["error"] = "\(error)"
      logger.error("\(action) failed", metadata: metadata)
      throw error
    }
  }
}
