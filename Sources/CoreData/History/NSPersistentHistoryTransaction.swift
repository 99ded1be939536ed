public import Foundation
import HeartwoodModel
import HeartwoodStore

/// A save, as the history of a store keeps it.
open class NSPersistentHistoryTransaction: NSObject, NSFetchRequestResult {
  /// When the store was saved.
  public final let timestamp: Date
  /// The number of the transaction in its store.
  public final let transactionNumber: Int64
  /// The identifier of the store.
  public final let storeID: String
  /// The identifier of the application that saved; empty if the store does not keep it.
  public final let bundleID: String
  /// The name of the process that saved; empty if the store does not keep it.
  public final let processID: String
  /// The name of the context that saved.
  public final let contextName: String?
  /// The author of the changes.
  public final let author: String?
  /// The place in the history behind the transaction.
  public final let token: NSPersistentHistoryToken
  /// The changes, if they were asked for.
  open internal(set) var changes: [NSPersistentHistoryChange]?
  final let core: PersistentHistoryTransaction

  init(_ core: PersistentHistoryTransaction) {
    self.core = core
    timestamp = core.timestamp
    transactionNumber = core.transactionNumber
    storeID = core.storeID.uuidString
    bundleID = core.bundleID ?? ""
    processID = core.processID ?? ""
    contextName = core.contextName
    author = core.author
    token = NSPersistentHistoryToken(core.token)
  }

  /// The changes as a notification, for `mergeChanges(fromContextDidSave:)`. It has the ids of the objects.
  open func objectIDNotification() -> Notification {
    var sets: [AnyHashable: Any] = [:]
    for (type, key) in NSPersistentHistoryChangeType.keys {
      let ids = Set((changes ?? []).filter { $0.changeType == type }.map(\.changedObjectID))
      if !ids.isEmpty { sets[key] = ids }
    }
    return Notification(name: NSManagedObjectContext.didSaveObjectIDsNotification, object: self, userInfo: sets)
  }

  /// A request for transactions, whose predicate may name `author`, `contextName`, `bundleID`, `processID`, `timestamp`
  /// and `transactionNumber`.
  open class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { NSFetchRequest(entityName: "Transaction") }
}

// MARK: NSPersistentHistoryChange

/// What was done to a record.
public enum NSPersistentHistoryChangeType: Int, Sendable {
  case insert = 0
  case update = 1
  case delete = 2

  fileprivate static let keys: [(NSPersistentHistoryChangeType, String)] = [
    (.insert, NSInsertedObjectIDsKey), (.update, NSUpdatedObjectIDsKey), (.delete, NSDeletedObjectIDsKey),
  ]
}

/// The change of one record.
open class NSPersistentHistoryChange: NSObject, NSFetchRequestResult {
  /// The place of the change in its transaction.
  public final let changeID: Int64
  /// The id of the object.
  public final let changedObjectID: NSManagedObjectID
  /// What was done.
  public final let changeType: NSPersistentHistoryChangeType
  /// The attributes of a deleted object that the history keeps.
  public final let tombstone: [AnyHashable: Any]?
  /// The properties that an update has set.
  public final let updatedProperties: Set<NSPropertyDescription>?
  /// The transaction.
  open internal(set) weak var transaction: NSPersistentHistoryTransaction?

  init(
    _ change: PersistentHistoryChange,
    _ entity: NSEntityDescription,
    _ coordinator: NSPersistentStoreCoordinator
  ) {
    changeID = change.changeID
    changedObjectID = NSManagedObjectID(change.changedObjectID, entity, coordinator)
    changeType = NSPersistentHistoryChangeType(rawValue: Int(change.changeType.rawValue)) ?? .update
    let properties = entity.propertiesByName
    updatedProperties =
      change.changeType == .update ? Set(change.updatedProperties.compactMap { properties[$0] }) : nil
    var values: [AnyHashable: Any] = [:]
    for (name, value) in change.tombstone {
      let attribute = change.changedObjectID.entity.property(named: name)?.attribute
      values[name] = attribute.map { StoredValue.object(value, of: $0) } ?? StoredValue.object(value, .undefined)
    }
    tombstone = change.changeType == .delete ? values : nil
  }

  /// A request for changes, whose predicate may name `changeType` and `changeID`.
  open class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { NSFetchRequest(entityName: "Change") }
}

// MARK: NSPersistentHistoryToken

/// A place in the histories of stores. It can be archived.
open class NSPersistentHistoryToken: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // `@unchecked Sendable`: it never changes.
  final let core: PersistentHistoryToken

  init(_ core: PersistentHistoryToken) { self.core = core }

  /// Whether tokens can be read from untrusted archives.
  public static var supportsSecureCoding: Bool { true }

  private static let key = "token"

  /// Reads a token from an archive.
  public required init?(coder: NSCoder) {
    guard let data = coder.decodeObject(of: NSData.self, forKey: Self.key) as Data? else { return nil }
    // try?: what is no token gives none, as in Foundation.
    guard let core = try? JSONDecoder().decode(PersistentHistoryToken.self, from: data) else { return nil }
    self.core = core
  }

  /// Writes the token to an archive.
  open func encode(with coder: NSCoder) {
    do {
      coder.encode(try JSONEncoder().encode(core) as NSData, forKey: Self.key)
    } catch {
      ProgrammerError.stop("A history token cannot be encoded: \(error)")
    }
  }

  /// Returns the token itself, which cannot be changed.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// Returns whether the other token is at the same place.
  open override func isEqual(_ object: Any?) -> Bool { (object as? NSPersistentHistoryToken)?.core == core }

  /// A number that equal tokens share.
  open override var hash: Int { core.hashValue }
}
