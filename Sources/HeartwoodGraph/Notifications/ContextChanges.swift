public import HeartwoodModel
public import HeartwoodStore
import Synchronization

/// The changes in a context or by a save, as ids: they are Sendable, the objects are not.
public struct ContextChanges: Sendable {
  /// The ids of new objects.
  public var insertedObjectIDs: Set<ManagedObjectID> { records.inserted }
  /// The ids of objects whose values have changed.
  public var updatedObjectIDs: Set<ManagedObjectID> { records.updated }
  /// The ids of deleted objects.
  public var deletedObjectIDs: Set<ManagedObjectID> { records.deleted }
  /// The ids of objects that take the newest values of their records, because they were refreshed or the changes of
  /// others were merged.
  public internal(set) var refreshedObjectIDs: Set<ManagedObjectID> = []
  /// The author of the changes (``ManagedObjectContext/transactionAuthor``); nil if the context has none, or if there
  /// were several.
  public internal(set) var transactionAuthor: String?
  /// The name of the context; nil if it has none, or if there were several.
  public internal(set) var contextName: String?
  /// Whether another process has saved, or another coordinator of this one. Then the changes contain only records that
  /// had been read here; other changed records are unknown. If more records had been read than
  /// ``StoreOptionKey/recordsComparedAtOnce``, the changes contain none.
  public internal(set) var isRemote = false
  /// The changes of records, without ``refreshedObjectIDs``.
  var records = ChangedObjectIDs()
  /// Whether there may be new records that are not included.
  var mayHaveMore = false
  /// Whether any record may have changed or been deleted, none of which is included.
  var mayBeAny = false
  /// The context; nil if there were several.
  var context: ContextIdentifier?

  init(context: ContextIdentifier?, name: String?, author: String?) {
    self.context = context
    contextName = name
    transactionAuthor = author
  }
}

extension ContextChanges {
  /// Creates the changes of a transaction of a store's history, so that contexts can merge saves from before they were
  /// observing:
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

  /// Creates the changes that others have saved to a store.
  /// Changes of objects that another API has reported.
  package init(inserted: Set<ManagedObjectID>, updated: Set<ManagedObjectID>, deleted: Set<ManagedObjectID>) {
    self.init(context: nil, name: nil, author: nil)
    records.inserted = inserted
    records.updated = updated
    records.deleted = deleted
  }

  init(_ changes: RemoteChanges) {
    self.init(context: nil, name: nil, author: nil)
    records = changes.records
    mayHaveMore = changes.mayHaveMore
    mayBeAny = changes.mayBeAny
    isRemote = true
  }

  /// Whether nothing was changed.
  public var isEmpty: Bool { records.isEmpty && refreshedObjectIDs.isEmpty }

  /// The objects that still exist.
  var presentObjectIDs: Set<ManagedObjectID> {
    insertedObjectIDs.union(updatedObjectIDs).union(refreshedObjectIDs)
  }

  /// Adds later changes, so that both together describe the changes of each object.
  mutating func append(_ later: ContextChanges) {
    records.append(later.records)
    refreshedObjectIDs.formUnion(later.refreshedObjectIDs)
    refreshedObjectIDs.subtract(later.deletedObjectIDs)
    if transactionAuthor != later.transactionAuthor { transactionAuthor = nil }
    if contextName != later.contextName { contextName = nil }
    if context != later.context { context = nil }
    isRemote = isRemote && later.isRemote
    mayHaveMore = mayHaveMore || later.mayHaveMore
    mayBeAny = mayBeAny || later.mayBeAny
  }
}

extension ContextChanges: MailboxElement {
  static var capacity: Int { 64 }
}

/// Identifies a context, even after it was deallocated.
struct ContextIdentifier: Hashable, Sendable {
  private let number: UInt64
  private static let last = Atomic<UInt64>(0)

  init() {
    number = Self.last.wrappingAdd(1, ordering: .relaxed).newValue
  }
}

// MARK: ContextChangeSequence

/// A sequence of changes: one element for each save, or for each event.
///
/// It begins with the first changes after it was requested, and ends with the context or the coordinator, which it does
/// not retain. For a slow reader, elements beyond 64 are merged with the last one, so that none is missed and memory
/// stays bounded. Each element is delivered to one reader; request a sequence for each.
public struct ContextChangeSequence: AsyncSequence, Sendable {
  let mailbox: Mailbox<ContextChanges>

  /// Creates an iterator over the changes.
  public func makeAsyncIterator() -> Iterator { Iterator(mailbox: mailbox) }

  /// An iterator over the changes.
  public struct Iterator: AsyncIteratorProtocol {
    let mailbox: Mailbox<ContextChanges>

    /// Waits for the next changes and returns them; nil at the end, or if the task is cancelled.
    public mutating func next() async -> ContextChanges? { await mailbox.next() }

    /// Waits for the next changes and returns them; nil at the end, or if the task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> ContextChanges? {
      await mailbox.next()
    }
  }
}

// MARK: ContextObservation

/// An event in a context that can be observed: ``ManagedObjectContext/observe(_:_:)``.
public enum ContextEvent: Sendable, Hashable {
  /// The context is about to be saved; the changes are those to be saved.
  case willSave
  /// The context has saved; new objects have their permanent ids.
  case didSave
  /// Objects have been inserted, changed, deleted or refreshed. See ``ManagedObjectContext/objectsDidChange``.
  case objectsDidChange
}

/// An observation of a context, which lasts as long as it is retained. The last reference may be released on any
/// thread.
public final class ContextObservation {
  fileprivate let event: ContextEvent
  fileprivate let body: (ContextChanges) -> Void

  init(_ observers: ContextObservers, _ event: ContextEvent, _ body: @escaping (ContextChanges) -> Void) {
    self.event = event
    self.body = body
    observers.add(self)
  }
}

/// The observations of a context, in the order in which they began. It retains none of them.
final class ContextObservers {
  private struct Member {
    weak var observation: ContextObservation?
    let event: ContextEvent
  }

  private var members: [Member] = []

  func hasObservers(of event: ContextEvent) -> Bool {
    members.contains { $0.event == event && $0.observation != nil }
  }

  fileprivate func add(_ observation: ContextObservation) {
    members.removeAll { $0.observation == nil }
    members.append(Member(observation: observation, event: observation.event))
  }

  func tell(_ changes: ContextChanges, _ event: ContextEvent) {
    for member in members where member.event == event { member.observation?.body(changes) }
  }
}
