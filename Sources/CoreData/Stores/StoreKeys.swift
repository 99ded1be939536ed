import Foundation
import HeartwoodGraph
import HeartwoodModel
import HeartwoodSQLite
import HeartwoodStore

// The types of stores, the keys of options and those of metadata.

/// A SQLite database.
public let NSSQLiteStoreType = "SQLite"
/// A binary file that is read whole.
public let NSBinaryStoreType = "Binary"
/// An XML file that is read whole.
public let NSXMLStoreType = "XML"
/// A store in memory.
public let NSInMemoryStoreType = "InMemory"

/// The key of store type.
public let NSStoreTypeKey = "NSStoreType"
/// The key of store UUID.
public let NSStoreUUIDKey = "NSStoreUUID"
/// The key of store model version hashes.
public let NSStoreModelVersionHashesKey = "NSStoreModelVersionHashes"
/// The key of store model version identifiers.
public let NSStoreModelVersionIdentifiersKey = "NSStoreModelVersionIdentifiers"

/// The key of the option: read only persistent store.
public let NSReadOnlyPersistentStoreOption = "NSReadOnlyPersistentStoreOption"
/// The key of the option: migrate persistent stores automatically.
public let NSMigratePersistentStoresAutomaticallyOption = "NSMigratePersistentStoresAutomaticallyOption"
/// The key of the option: infer mapping model automatically.
public let NSInferMappingModelAutomaticallyOption = "NSInferMappingModelAutomaticallyOption"
/// The key of the option: ignore persistent store versioning.
public let NSIgnorePersistentStoreVersioningOption = "NSIgnorePersistentStoreVersioningOption"
/// The key of the option: persistent store timeout.
public let NSPersistentStoreTimeoutOption = "NSPersistentStoreTimeoutOption"
/// The key of the option: sq lite pragmas.
public let NSSQLitePragmasOption = "NSSQLitePragmasOption"

// MARK: Options

/// Translates the options of a store.
enum StoreOptionTable {
  /// - Throws: a `CocoaError` for an option that is not there, rather than to ignore it.
  static func options(_ given: [AnyHashable: Any]?) throws -> StoreOptions {
    var options = StoreOptions()
    for (key, value) in given ?? [:] { try set(key, value, &options) }
    guard options[.shouldMigrateStoreAutomatically] else { return options }
    let staged = given?[NSPersistentStoreStagedMigrationManagerOptionKey] as? NSStagedMigrationManager
    options[.olderModels] = try KnownModels.versions() + (staged?.models() ?? [])
    options[.stagedMigrationManager] = try staged?.manager()
    let session = MigrationSession()
    options[.entityMigrationPolicyMaker] = { try session.policy(of: $0) }
    options[.migrationObjectClass] = CoreObject.self
    return options
  }

  private static func set(_ key: AnyHashable, _ value: Any, _ options: inout StoreOptions) throws {
    switch key as? String {
    case NSReadOnlyPersistentStoreOption: options[.isReadOnly] = isSet(value)
    case NSMigratePersistentStoresAutomaticallyOption: options[.shouldMigrateStoreAutomatically] = isSet(value)
    case NSInferMappingModelAutomaticallyOption: options[.shouldInferMappingModelAutomatically] = isSet(value)
    case NSIgnorePersistentStoreVersioningOption: options[.ignoresModelVersion] = isSet(value)
    case NSPersistentStoreTimeoutOption:
      options[.sqliteBusyTimeout] = .seconds((value as? NSNumber)?.doubleValue ?? 0)
    case NSPersistentHistoryTrackingKey: options[.tracksPersistentHistory] = isSet(value)
    // The coordinator tells saves by itself.
    case NSPersistentStoreRemoteChangeNotificationPostOptionKey: break
    case NSPersistentStoreStagedMigrationManagerOptionKey:
      guard value is NSStagedMigrationManager else {
        throw CocoaError.make(.persistentStoreOpen, "The value of \(key) is no NSStagedMigrationManager.")
      }
    case NSSQLitePragmasOption: options[.sqlitePragmas] = try pragmas(value)
    default:
      throw CocoaError.make(.persistentStoreOpen, "The store option \(key) is not supported. Leave it out.")
    }
  }

  private static func isSet(_ value: Any) -> Bool { (value as? NSNumber)?.boolValue ?? false }

  private static func pragmas(_ value: Any) throws -> [String: String] {
    guard let dictionary = value as? [String: Any] else {
      throw CocoaError.make(.persistentStoreOpen, "The value of NSSQLitePragmasOption is not a dictionary.")
    }
    return dictionary.mapValues { "\($0)" }
  }
}

// MARK: Metadata

extension StoreMetadata {
  /// The metadata under Core Data's keys, with those of the application.
  var dictionary: [String: Any] {
    var dictionary: [String: Any] = userInfo.mapValues(\.object)
    dictionary[NSStoreTypeKey] = storeType.rawValue
    dictionary[NSStoreUUIDKey] = identifier.uuidString
    dictionary[NSStoreModelVersionHashesKey] = modelVersionHashes
    dictionary[NSStoreModelVersionIdentifiersKey] = modelVersionIdentifiers
    return dictionary
  }

  private static let ownKeys: Set<String> = [
    NSStoreTypeKey, NSStoreUUIDKey, NSStoreModelVersionHashesKey, NSStoreModelVersionIdentifiersKey,
  ]

  /// Returns the application's own part of metadata.
  static func userInfo(in dictionary: [String: Any]) throws -> [String: MetadataValue] {
    var userInfo: [String: MetadataValue] = [:]
    for (key, value) in dictionary where !ownKeys.contains(key) {
      guard let stored = MetadataValue(value) else {
        throw CocoaError.make(.persistentStoreSave, "The metadata under \(key) are not a property list.")
      }
      userInfo[key] = stored
    }
    return userInfo
  }
}

extension MetadataValue {
  init?(_ value: Any) {
    if let array = value as? [Any] {
      self = .array(array.compactMap(MetadataValue.init))
    } else if let dictionary = value as? [String: Any] {
      self = .dictionary(dictionary.compactMapValues(MetadataValue.init))
    } else {
      switch StoredValue.anyValue(value) {
      case .string(let text): self = .string(text)
      case .integer(let number): self = .integer(number)
      case .double(let number): self = .double(number)
      case .boolean(let flag): self = .boolean(flag)
      case .date(let date): self = .date(date)
      case .binary(let data): self = .binary(data)
      default: return nil
      }
    }
  }

  var object: Any {
    switch self {
    case .string(let text): text
    case .integer(let number): NSNumber(value: number)
    case .double(let number): NSNumber(value: number)
    case .boolean(let flag): NSNumber(value: flag)
    case .date(let date): date
    case .binary(let data): data
    case .array(let values): values.map(\.object)
    case .dictionary(let values): values.mapValues(\.object)
    }
  }
}
