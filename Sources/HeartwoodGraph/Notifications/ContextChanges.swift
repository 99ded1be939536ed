public import HeartwoodModel
public import HeartwoodStore
import Synchronization

/// What was changed in a context or by a save, as ids: they are Sendable, the objects are not.
public struct ContextChanges: Sendable {
  /// The objects that are new.
  public var insertedObjectIDs: Set<ManagedObjectID> { records.inserted }
  /// The objects whose values have changed.
  public var updatedObjectIDs: Set<ManagedObjectID> { records.updated }
  /// The objects that are gone.
  public var deletedObjectIDs: Set<ManagedObjectID> { records.deleted }
  /// The objects that take the newest values of their records, because they were refreshed or the changes of others were merged.
  public internal(set) var refreshedObjectIDs: Set<ManagedObjectID> = []
  /// Whoever changed it, as the context names them (``ManagedObjectContext/transactionAuthor``); nil where that is not told, or
  /// where several did.
  public internal(set) var transactionAuthor: String?
  /// The name of the context; nil where it has none, or where there were several.
  public internal(set) var contextName: String?
  /// Whether another process has saved it, or another coordinator of this one. Then the records are named that had been read here; of those
  /// that nobody had, there is no telling.
  public internal(set) var isRemote = false
  /// What became of the records of objects, but for ``refreshedObjectIDs``.
  var records = ChangedObjectIDs()
  /// Whether there may be new records that are not named.
  var mayHaveMore = false
  /// The context; nil where there were several.
  var context: ContextIdentifier?

  init(context: ContextIdentifier?, name: String?, author: String?) {
    self.context = context
    contextName = name
    transactionAuthor = author
  }
}

extension ContextChanges {
  /// What a transaction of a store's history has done, so that contexts can merge what was saved before they listened:
  ///
  ///     for transaction in try context.execute(.fetchHistory(after: lastToken)) {
  ///       context.mergeChanges(from: ContextChanges(transaction))
  ///     }
  public init(_ transaction: PersistentHistoryTransaction) {
    self.init(context: nil, name: transaction.contextName, author: transaction.author)
    for change in transaction.changes {
      switch change.changeType {
      case .insert: records.inserted.insert(change.changedObjectID)
      case .update: records.updated.insert(change.changedObjectID)
      case .delete: records.deleted.insert(change.changedObjectID)
      }
    }
  }

  /// What others have saved to a store.
  init(_ changes: RemoteChanges) {
    self.init(context: nil, name: nil, author: nil)
    records = changes.records
    mayHaveMore = changes.mayHaveMore
    isRemote = true
  }

  /// Whether nothing was changed.
  public var isEmpty: Bool { records.isEmpty && refreshedObjectIDs.isEmpty }

  /// The objects that are still there.
  var presentObjectIDs: Set<ManagedObjectID> {
    insertedObjectIDs.union(updatedObjectIDs).union(refreshedObjectIDs)
  }

  /// Adds changes that were made after these, so that both together tell what became of each object.
  mutating func append(_ later: ContextChanges) {
    records.append(later.records)
    refreshedObjectIDs.formUnion(later.refreshedObjectIDs)
    refreshedObjectIDs.subtract(later.deletedObjectIDs)
    if transactionAuthor != later.transactionAuthor { transactionAuthor = nil }
    if contextName != later.contextName { contextName = nil }
    if context != later.context { context = nil }
    isRemote = isRemote && later.isRemote
    mayHaveMore = mayHaveMore || later.mayHaveMore
  }
}

extension ContextChanges: MailboxElement {
  static var capacity: Int { 64 }
}

/// Tells contexts apart, also those that are gone.
struct ContextIdentifier: Hashable, Sendable {
  private let number: UInt64
  private static let last = Atomic<UInt64>(0)

  init() {
    number = Self.last.wrappingAdd(1, ordering: .relaxed).newValue
  }
}
