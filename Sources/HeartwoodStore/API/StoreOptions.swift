public import HeartwoodModel

/// Settings of one store, by typed keys.
///
///     var options = StoreOptions()
///     options[.isReadOnly] = true
///
/// A key knows the value of an option that is not set, so reading one needs no `??`. A store author declares keys of their own:
///
///     extension StoreOptionKey<Int> {
///       static let pageSize = StoreOptionKey("com.example.pageSize", default: 4_096)
///     }
///     let size = setup.options[.pageSize]
///
/// A store ignores keys that it does not know.
public struct StoreOptions: Sendable {
  private var values: [String: any Sendable] = [:]

  /// Makes options of which none is set.
  public init() {}

  /// The value of an option; the key's ``StoreOptionKey/defaultValue`` if it is not set.
  public subscript<Value: Sendable>(key: StoreOptionKey<Value>) -> Value {
    get {
      guard let value = values[key.name] else { return key.defaultValue }
      return value as? Value ?? key.defaultValue
    }
    set { values[key.name] = newValue }
  }

  /// Whether an option has been set, be it to its default value.
  public func isSet<Value>(_ key: StoreOptionKey<Value>) -> Bool { values[key.name] != nil }

  /// Makes an option one that is not set.
  public mutating func removeValue<Value>(for key: StoreOptionKey<Value>) {
    values[key.name] = nil
  }
}

/// The name of an option, the type of its values, and the value of an option that is not set.
public struct StoreOptionKey<Value: Sendable>: Sendable {
  /// A name that is unique among the options of all stores.
  public let name: String
  /// The value of an option that is not set.
  public let defaultValue: Value

  /// Makes a key.
  ///
  /// - Parameters:
  ///   - name: a name that is unique among the options of all stores.
  ///   - defaultValue: the value of an option that is not set.
  public init(_ name: String, default defaultValue: Value) {
    self.name = name
    self.defaultValue = defaultValue
  }
}

extension StoreOptionKey where Value: ExpressibleByNilLiteral {
  /// Makes a key of an option that has no value unless it is set.
  ///
  /// - Parameter name: a name that is unique among the options of all stores.
  public init(_ name: String) {
    self.init(name, default: nil)
  }
}

extension StoreOptionKey<Bool> {
  /// Whether the store is opened for reading only. Off by default.
  public static let isReadOnly = StoreOptionKey("isReadOnly", default: false)
  /// Whether the store is opened although its model's version hashes differ from those of its file. Off by default.
  public static let ignoresModelVersion = StoreOptionKey("ignoresModelVersion", default: false)
  /// Whether each save is kept as a transaction of the store's history. Off by default.
  ///
  /// So that a history has no gaps, an atomic store that has one and is opened without the option can be read, but not saved; an incremental store goes
  /// on with its history. Converting a store with the option set to `false` leaves its history out.
  public static let tracksPersistentHistory = StoreOptionKey("tracksPersistentHistory", default: false)
}

// MARK: What is kept in memory

extension StoreOptionKey<Int> {
  /// How many bytes of records an incremental store keeps in memory for the next reader; 32 MB unless it is set.
  ///
  /// A context that holds objects of most of what was read keeps that in memory, whatever the option says. Otherwise all that was read is let go of
  /// when a fetch begins and the limit is passed; what is needed later is read again, and what objects have read they keep.
  ///
  ///     options[.recordCacheSize] = 16 * 1024 * 1024
  public static let recordCacheSize = StoreOptionKey("recordCacheSize", default: 32 * 1024 * 1024)

  /// How many known records an incremental store reads again at once, after others have saved, to tell which of them have changed; 1,000 unless
  /// it is set.
  ///
  /// If more are known, all of them are forgotten, and read again when they are used: a save of others costs the same however many records are
  /// known. Contexts that merge by themselves compare the objects that they hold; the notice of the save names no records.
  public static let recordsComparedAtOnce = StoreOptionKey("recordsComparedAtOnce", default: 1_000)
}

// MARK: Migration

extension StoreOptionKey<Bool> {
  /// Whether a store of another version of the model is migrated when it is opened. Off by default.
  public static let shouldMigrateStoreAutomatically = StoreOptionKey("shouldMigrateStoreAutomatically", default: false)
  /// Whether that migration may be inferred where no mapping model is given for it. On by default.
  public static let shouldInferMappingModelAutomatically = StoreOptionKey(
    "shouldInferMappingModelAutomatically",
    default: true
  )
  /// Whether a store that can make its new records itself may do so: an SQLite store does it in SQL. On by default; without it all records
  /// go through memory. The result is the same.
  public static let migratesInStore = StoreOptionKey("migratesInStore", default: true)
}

extension StoreOptionKey<Bool?> {
  /// Whether a migration may leave out records and values that the new model, or a mapping model, has no place for: those of entities and
  /// attributes that are gone, those that no mapping takes. Only what is there counts: an attribute without values is no loss.
  ///
  /// Without the option, ``shouldMigrateStoreAutomatically`` leaves them out, as the change of the model asks, and tells the logger how many; a migration
  /// that is run by itself fails with ``PersistenceError/Code/migrationFailed``, and lists them with their counts. With `false` both fail, with `true`
  /// neither does.
  public static let allowsMigrationLoss = StoreOptionKey("allowsMigrationLoss")
}

extension StoreOptionKey<[ManagedObjectModel]> {
  /// Older versions of the model: what a store is migrated from whose file holds no model, and what lies between on the way of a
  /// migration in steps, the oldest first.
  public static let olderModels = StoreOptionKey("olderModels", default: [])
}

extension StoreOptionKey<ManagedObjectModel?> {
  /// The model that a store was written with whose file does not tell it, though the file may fit others, and the new one, too.
  package static let writtenModel = StoreOptionKey("writtenModel")
}

extension StoreOptionKey<[MappingModel]> {
  /// The mapping models that migrations take before they infer one. Where there are several, let each tell by version hashes between which
  /// versions it leads.
  public static let mappingModels = StoreOptionKey("mappingModels", default: [])
  /// Mapping models that lead from the store's version to the new one together, each over a part of the entities: they are followed one after
  /// the other. Where the store is incremental, only the objects of one of them are in memory at a time.
  public static let migrationPasses = StoreOptionKey("migrationPasses", default: [])
}

/// A file with a mapping model of which nobody knows between which versions it leads, since one of them is not at hand.
package struct UnplacedMappingModel: Sendable {
  /// Why it cannot be followed, and what to do.
  package let problem: String
  /// The versions that are at hand: it is for another one.
  private let knownModels: [ManagedObjectModel]

  package init(problem: String, knownModels: [ManagedObjectModel]) {
    self.problem = problem
    self.knownModels = knownModels
  }

  /// Whether it may be for stores of a version.
  package func mayBegin(at model: ManagedObjectModel) -> Bool {
    !knownModels.contains { $0.isSameVersion(as: model) }
  }
}

extension StoreOptionKey<[UnplacedMappingModel]> {
  /// The mapping models that were found and cannot be followed. A migration that one of them may be meant for is refused.
  package static let unplacedMappingModels = StoreOptionKey("unplacedMappingModels", default: [])
}

extension StoreOptionKey<MigrationResolutions> {
  /// What a migration does where the new model leaves open what becomes of records. Without it, it refuses.
  public static let migrationResolutions = StoreOptionKey(
    "migrationResolutions",
    default: MigrationResolutions()
  )
}

extension StoreOptionKey<String?> {
  /// The path at which a migration keeps the old file, which nothing must stand at yet, but for a copy of just that file. A migration that
  /// fails leaves none. Without the option, none is kept.
  public static let migrationBackupPath = StoreOptionKey("migrationBackupPath")
}
