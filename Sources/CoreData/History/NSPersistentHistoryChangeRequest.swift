public import Foundation
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore

/// What a request for the history gives.
public enum NSPersistentHistoryResultType: Int, Sendable {
  case statusOnly = 0
  case objectIDs = 1
  case count = 2
  case transactionsOnly = 3
  case changesOnly = 4
  case transactionsAndChanges = 5
}

/// The result of a request for the history.
open class NSPersistentHistoryResult: NSPersistentStoreResult {
  /// The transactions, the changes, the ids, the number, or whether it was done, as the ``resultType`` says.
  public final let result: Any?
  /// What was asked for.
  public final let resultType: NSPersistentHistoryResultType

  init(_ result: Any, _ type: NSPersistentHistoryResultType) {
    self.result = result
    resultType = type
  }
}

/// A request for the transactions of stores that keep a history, or for deleting some.
///
///     description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
///
///     let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
///     let result = try context.execute(request) as? NSPersistentHistoryResult
///     let transactions = result?.result as? [NSPersistentHistoryTransaction]
open class NSPersistentHistoryChangeRequest: NSPersistentStoreRequest {
  private enum Aim {
    case after(PersistentHistoryChangeRequest)
    case beforeToken(PersistentHistoryToken)
    case beforeTransaction(PersistentHistoryTransaction)
    case beforeDate(Date)
  }

  private let aim: Aim
  /// What the request gives.
  open var resultType = NSPersistentHistoryResultType.transactionsAndChanges
  /// The token after which transactions are fetched.
  open private(set) var token: NSPersistentHistoryToken?
  /// A condition on the transactions or changes; see ``NSPersistentHistoryTransaction/fetchRequest``.
  open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>?

  private init(_ aim: Aim, _ resultType: NSPersistentHistoryResultType) {
    self.aim = aim
    self.resultType = resultType
  }

  private static func fetch(_ request: PersistentHistoryChangeRequest) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(.after(request), .transactionsAndChanges)
  }

  /// Creates a request for the transactions that were saved later than a date.
  open class func fetchHistory(after date: Date) -> NSPersistentHistoryChangeRequest {
    fetch(.fetchHistory(after: date))
  }

  /// Creates a request for the transactions after a token; nil stands for all.
  open class func fetchHistory(after token: NSPersistentHistoryToken?) -> NSPersistentHistoryChangeRequest {
    let request = fetch(.fetchHistory(after: token?.core))
    request.token = token
    return request
  }

  /// Creates a request for the transactions after one; nil stands for all.
  open class func fetchHistory(after transaction: NSPersistentHistoryTransaction?) -> NSPersistentHistoryChangeRequest {
    fetchHistory(after: transaction?.token)
  }

  /// Creates a request for the transactions or changes that meet a condition.
  open class func fetchHistory(
    withFetch fetchRequest: NSFetchRequest<any NSFetchRequestResult>
  ) -> NSPersistentHistoryChangeRequest {
    let request = fetch(.fetchHistory(after: nil as PersistentHistoryToken?))
    request.fetchRequest = fetchRequest
    return request
  }

  /// Creates a request that deletes the transactions before a date.
  open class func deleteHistory(before date: Date) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(.beforeDate(date), .statusOnly)
  }

  /// Creates a request that deletes the transactions up to a token; nil stands for none.
  open class func deleteHistory(before token: NSPersistentHistoryToken?) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(.beforeToken(token?.core ?? PersistentHistoryToken([:])), .statusOnly)
  }

  /// Creates a request that deletes the transactions before one; nil stands for none.
  open class func deleteHistory(before transaction: NSPersistentHistoryTransaction?) -> NSPersistentHistoryChangeRequest
  {
    guard let transaction else { return deleteHistory(before: nil as NSPersistentHistoryToken?) }
    return NSPersistentHistoryChangeRequest(.beforeTransaction(transaction.core), .statusOnly)
  }

  // MARK: Executing

  final func execute(in coordinator: NSPersistentStoreCoordinator) throws -> NSPersistentHistoryResult {
    let stores = affectedStores?.compactMap(\.core)
    switch aim {
    case .beforeToken(let token): try coordinator.core.deleteHistory(before: token, in: stores)
    case .beforeTransaction(let transaction): try coordinator.core.deleteHistory(before: transaction)
    case .beforeDate(let date): try coordinator.core.deleteHistory(before: date, in: stores)
    case .after(let request): return try fetch(request, stores, coordinator)
    }
    return NSPersistentHistoryResult(NSNumber(value: true), resultType)
  }

  private final func fetch(
    _ request: PersistentHistoryChangeRequest,
    _ stores: [PersistentStore]?,
    _ coordinator: NSPersistentStoreCoordinator
  ) throws -> NSPersistentHistoryResult {
    if resultType == .statusOnly { return NSPersistentHistoryResult(NSNumber(value: true), resultType) }
    var transactions = try coordinator.core.execute(request, in: stores).map(NSPersistentHistoryTransaction.init)
    if let predicate = condition(onEntity: "Transaction") {
      transactions = transactions.filter { predicate.evaluate(with: $0) }
    }
    if resultType == .transactionsOnly {
      return NSPersistentHistoryResult(transactions, resultType)
    }
    for transaction in transactions { transaction.changes = changes(of: transaction, coordinator) }
    transactions = transactions.filter { $0.changes?.isEmpty == false }
    let changes = transactions.flatMap { $0.changes ?? [] }
    switch resultType {
    case .changesOnly: return NSPersistentHistoryResult(changes, resultType)
    case .objectIDs: return NSPersistentHistoryResult(changes.map(\.changedObjectID), resultType)
    case .count: return NSPersistentHistoryResult(NSNumber(value: changes.count), resultType)
    default: return NSPersistentHistoryResult(transactions, resultType)
    }
  }

  private final func changes(
    of transaction: NSPersistentHistoryTransaction,
    _ coordinator: NSPersistentStoreCoordinator
  ) -> [NSPersistentHistoryChange] {
    let predicate = condition(onEntity: "Change")
    return transaction.core.changes.compactMap { change in
      let entity = coordinator.managedObjectModel.description(of: change.changedObjectID.entity)
      let made = NSPersistentHistoryChange(change, entity, coordinator)
      made.transaction = transaction
      return predicate?.evaluate(with: made) == false ? nil : made
    }
  }

  private final func condition(onEntity name: String) -> NSPredicate? {
    fetchRequest?.entityName == name ? fetchRequest?.predicate : nil
  }
}

// MARK: NSPersistentStoreCoordinator

extension NSPersistentStoreCoordinator {
  /// Returns the place behind the newest transactions of stores; nil stands for all. It returns nil if none of them
  /// keeps a history, or it cannot be read.
  public final func currentPersistentHistoryToken(fromStores stores: [Any]?) -> NSPersistentHistoryToken? {
    let chosen = stores?.compactMap { ($0 as? NSPersistentStore)?.core }
    // try?: Core Data gives nil here.
    return (try? core.currentPersistentHistoryToken(fromStores: chosen)).flatMap {
      $0.map(NSPersistentHistoryToken.init)
    }
  }

  /// Tells that stores were saved that ask for it.
  final func postRemoteChanges() {
    for store in persistentStores where store.tellsRemoteChanges {
      var userInfo: [AnyHashable: Any] = [NSStoreUUIDKey: store.identifier ?? ""]
      userInfo[NSPersistentStoreURLKey] = store.url
      userInfo[NSPersistentHistoryTokenKey] = currentPersistentHistoryToken(fromStores: [store])
      NotificationCenter.default.post(name: .NSPersistentStoreRemoteChange, object: self, userInfo: userInfo)
    }
  }
}

extension NSPersistentStore {
  fileprivate final var tellsRemoteChanges: Bool {
    (options?[NSPersistentStoreRemoteChangeNotificationPostOptionKey] as? NSNumber)?.boolValue ?? false
  }
}

/// The key of the option: keep a history.
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"
/// The key of the option: tell saves by `NSPersistentStoreRemoteChange`.
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey =
  "NSPersistentStoreRemoteChangeNotificationOptionKey"
/// The key of the place in the history, in a notification.
public let NSPersistentHistoryTokenKey = "historyToken"
/// The key of the store's file, in a notification.
public let NSPersistentStoreURLKey = "storeURL"

extension NSNotification.Name {
  /// Posted by a coordinator when one of its contexts has saved to a store with
  /// `NSPersistentStoreRemoteChangeNotificationPostOptionKey`.
  public static let NSPersistentStoreRemoteChange = Notification.Name("NSPersistentStoreRemoteChangeNotification")
}
