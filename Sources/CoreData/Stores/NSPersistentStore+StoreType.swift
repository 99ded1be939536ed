public import Foundation
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore

// The functions of newer SDKs, which name the types of stores by values of their own.

extension NSPersistentStore {
  /// The type of a store.
  public struct StoreType: RawRepresentable, Hashable, Sendable {
    /// The name of the type, such as `NSSQLiteStoreType`.
    public let rawValue: String

    /// Creates the type of a name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A SQLite database.
    public static let sqlite = StoreType(rawValue: NSSQLiteStoreType)
    /// A binary file that is read whole.
    public static let binary = StoreType(rawValue: NSBinaryStoreType)
    /// An XML file that is read whole.
    public static let xml = StoreType(rawValue: NSXMLStoreType)
    /// A store in memory.
    public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
  }
}

extension NSPersistentStoreCoordinator {
  /// Opens a store, or creates it if there is none.
  @discardableResult
  public final func addPersistentStore(
    type: NSPersistentStore.StoreType,
    configuration: String? = nil,
    at storeURL: URL,
    options: [AnyHashable: Any]? = nil
  ) throws -> NSPersistentStore {
    try addPersistentStore(
      ofType: type.rawValue,
      configurationName: configuration,
      at: storeURL,
      options: options
    )
  }

  /// Writes the objects of a store to another place or as another type, and opens that store instead.
  @discardableResult
  public final func migratePersistentStore(
    _ store: NSPersistentStore,
    to storeURL: URL,
    options: [AnyHashable: Any]? = nil,
    type: NSPersistentStore.StoreType
  ) throws -> NSPersistentStore {
    try migratePersistentStore(store, to: storeURL, options: options, withType: type.rawValue)
  }

  /// Removes the files of a store. If it is one of the coordinator's, it is removed from it first.
  public final func destroyPersistentStore(
    at url: URL,
    type: NSPersistentStore.StoreType,
    options: [AnyHashable: Any]? = nil
  ) throws {
    try destroyPersistentStore(at: url, ofType: type.rawValue, options: options)
  }

  /// Copies a store to another place, where it takes the place of the one that is there. Neither may be open.
  public final func replacePersistentStore(
    at destinationURL: URL,
    destinationOptions: [AnyHashable: Any]? = nil,
    withPersistentStoreFrom sourceURL: URL,
    sourceOptions: [AnyHashable: Any]? = nil,
    type: NSPersistentStore.StoreType
  ) throws {
    try replacePersistentStore(
      at: destinationURL,
      destinationOptions: destinationOptions,
      withPersistentStoreFrom: sourceURL,
      sourceOptions: sourceOptions,
      ofType: type.rawValue
    )
  }

  /// Copies a store to another place, where it takes the place of the one that is there. Neither may be open.
  public final func replacePersistentStore(
    at destinationURL: URL,
    destinationOptions: [AnyHashable: Any]? = nil,
    withPersistentStoreFrom sourceURL: URL,
    sourceOptions: [AnyHashable: Any]? = nil,
    ofType storeType: String
  ) throws {
    do {
      _ = try StoreOptionTable.options(destinationOptions)
      try core.replacePersistentStore(
        at: destinationURL,
        withPersistentStoreFrom: sourceURL,
        type: StoreType(storeType),
        options: try StoreOptionTable.options(sourceOptions)
      )
    } catch {
      throw CocoaError.of(error)
    }
  }

  /// Returns the metadata of a store that need not be open.
  public class func metadataForPersistentStore(
    type: NSPersistentStore.StoreType,
    at url: URL,
    options: [AnyHashable: Any]? = nil
  ) throws -> [String: Any] {
    try metadataForPersistentStore(ofType: type.rawValue, at: url, options: options)
  }

  /// Sets the application's metadata of a store that is not open.
  public class func setMetadata(
    _ metadata: [String: Any]?,
    type: NSPersistentStore.StoreType,
    at url: URL,
    options: [AnyHashable: Any]? = nil
  ) throws {
    try setMetadata(metadata, forPersistentStoreOfType: type.rawValue, at: url, options: options)
  }
}

extension NSMigrationManager {
  /// Writes the records of a store to a new one, as the mapping model says. The old store is not changed.
  public final func migrateStore(
    from sourceURL: URL,
    type sourceType: NSPersistentStore.StoreType,
    options sourceOptions: [AnyHashable: Any]? = nil,
    mapping: NSMappingModel,
    to destinationURL: URL,
    type destinationType: NSPersistentStore.StoreType,
    options destinationOptions: [AnyHashable: Any]? = nil
  ) throws {
    try migrateStore(
      from: sourceURL,
      sourceType: sourceType.rawValue,
      options: sourceOptions,
      with: mapping,
      toDestinationURL: destinationURL,
      destinationType: destinationType.rawValue,
      destinationOptions: destinationOptions
    )
  }
}

/// Runs `body`. Objects are released as soon as nothing refers to them on this system, so there is no pool.
public func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result { try body() }
