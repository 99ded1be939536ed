public import HeartwoodStore
public import Logging

/// Wraps an atomic store and logs its operations: each load and save with the path, the number of records and bytes,
/// and the time, at the level `info`; each failure at the level `error`. Values are never logged.
///
/// The option ``StoreOptionKey/storeLogger`` sets the logger.
public final class LoggingStore<Base: AtomicStore & StoreClass>: ForwardingStore {
  /// `Logging`.
  public static var name: String { "Logging" }
  /// `Logging`.
  public static var displayName: String { "Logging" }

  private let base: Base
  private let log: StoreLog

  /// Makes the inner store.
  public init(_ setup: StoreSetup) throws {
    base = try Base(setup)
    log = StoreLog(setup.options, Base.typeDescription.type, path: setup.path ?? "-")
  }

  /// Makes the inner store load the file, and logs it.
  public func load(_ file: StoreInput, into loader: StoreLoader) throws {
    try log.log("load") {
      try base.load(file, into: loader)
    } details: {
      ["bytes": "\(file.size)"]
    }
    loader.metadata.storeType = Self.typeDescription.type
  }

  /// Makes the inner store validate the contents, and logs a failure.
  public func validate(_ contents: StoreContents) throws {
    try log.log("validate") { try base.validate(contents) }
  }

  /// Makes the inner store save, and logs it.
  public func save(_ contents: inout StoreContents, over previous: PreviousSave?, to output: StoreOutput) throws {
    let type = contents.metadata.storeType
    contents.metadata.storeType = Base.typeDescription.type
    defer { contents.metadata.storeType = type }
    let count = contents.count
    try log.log("save") {
      try base.save(&contents, over: previous, to: output)
    } details: {
      ["bytes": "\(output.byteCount)", "records": "\(count)"]
    }
  }
}

extension LoggingStore {
  /// Makes the inner store read the metadata, and logs it.
  public static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata {
    var metadata = try StoreLog(options, Base.typeDescription.type, path: file.path).log("metadata") {
      try Base.readMetadata(from: file, options: options)
    }
    metadata.storeType = typeDescription.type
    return metadata
  }

  /// Returns the inner store's patches that overwrite the metadata, and logs the operation.
  public static func metadataPatches(
    _ metadata: StoreMetadata,
    in file: StoreInput,
    options: StoreOptions
  ) throws -> [FilePatch]? {
    var inner = metadata
    inner.storeType = Base.typeDescription.type
    return try StoreLog(options, Base.typeDescription.type, path: file.path).log("set metadata") {
      try Base.metadataPatches(inner, in: file, options: options)
    }
  }
}

extension LoggingStore: SalvagingStore {
  /// Makes the inner store read the undamaged records, and logs it.
  public func salvage(_ file: StoreInput, into salvage: StoreSalvage) throws {
    try log.log("salvage") {
      try salvage.read(base, from: file, options: StoreOptions())
    } details: {
      ["bytes": "\(file.size)"]
    }
  }
}

// MARK: StoreLog

extension StoreOptionKey<Logger?> {
  /// The logger of a ``LoggingStore``. By default it is a logger with the label `heartwood.store` in the application's
  /// logging system.
  ///
  ///     var options = StoreOptions()
  ///     options[.storeLogger] = Logger(label: "store.todos")
  ///     try coordinator.addPersistentStore(type: "LoggingCSV", at: url, options: options)
  public static let storeLogger = StoreOptionKey("storeLogger")
}

/// Logs the operations of the store inside a ``LoggingStore``.
private struct StoreLog {
  private let logger: Logger
  private let type: StoreType
  private let path: String

  init(_ options: StoreOptions, _ type: StoreType, path: String) {
    logger = options[.storeLogger] ?? Logger(label: "heartwood.store")
    (self.type, self.path) = (type, path)
  }

  /// Runs `body`, and logs its result and duration, or its error.
  func log<Result>(
    _ action: String,
    _ body: () throws -> Result,
    details: () -> Logger.Metadata = { [:] }
  ) rethrows -> Result {
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
