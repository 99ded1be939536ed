public import Foundation
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore

extension NSManagedObjectContext {
  /// Writes all changes to the stores, or passes them to the parent, where they become unsaved changes.
  ///
  /// Observers hear of it in this order: `NSManagedObjectContextWillSave`, the `willSave()` of objects,
  /// `NSManagedObjectContextObjectsDidChange`, the `didSave()` of objects, `NSManagedObjectContextDidSave`.
  ///
  /// - Throws: a `CocoaError` with Core Data's code, such as `validationMissingMandatoryProperty` or
  ///   `managedObjectMerge`; the errors that the application's own validation throws.
  public final func save() throws {
    if let failure = takeFailure() { throw CocoaError.of(failure, self) }
    guard hasChanges else { return }
    ProgrammerError.check(!isSaving, "An object saves its context in its willSave(). Leave it to the save under way.")
    post(.NSManagedObjectContextWillSave, [:])
    isSaving = true
    defer {
      isSaving = false
      savedSets = nil
    }
    let observation = core.observe(.willSave) { [unowned self] _ in savedSets = ContextSets(self) }
    do {
      try hold { try core.save() }
    } catch {
      throw CocoaError.of(error, self)
    }
    withExtendedLifetime(observation) {}
    let sets = savedSets ?? ContextSets()
    forgetSettled()
    if parent == nil { for object in sets.inserted { object.registerInOwnStore(self) } }
    post(.NSManagedObjectContextDidSave, sets.userInfo)
    post(Self.didSaveObjectIDsNotification, sets.objectIDs)
  }

  /// Merges what another context has saved: objects take the newest values and keep their own changes.
  ///
  /// - Parameter notification: an `NSManagedObjectContextDidSave`, or that of a transaction of the history.
  public final func mergeChanges(fromContextDidSave notification: Notification) {
    guard (notification.object as AnyObject?) !== self else { return }
    func ids(_ keys: String...) -> Set<ManagedObjectID> {
      keys.reduce(into: []) { $0.formUnion(Self.ids(notification.userInfo?[$1])) }
    }
    mergeChanges(
      inserted: ids(NSInsertedObjectsKey, NSInsertedObjectIDsKey),
      updated: ids(NSUpdatedObjectsKey, NSRefreshedObjectsKey, NSUpdatedObjectIDsKey),
      deleted: ids(NSDeletedObjectsKey, NSDeletedObjectIDsKey)
    )
  }

  /// Merges changes into several contexts, each on its queue.
  ///
  /// - Parameter changeNotificationData: the ids of objects under keys such as `NSUpdatedObjectIDsKey`.
  public class func mergeChanges(
    fromRemoteContextSave changeNotificationData: [AnyHashable: Any],
    into contexts: [NSManagedObjectContext]
  ) {
    func ids(_ keys: [String]) -> Set<ManagedObjectID> {
      keys.reduce(into: []) { $0.formUnion(self.ids(changeNotificationData[$1])) }
    }
    let inserted = ids([NSInsertedObjectsKey, NSInsertedObjectIDsKey])
    let updated = ids([NSUpdatedObjectsKey, NSUpdatedObjectIDsKey])
    let deleted = ids([NSDeletedObjectsKey, NSDeletedObjectIDsKey])
    for context in contexts {
      context.performAndWait { context.mergeChanges(inserted: inserted, updated: updated, deleted: deleted) }
    }
  }

  private func mergeChanges(
    inserted: Set<ManagedObjectID>,
    updated: Set<ManagedObjectID>,
    deleted: Set<ManagedObjectID>
  ) {
    merge(ContextChanges(inserted: inserted, updated: updated, deleted: deleted))
  }

  /// Merges changes. Observers hear of new objects too, so these are made.
  private func merge(_ changes: ContextChanges) {
    hold {
      let inserted = changes.insertedObjectIDs.filter { !$0.isTemporaryID }.map(facade(with:))
      core.mergeChanges(from: changes)
      withExtendedLifetime(inserted) {}
    }
    forgetSettled()
    post(Self.didMergeChangesObjectIDsNotification, objectIDs(changes))
  }

  /// Returns the ids in a set of objects or of ids.
  private static func ids(_ value: Any?) -> Set<ManagedObjectID> {
    let elements = value.flatMap(KeyValueCoding.elements) ?? []
    return Set(
      elements.compactMap { element in
        switch element {
        case let object as NSManagedObject: object.objectID.core
        case let id as NSManagedObjectID: id.core
        default: nil
        }
      }
    )
  }

  // MARK: Notifications

  final func post(_ name: Notification.Name, _ userInfo: [AnyHashable: Any]) {
    NotificationCenter.default.post(name: name, object: self, userInfo: userInfo)
  }

  /// Posts the end of an event, with the objects of its changes.
  final func postObjectsDidChange(_ changes: ContextChanges) {
    var sets = ContextSets()
    sets.inserted = facades(changes.insertedObjectIDs)
    sets.updated = facades(changes.updatedObjectIDs)
    sets.deleted = deletedFacades(changes.deletedObjectIDs)
    sets.refreshed = facades(changes.refreshedObjectIDs)
    post(.NSManagedObjectContextObjectsDidChange, sets.userInfo)
  }

  private func objectIDs(_ changes: ContextChanges) -> [AnyHashable: Any] {
    let sets = [
      NSInsertedObjectIDsKey: changes.insertedObjectIDs, NSUpdatedObjectIDsKey: changes.updatedObjectIDs,
      NSDeletedObjectIDsKey: changes.deletedObjectIDs, NSRefreshedObjectIDsKey: changes.refreshedObjectIDs,
    ]
    return sets.filter { !$0.value.isEmpty }.mapValues { Set($0.map(objectID)) }
  }

  private func facades(_ ids: Set<ManagedObjectID>) -> Set<NSManagedObject> {
    Set(ids.compactMap(registeredFacade))
  }

  private func deletedFacades(_ ids: Set<ManagedObjectID>) -> Set<NSManagedObject> {
    if ids.isEmpty { return [] }
    return facades(ids).union(deletedObjects.filter { object in object.objectID.core.map(ids.contains) ?? false })
  }

  /// Merges the save of another context, if this one is to follow the others.
  final func follow(_ changes: ContextChanges) {
    perform { [weak self] in
      guard let self else { return }
      merge(changes)
    }
  }
}

// MARK: ContextSets

/// The objects of a notification.
struct ContextSets {
  var inserted: Set<NSManagedObject> = []
  var updated: Set<NSManagedObject> = []
  var deleted: Set<NSManagedObject> = []
  var refreshed: Set<NSManagedObject> = []

  init() {}

  /// The objects that a save is about to write.
  init(_ context: NSManagedObjectContext) {
    inserted = context.insertedObjects
    updated = context.updatedObjects
    deleted = context.deletedObjects
  }

  /// The sets under Core Data's keys; empty sets are left out.
  var userInfo: [AnyHashable: Any] {
    let sets = [
      NSInsertedObjectsKey: inserted, NSUpdatedObjectsKey: updated, NSDeletedObjectsKey: deleted,
      NSRefreshedObjectsKey: refreshed,
    ]
    return sets.filter { !$0.value.isEmpty }
  }

  /// The ids under Core Data's keys; empty sets are left out.
  var objectIDs: [AnyHashable: Any] {
    let sets = [
      NSInsertedObjectIDsKey: inserted, NSUpdatedObjectIDsKey: updated, NSDeletedObjectIDsKey: deleted,
    ]
    return sets.filter { !$0.value.isEmpty }.mapValues { Set($0.map(\.objectID)) }
  }
}

/// The key of inserted objects.
public let NSInsertedObjectsKey = "inserted"
/// The key of updated objects.
public let NSUpdatedObjectsKey = "updated"
/// The key of deleted objects.
public let NSDeletedObjectsKey = "deleted"
/// The key of refreshed objects.
public let NSRefreshedObjectsKey = "refreshed"
/// The key of all objects that a reset has made useless.
public let NSInvalidatedAllObjectsKey = "invalidatedAll"
/// The key of the ids of refreshed objects.
public let NSRefreshedObjectIDsKey = "refreshed_objectIDs"
/// The key of the ids of inserted objects.
public let NSInsertedObjectIDsKey = "inserted_objectIDs"
/// The key of the ids of updated objects.
public let NSUpdatedObjectIDsKey = "updated_objectIDs"
/// The key of the ids of deleted objects.
public let NSDeletedObjectIDsKey = "deleted_objectIDs"

extension NSNotification.Name {
  /// Posted by a context: will save.
  public static let NSManagedObjectContextWillSave = Notification.Name("NSManagingContextWillSaveChangesNotification")
  /// Posted by a context: did save.
  public static let NSManagedObjectContextDidSave = Notification.Name("NSManagingContextDidSaveChangesNotification")
  /// Posted by a context: objects did change.
  public static let NSManagedObjectContextObjectsDidChange = Notification.Name(
    "NSObjectsChangedInManagingContextNotification"
  )
}

extension NSManagedObjectContext {
  /// Posted by a context: will save objects notification.
  public static let willSaveObjectsNotification = Notification.Name.NSManagedObjectContextWillSave
  /// Posted by a context: did save objects notification.
  public static let didSaveObjectsNotification = Notification.Name.NSManagedObjectContextDidSave
  /// Posted by a context that has saved, with the ids of the objects.
  public static let didSaveObjectIDsNotification = Notification.Name(
    "NSManagedObjectContextDidSaveObjectIDsNotification"
  )
  /// Posted by a context that has merged changes, with the ids of the objects.
  public static let didMergeChangesObjectIDsNotification = Notification.Name(
    "NSManagedObjectContextDidMergeChangesObjectIDsNotification"
  )
  /// Posted by a context: did change objects notification.
  public static let didChangeObjectsNotification = Notification.Name.NSManagedObjectContextObjectsDidChange
}
