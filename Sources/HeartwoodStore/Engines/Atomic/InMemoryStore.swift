import HeartwoodFoundation
import HeartwoodModel

/// A store without a file: its records exist as long as it is open.
public final class InMemoryStore: AtomicStore, StoreClass {
  /// Declares support for everything but a file.
  public static let typeDescription = StoreTypeDescription(
    type: .inMemory,
    displayName: "In memory",
    fileExtensions: [],
    capabilities: StoreCapabilities(
      kind: .atomic,
      features: [.relationships, .userMetadata, .history],
      attributeTypes: Set(AttributeType.allCases),
      referenceKinds: [.uuid, .integer, .string]
    )
  )

  /// Throws an error: there is no file to read.
  public static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata {
    throw hasNoFile(file.path)
  }

  /// Makes a store that must have no file.
  public init(_ setup: StoreSetup) throws {
    if let path = setup.path { throw Self.hasNoFile(path) }
  }

  /// Throws an error: there is no file to read.
  public func load(_ file: StoreInput, into loader: StoreLoader) throws {
    throw Self.hasNoFile(file.path)
  }

  /// Throws an error: there is no file to write.
  public func save(_ contents: inout StoreContents, over previous: PreviousSave?, to output: StoreOutput) throws {
    throw Self.hasNoFile(nil)
  }

  private static func hasNoFile(_ path: String?) -> PersistenceError {
    PersistenceError(
      .capabilityMissing,
      "An in-memory store has no file.",
      recovery: "Add it without a location, and convert it to another type to keep its contents.",
      context: .init(path: path, storeType: .inMemory)
    )
  }
}
