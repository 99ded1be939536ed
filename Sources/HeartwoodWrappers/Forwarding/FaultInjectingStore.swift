public import HeartwoodModel
public import HeartwoodStore
import Synchronization

/// Wraps an atomic store that fails when a test asks for it, to test how an application handles failures of loading and
/// saving.
///
///     try registry.register(FaultInjectingStore<CSVStore>.self)
///     let faults = StoreFaults()
///     options[.storeFaults] = faults
///     try coordinator.addPersistentStore(type: "FaultInjectingCSV", at: url, options: options)
///     faults.fail(.save, afterByteCount: 100, with: PersistenceError(.fileWriteFailed, "The disk is full."))
///
/// Without the option it does what the inner store does. For faults of the disk itself use `FaultInjectingFileSystem`.
public final class FaultInjectingStore<Base: AtomicStore & StoreClass>: ForwardingStore {
  /// `FaultInjecting`.
  public static var name: String { "FaultInjecting" }
  /// `Fault-injecting`.
  public static var displayName: String { "Fault-injecting" }

  private let base: Base
  private let faults: StoreFaults?

  /// Makes the inner store.
  public init(_ setup: StoreSetup) throws {
    base = try Base(setup)
    faults = setup.options[.storeFaults]
  }

  /// Makes the inner store load the file, or fails.
  public func load(_ file: StoreInput, into loader: StoreLoader) throws {
    try faults?.admit(.load)
    try base.load(file, into: loader)
    loader.metadata.storeType = Self.typeDescription.type
  }

  /// Makes the inner store validate the contents, or fails.
  public func validate(_ contents: StoreContents) throws {
    try faults?.admit(.validate)
    try base.validate(contents)
  }

  /// Makes the inner store save, or writes some bytes and fails.
  public func save(_ contents: inout StoreContents, over previous: PreviousSave?, to output: StoreOutput) throws {
    let type = contents.metadata.storeType
    contents.metadata.storeType = Base.typeDescription.type
    defer { contents.metadata.storeType = type }
    guard let fault = faults?.take(.save) else { return try base.save(&contents, over: previous, to: output) }
    try output.write([UInt8](repeating: UInt8(ascii: "?"), count: fault.byteCount))
    throw fault.error
  }
}

extension FaultInjectingStore {
  /// Reads the metadata with the inner store, or fails.
  public static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata {
    try options[.storeFaults]?.admit(.readMetadata)
    var metadata = try Base.readMetadata(from: file, options: options)
    metadata.storeType = typeDescription.type
    return metadata
  }

  /// Reads the model with the inner store, or fails.
  public static func readModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel? {
    try options[.storeFaults]?.admit(.readModel)
    return try Base.readModel(from: file, options: options)
  }
}

extension FaultInjectingStore: SalvagingStore {
  /// Makes the inner store read the undamaged records, or fails.
  public func salvage(_ file: StoreInput, into salvage: StoreSalvage) throws {
    try faults?.admit(.load)
    try salvage.read(base, from: file, options: StoreOptions())
  }
}

// MARK: StoreFaults

/// The faults that a test wants in a ``FaultInjectingStore``, and the operations of the store so far.
public final class StoreFaults: Sendable {
  /// An operation of a store.
  public enum Operation: Sendable, Hashable {
    /// Reading the metadata of a file without its records.
    case readMetadata
    /// Reading the model that a file holds.
    case readModel
    /// Reading all records of a file.
    case load
    /// Validating the contents before anything is written.
    case validate
    /// Writing the file.
    case save
  }

  struct Fault: Sendable {
    let operation: Operation
    let byteCount: Int
    let error: any Error
  }

  private struct State {
    var faults: [Fault] = []
    var operations: [Operation] = []
  }

  private let state = Mutex(State())

  /// Makes an empty list of faults.
  public init() {}

  /// The operations that the store was asked to do, in order, including those that failed.
  public var operations: [Operation] { state.withLock { $0.operations } }

  /// Makes the next `operation` fail, but not later ones. Several faults for the same operation apply one after the
  /// other.
  ///
  /// - Parameters:
  ///   - byteCount: the number of arbitrary bytes that are written before a save fails.
  ///   - error: the error to throw.
  public func fail(
    _ operation: Operation,
    afterByteCount byteCount: Int = 0,
    with error: any Error = PersistenceError(.fileWriteFailed, "A test lets this fail.")
  ) {
    state.withLock { $0.faults.append(Fault(operation: operation, byteCount: max(0, byteCount), error: error)) }
  }

  /// Records an operation, and removes and returns its fault.
  func take(_ operation: Operation) -> Fault? {
    state.withLock { state in
      state.operations.append(operation)
      return state.faults.firstIndex { $0.operation == operation }.map { state.faults.remove(at: $0) }
    }
  }

  func admit(_ operation: Operation) throws {
    if let fault = take(operation) { throw fault.error }
  }
}

extension StoreOptionKey<StoreFaults?> {
  /// The faults of a ``FaultInjectingStore``.
  public static let storeFaults = StoreOptionKey("storeFaults")
}
