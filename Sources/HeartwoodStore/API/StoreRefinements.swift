public import HeartwoodModel

/// A store whose files tell enough of their records for a model to be made of them.
///
/// A store of this kind is opened with a recovered model (`ManagedObjectModel.isRecovered`) though its version hashes differ, and then has to
/// refuse all changes.
package protocol RecoveringStore: StoreClass {
  /// A model of the records in the file at `path`, which is only read. O(records).
  static func recoverModel(ofStoreAt path: String, options: StoreOptions) throws -> RecoveredModel
}

extension StoreFormat {
  /// Whether a store can be read with a model that was recovered from it.
  var readsRecovered: Bool { storeClass is any RecoveringStore.Type }
}

extension StoreSetup {
  /// Whether the model was recovered, and the store with these metadata was written with another, so that it must not be written.
  package func isRecovered(of metadata: StoreMetadata) -> Bool {
    guard model.isRecovered else { return false }
    return metadata.modelVersionHashes.count != entities.count || !metadata.hasVersions(of: entities)
  }
}

/// A model that was made of what a store's file tells of its records.
public struct RecoveredModel: Sendable {
  /// The model. ``ManagedObjectModel/isRecovered`` is true.
  public let model: ManagedObjectModel
  /// What was guessed or could not be told, each a sentence.
  public let notes: [String]

  package init(model: ManagedObjectModel, notes: [String]) {
    self.model = model
    self.notes = notes
  }
}

// MARK: NarrowingStore

/// An incremental store that can tell which records come into question, where it cannot tell just which are meant.
package protocol NarrowingStore: IncrementalStore {
  /// The part of a fetch that the store can answer by ``IncrementalStore/fetch(_:)``; nil where there is none.
  func narrowed(_ fetch: RecordFetch) throws -> NarrowedFetch?
}

/// The part of a fetch that a store can answer, and what is left of it.
package struct NarrowedFetch: Sendable {
  /// Finds all records that are meant, among others, whatever the limits of the fetch are. Only its plans say what it is.
  let part: RecordFetch
  /// What the records that were found have to meet still; nil where they are just those that are meant.
  let rest: CompiledPredicate?
  /// Whether the records come in the order of the fetch, and not in the store's.
  let isSorted: Bool

  package init(part: RecordFetch, rest: CompiledPredicate?, isSorted: Bool) {
    self.part = part
    self.rest = rest
    self.isSorted = isSorted
  }
}

// MARK: BatchingStore

/// What is done to all records that meet a condition: what a ``BatchingStore`` may do itself.
package struct RecordBatch: Sendable {
  package enum Action: Sendable {
    /// The records get new values. A constant fits its attribute.
    case update([BatchAssignment])
    /// The records go, and with them what their delete rules say.
    case delete
  }

  /// Which records, entity by entity. Orders and limits do not count.
  package let records: [RecordFetch]
  package let action: Action
  /// Whether the references of the records are to be told, and not their number alone.
  package let tellsReferences: Bool

  package init(_ action: Action, of records: [RecordFetch], tellsReferences: Bool) {
    self.records = records
    self.action = action
    self.tellsReferences = tellsReferences
  }
}

/// What a store has done to many records.
package struct BatchedRecords: Sendable {
  /// How many records it was.
  package var count = 0
  /// Their references, by entity ordinal, where they were asked for.
  package var references: [Int: [ReferenceID]] = [:]
  /// The references of records that lost some to which their relationships led, by entity ordinal, where they were asked for.
  package var unlinked: [Int: [ReferenceID]] {
    unlinkedProperties.reduce(into: [:]) { $0[$1.entityOrdinal, default: []] += $1.references }
  }
  /// The same for each of those relationships, by its ordinal.
  package var unlinkedProperties: [(entityOrdinal: Int, propertyOrdinal: Int, references: [ReferenceID])] = []

  package init() {}
}

/// An incremental store that changes or deletes many records without handing them over.
package protocol BatchingStore: IncrementalStore {
  /// Changes or deletes records, within ``IncrementalStore/saving(_:)``; nil where the store would not do just what the framework does with
  /// records in memory. What it has written is undone then.
  ///
  /// A record that changes has its next version.
  func execute(_ batch: RecordBatch) throws -> BatchedRecords?
}

// MARK: FormKeepingStore

/// A store whose files have one of several forms, which a new file that takes the place of another is to have too.
package protocol FormKeepingStore: StoreClass {
  /// The options with which a new file gets the form of `file`. What they say of the form already stays, unless a save over the file would follow the file.
  ///
  /// - Parameter setup: that of the file.
  static func options(
    _ options: StoreOptions,
    keepingFormOf file: StoreInput,
    _ setup: StoreSetup
  ) throws -> StoreOptions
}

extension StoreManager {
  /// What makes a store of the form that another one has, if it is of the same type.
  package func keepingForm(
    of source: Request,
    from origin: StoreOrigin,
    in target: Request
  ) throws -> Request {
    guard source.type == target.type, source.path != nil,
      let storeClass = try registry.format(for: source.type).storeClass as? any FormKeepingStore.Type
    else { return target }
    let (file, setup) = try (file(source), setupForReading(source, from: origin))
    var target = target
    target.options = try file.reading { try storeClass.options(target.options, keepingFormOf: file, setup) }
    return target
  }
}

// MARK: SelfExaminingStore

/// A store whose file may be damaged where reading all records does not show it, and that can go on behind what it cannot read.
package protocol SelfExaminingStore: IncrementalStore {
  /// What is wrong with the file, up to `limit` sentences. It takes as long as reading the whole file.
  func faults(limit: Int) throws -> [String]

  /// What of the records cannot be read. It takes as long as reading all of them.
  ///
  /// - Parameter limit: how many are told; all are counted.
  func unreadableValues(limit: Int) throws -> UnreadableValues
}

/// A value, or a row, that a store holds and cannot read.
package struct UnreadableValue: Sendable {
  /// What the store calls the record; nil if it is a row of a relationship, or the row has no key.
  package let reference: ReferenceID?
  /// Whether it costs the one value: its file is missing, and the record can be read. Anything else costs the record.
  package let costsValueOnly: Bool
  /// Says the entity, the property (none for a row of no entity), and in words the table, the key and what stands there.
  package let error: PersistenceError

  package init(reference: ReferenceID?, costsValueOnly: Bool, error: PersistenceError) {
    self.reference = reference
    self.costsValueOnly = costsValueOnly
    self.error = error
  }

  /// The name of the entity in whose records it was found.
  package var entityName: String? { error.context.entity }
  /// The name of the property; nil if the row as a whole cannot be read.
  package var propertyName: String? { error.context.property }
}

/// What a store cannot read of its records.
package struct UnreadableValues: Sendable {
  /// The first ones, entity by entity in the order of their keys.
  package private(set) var values: [UnreadableValue] = []
  /// How many there are.
  package private(set) var count = 0
  private let limit: Int

  package init(limit: Int) {
    self.limit = limit
  }

  package mutating func note(_ value: UnreadableValue) {
    count += 1
    if values.count < limit { values.append(value) }
  }
}

// MARK: SnapshottingStore

/// An incremental store that can go on reading what it holds now, whatever is saved.
package protocol SnapshottingStore: IncrementalStore {
  /// A connected store that has the records as they are now until it is disconnected, and is never saved to; nil if the store cannot keep them so.
  ///
  /// It is called while a save may wait for the disk: the snapshot is of before it or after it. O(1).
  func snapshot() throws -> (any IncrementalStore)?
}

// MARK: ReadableWhileSavingStore

/// A store that others can read from while a save is on its way to the disk.
package protocol ReadableWhileSavingStore: IncrementalStore {
  /// Saves as ``IncrementalStore/saving(_:)`` does, and lets others read while it waits for the disk: they see all as it was before the save.
  ///
  /// A call that would see the save throws ``SaveIsVisible`` until this one has returned.
  ///
  /// - Parameters:
  ///   - release: called once `body` is done, where the store can be read from then on. Only reading methods and
  ///     ``IncrementalStore/dataVersion()`` are called by others, one at a time.
  ///   - retake: called when the save is on the disk or has failed, where `release` was. When it returns, others call nothing any more.
  func saving<Result>(_ body: () throws -> Result, release: () -> Void, retake: () -> Void) throws -> Result
}

/// What would be read has a save in it that the framework has not taken note of yet.
package struct SaveIsVisible: Error {
  package init() {}
}
