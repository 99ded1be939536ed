public import HeartwoodModel

/// The settings with which a store is opened, by typed keys.
///
///     var options = StoreOptions()
///     options[.isReadOnly] = true
///
/// A key has a default, which is the value of an option that is not set, so reading one needs no `??`. A store author
/// declares further keys:
///
///     extension StoreOptionKey<Int> {
///       static let pageSize = StoreOptionKey("com.example.pageSize", default: 4_096)
///     }
///     let size = setup.options[.pageSize]
///
/// A store ignores keys that it does not know. The names of keys are compared, so choose names that no other store
/// uses.
public struct StoreOptions: Sendable {
  private var values: [String: any Sendable] = [:]

  /// Creates options of which none is set.
  public init() {}

  /// The value of an option; the key's ``StoreOptionKey/defaultValue`` if the option is not set, or set to a value of
  /// another type by a key with the same name.
  public subscript<Value: Sendable>(key: StoreOptionKey<Value>) -> Value {
    get {
      guard let value = values[key.name] else { return key.defaultValue }
      return value as? Value ?? key.defaultValue
    }
    set { values[key.name] = newValue }
  }

  /// Returns whether an option has been set, even if to its default value.
  public func isSet<Value>(_ key: StoreOptionKey<Value>) -> Bool { values[key.name] != nil }

  /// Removes the value of an option, which then has its default value.
  public mutating func removeValue<Value>(for key: StoreOptionKey<Value>) {
    values[key.name] = nil
  }
}

/// The name of an option, the type of its values, and its default value.
public struct StoreOptionKey<Value: Sendable>: Sendable {
  /// A name that is unique among the options of all stores.
  public let name: String
  /// The value of an option that is not set.
  public let defaultValue: Value

  /// Creates a key.
  ///
  /// - Parameters:
  ///   - name: a name that is unique among the options of all stores.
  ///   - defaultValue: the value of the option if it is not set.
  public init(_ name: String, default defaultValue: Value) {
    self.name = name
    self.defaultValue = defaultValue
  }
}

extension StoreOptionKey where Value: ExpressibleByNilLiteral {
  /// Creates a key of an option that is nil if it is not set.
  ///
  /// - Parameter name: a name that is unique among the options of all stores.
  public init(_ name: String) {
    self.init(name, default: nil)
  }
}

extension StoreOptionKey<Bool> {
  /// Whether the store is opened for reading only. Off by default.
  ///
  /// Changing such a store throws ``PersistenceError/Code/storeReadOnly``. If there is no store at the place, opening
  /// it throws ``PersistenceError/Code/fileNotFound`` instead of creating one.
  public static let isReadOnly = StoreOptionKey("isReadOnly", default: false)
  /// Whether the store is opened even if its model's version hashes differ from those of the file. Off by default:
  /// opening then throws ``PersistenceError/Code/modelIncompatible``.
  public static let ignoresModelVersion = StoreOptionKey("ignoresModelVersion", default: false)
  /// Whether each save is recorded as a transaction in the store's history. Off by default. A store without
  /// ``StoreCapabilities/Features/history`` is refused with ``PersistenceError/Code/capabilityMissing``.
  ///
  /// A history must have no gaps. Therefore an atomic store that has one and is opened without the option can be read,
  /// but not saved; an incremental store continues its history. Converting a store with the option set to `false`
  /// leaves its history out.
  public static let tracksPersistentHistory = StoreOptionKey("tracksPersistentHistory", default: false)
}

// MARK: What is kept in memory

extension StoreOptionKey<Int> {
  /// The number of bytes of records that an incremental store keeps in memory for later reads; 32 MB by default.
  ///
  /// If a context holds objects of most records that were read, these stay in memory regardless of the option.
  /// Otherwise, all records that were read are released if the limit is exceeded when a fetch begins. Records that are
  /// needed later are read again; objects keep the values that they have read.
  ///
  ///     options[.recordCacheSize] = 16 * 1024 * 1024
  public static let recordCacheSize = StoreOptionKey("recordCacheSize", default: 32 * 1024 * 1024)

  /// The number of known records that an incremental store reads again at once, after another process has saved, to
  /// find out which of them have changed; 1,000 by default.
  ///
  /// If more records are known, all of them are released, and read again when they are used. The cost of another
  /// process's save is therefore the same for any number of known records. Contexts that merge automatically compare
  /// the objects that they hold; the notification of the save names no records.
  public static let recordsComparedAtOnce = StoreOptionKey("recordsComparedAtOnce", default: 1_000)
}

// MARK: Migration

extension StoreOptionKey<Bool> {
  /// Whether a store that was written with another version of the model is migrated when it is opened. Off by default.
  public static let shouldMigrateStoreAutomatically = StoreOptionKey("shouldMigrateStoreAutomatically", default: false)
  /// Whether that migration may be inferred if no mapping model is given for it. On by default.
  public static let shouldInferMappingModelAutomatically = StoreOptionKey(
    "shouldInferMappingModelAutomatically",
    default: true
  )
  /// Whether a store that can migrate its records itself may do so: an SQLite store does it in SQL. On by default; if
  /// it is off, all records go through memory. The result is the same.
  public static let migratesInStore = StoreOptionKey("migratesInStore", default: true)
}

extension StoreOptionKey<Bool?> {
  /// Whether a migration may leave out records and values that have no place in the new model or in a mapping model:
  /// those of removed entities and attributes, and those that no mapping takes. Only existing values count: an
  /// attribute without values is no loss.
  ///
  /// If the option is not set, ``shouldMigrateStoreAutomatically`` leaves them out, since the change of the model asks
  /// for that, and reports their number to the logger; a migration that is run explicitly fails with
  /// ``PersistenceError/Code/migrationFailed``, and lists them with their counts. With `false`, both fail; with `true`,
  /// neither does.
  public static let allowsMigrationLoss = StoreOptionKey("allowsMigrationLoss")
}

extension StoreOptionKey<[ManagedObjectModel]> {
  /// Older versions of the model, the oldest first. They are used to find the model of a store whose file contains
  /// none, and as intermediate versions of a migration in several steps.
  public static let olderModels = StoreOptionKey("olderModels", default: [])
}

extension StoreOptionKey<ManagedObjectModel?> {
  /// The model that a store was written with, for a store whose file does not say so. The file might fit other models
  /// as well, including the new one.
  package static let writtenModel = StoreOptionKey("writtenModel")
}

extension StoreOptionKey<[MappingModel]> {
  /// The mapping models that a migration uses before it infers one. If there are several, give each the version hashes
  /// of its source and destination.
  public static let mappingModels = StoreOptionKey("mappingModels", default: [])
  /// Mapping models that together migrate a store from its version to the new one, each for a part of the entities.
  /// They are run one after the other. If the store is incremental, only the objects of one of them are in memory at a
  /// time.
  public static let migrationPasses = StoreOptionKey("migrationPasses", default: [])
}

/// A file with a mapping model whose source or destination version is unknown, because one of these models was not
/// found.
package struct UnplacedMappingModel: Sendable {
  /// Why it cannot be used, and what to do.
  package let problem: String
  /// The versions that were found: the mapping model is for another one.
  private let knownModels: [ManagedObjectModel]

  package init(problem: String, knownModels: [ManagedObjectModel]) {
    self.problem = problem
    self.knownModels = knownModels
  }

  /// Returns whether it might be for stores of a version.
  package func mayBegin(at model: ManagedObjectModel) -> Bool {
    !knownModels.contains { $0.isSameVersion(as: model) }
  }
}

extension StoreOptionKey<[UnplacedMappingModel]> {
  /// The mapping models that were found and cannot be used. A migration that one of them may be meant for is refused.
  package static let unplacedMappingModels = StoreOptionKey("unplacedMappingModels", default: [])
}

extension StoreOptionKey<MigrationResolutions> {
  /// What a migration does with records that do not fit the new model, such as duplicates of a value that must be
  /// unique. By default, the migration is refused if there are any.
  public static let migrationResolutions = StoreOptionKey(
    "migrationResolutions",
    default: MigrationResolutions()
  )
}

extension StoreOptionKey<String?> {
  /// The path at which a migration keeps the old file; nil, as by default, if it is not kept. No file may exist at the
  /// path, except a copy of the same old file. A migration that fails leaves no file there.
  public static let migrationBackupPath = StoreOptionKey("migrationBackupPath")
}
