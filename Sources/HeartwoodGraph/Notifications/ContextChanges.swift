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
  /// that nobody had, there is no telling. If more had been read than ``StoreOptionKey/recordsComparedAtOnce``, none is named.
  public internal(set) var isRemote = false
  /// What became of the records of objects, but for ``refreshedObjectIDs``.
  var records = ChangedObjectIDs()
  /// Whether there may be new records that are not named.
  var mayHaveMore = false
  /// Whether any record may have changed or gone, none of which is named.
  var mayBeAny = false
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
    mayBeAny = changes.mayBeAny
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
    mayBeAny = mayBeAny || later.mayBeAny
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

// MARK: ContextChangeSequence

/// Changes as they come: one element for each save, or for each event.
///
/// It begins with what comes after it was asked for, and ends with what it is about: the context or the coordinator. It holds
/// neither. Where a reader is slow, elements beyond 64 are merged with the last one, so none is missed and memory stays bounded. An
/// element goes to one reader; ask for a sequence of their own for each.
public struct ContextChangeSequence: AsyncSequence, Sendable {
  let mailbox: Mailbox<ContextChanges>

  /// Begins to read.
  public func makeAsyncIterator() -> Iterator { Iterator(mailbox: mailbox) }

  /// Reads one element after another.
  public struct Iterator: AsyncIteratorProtocol {
    let mailbox: Mailbox<ContextChanges>

    /// The next changes, once there are some; nil at the end, or when the task is cancelled.
    public mutating func next() async -> ContextChanges? { await mailbox.next() }

    /// The next changes, once there are some; nil at the end, or when the task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> ContextChanges? {
      await mailbox.next()
    }
  }
}

// MARK: ContextObservation

/// Something that happens in a context, and that can be observed: ``ManagedObjectContext/observe(_:_:)``.
public enum ContextEvent: Sendable, Hashable {
  /// The context is about to be saved; the changes are those to be saved.
  case willSave
  /// The context has saved; new objects have their permanent ids.
  case didSave
  /// Objects have been inserted, changed, deleted or refreshed. See ``ManagedObjectContext/objectsDidChange``.
  case objectsDidChange
}

/// An observation of a context, which lasts as long as somebody holds it. The last reference may be released on any thread.
public final class ContextObservation {
  fileprivate let event: ContextEvent
  fileprivate let body: (ContextChanges) -> Void

  init(_ observers: ContextObservers, _ event: ContextEvent, _ body: @escaping (ContextChanges) -> Void) {
    self.event = event
    self.body = body
    observers.add(self)
  }
}

/// The observations of a context, in the order in which they began. It holds none of them.
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
