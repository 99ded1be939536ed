import HeartwoodFoundation
import HeartwoodGraph
import HeartwoodModel
import HeartwoodRecordText
import HeartwoodStore

/// The unsaved changes of a store that is edited in a browser, in one context with an undo manager.
///
/// All pages and tabs that show the store work on this session.
final class EditSession {
  /// The name of the context, by which its own saves are told from those of others. A history records it.
  static let contextName = "heartwood browse"

  /// A random text that requests for a change must have. Only a page that may read this server's answers knows it.
  let token = LocalAccess.makeToken()
  private(set) var context: ManagedObjectContext
  /// The path of the copy that was made before the first save.
  private(set) var backup: String?

  init(_ coordinator: PersistentStoreCoordinator) {
    context = Self.makeContext(coordinator)
  }

  private static func makeContext(_ coordinator: PersistentStoreCoordinator) -> ManagedObjectContext {
    let context = ManagedObjectContext(coordinator)
    context.name = contextName
    context.undoManager = GraphUndoManager()
    return context
  }

  /// Goes on without changes on the stores of another coordinator. What was done before can no longer be undone.
  func begin(on coordinator: PersistentStoreCoordinator) {
    context = Self.makeContext(coordinator)
  }

  /// Goes on with the context that has the changes of this one on the stores of another coordinator.
  ///
  /// - Parameter move: makes the changes in the new context. If it throws, the session stays as it is.
  func moving(to coordinator: PersistentStoreCoordinator, _ move: (ManagedObjectContext) throws -> Void) throws {
    let newest = Self.makeContext(coordinator)
    try move(newest)
    newest.processPendingChanges()
    context = newest
  }

  /// Reads the newest values before the first change. Objects that were read before others have saved would be in
  /// conflict although they are changed only now.
  func prepare() {
    if !context.hasChanges { context.refreshAllObjects() }
  }

  /// Makes one step that can be undone. If `body` throws, nothing has changed.
  func step<Result>(_ body: () throws -> Result) throws -> Result {
    let result = try context.doingWholly(body)
    context.processPendingChanges()
    return result
  }
}

// MARK: State

extension EditSession {
  /// The objects whose changes a save would write; a value that was set back is no change.
  var changedObjects: [ManagedObject] { context.updatedObjects.filter(\.hasPersistentChangedValues) }

  private var count: Int { context.insertedObjects.count + changedObjects.count + context.deletedObjects.count }

  /// The number of changed records, and what can be done with them.
  var state: JSONValue {
    .object([
      ("count", .integer(count)), ("canUndo", .boolean(context.undoManager?.canUndo == true)),
      ("canRedo", .boolean(context.undoManager?.canRedo == true)), ("backup", .optional(backup)),
    ])
  }

  private static let shownLimit = 500

  /// The changed records with the values before and after: the new ones, the changed ones, and the deleted ones.
  var changes: JSONValue {
    var changes: [JSONValue] = []
    let all =
      context.insertedObjects.map { ($0, "inserted") } + changedObjects.map { ($0, "changed") }
      + context.deletedObjects.map { ($0, "deleted") }
    for (object, kind) in all.prefix(Self.shownLimit) {
      let link = CellText.link(to: object.objectID, in: context)
      changes.append(
        .object([("kind", .string(kind)), ("record", link), ("values", .array(values(of: object, kind)))])
      )
    }
    return .object([("state", state), ("count", .integer(all.count)), ("changes", .array(changes))])
  }

  private func values(of object: ManagedObject, _ kind: String) -> [JSONValue] {
    let before = object.committedValues()
    let after = kind == "deleted" ? [:] : object.changedValues()
    let names =
      kind == "changed" ? Set(after.keys) : Set((kind == "deleted" ? before : after).filter(Self.isValue).keys)
    return object.entity.properties.filter { names.contains($0.name) && !$0.isTransient }.map { property in
      .object([
        ("name", .string(property.name)), ("before", value(before[property.name])),
        ("after", value(after[property.name])),
      ])
    }
  }

  private static func isValue(_ entry: (key: String, value: PropertyValue)) -> Bool {
    if case .toMany(let ids) = entry.value { return !ids.isEmpty }
    return !entry.value.isNull
  }

  private func value(_ value: PropertyValue?) -> JSONValue {
    CellText(value: value ?? .null, in: context).short
  }
}

// MARK: Deletion

extension EditSession {
  /// The consequences of a deletion.
  struct Deletion {
    /// The objects that are deleted too.
    fileprivate(set) var cascade: [ManagedObjectID] = []
    /// The number of objects that lose a relationship.
    fileprivate(set) var unlinkedCount = 0
    /// The relationships whose delete rule denies the deletion.
    fileprivate(set) var denials: [String] = []
  }

  private struct PreviewIsDone: Error {}

  /// Returns what the delete rules would do if an object were deleted. Nothing changes.
  func consequences(of object: ManagedObject) throws -> Deletion {
    var deletion = Deletion()
    let former = Set(context.updatedObjects.map(\.objectID))
    let objects = Set(context.insertedObjects.map(\.objectID))
    let deleted = Set(context.deletedObjects.map(\.objectID))
    do {
      try context.doingWholly {
        context.delete(object)
        deletion.denials = Self.denials(of: [object] + context.deletedObjects.filter { !deleted.contains($0.objectID) })
        let vanished = objects.subtracting(context.insertedObjects.map(\.objectID))
        let gone = context.deletedObjects.map(\.objectID).filter { !deleted.contains($0) }
        deletion.cascade = (gone + vanished).filter { $0 != object.objectID }
        deletion.unlinkedCount = context.updatedObjects.filter { !former.contains($0.objectID) }.count
        throw PreviewIsDone()
      }
    } catch is PreviewIsDone {}
    return deletion
  }

  private static func denials(of objects: [ManagedObject]) -> [String] {
    var denials: Set<String> = []
    for object in objects {
      for relationship in object.entity.relationships where relationship.deleteRule == .deny {
        guard let context = object.managedObjectContext,
          // try?: a record that cannot be read denies nothing here; the save throws its error.
          let ids = try? object.objectIDs(forRelationshipNamed: relationship.name),
          ids.contains(where: { id in (try? context.existingObject(with: id))?.isDeleted == false })
        else { continue }
        denials.insert("\(object.entity.name).\(relationship.name)")
      }
    }
    return denials.sorted()
  }
}

// MARK: Saving

extension EditSession {
  /// Sets properties for which the stored values were chosen back to their values at the start, so that a save leaves
  /// what others have saved. It is a step that can be undone.
  func takeTheirs(_ choices: [String: EditChoice]) throws {
    let yielding = changedObjects.compactMap { object -> (object: ManagedObject, names: [String])? in
      guard case .mineExcept(let names)? = choices[object.objectID.uriRepresentation().absoluteString] else {
        return nil
      }
      return (object, names)
    }
    guard !yielding.isEmpty else { return }
    try step {
      for (object, names) in yielding {
        let start = object.committedValues()
        for name in names { try object.setPropertyValue(start[name] ?? .null, forKey: name) }
      }
    }
  }

  /// The ids of the new objects before and after a save, as URIs.
  typealias Renaming = [(former: String, uri: String)]

  /// Saves the changes. Before the first save to a file, it copies the store beside it.
  ///
  /// - Parameter choices: returns how a conflict is resolved; nil lets the save fail, unless both sides have only added
  ///   and removed destinations of unordered relationships.
  /// - Throws: the errors of saving. Then nothing is saved, and all changes are still there.
  func save(_ choices: @escaping @Sendable (String) -> EditChoice?) throws -> Renaming {
    // A value that was set back is no change.
    guard count > 0 else { return [] }
    let new = context.insertedObjects.map { ($0, $0.objectID.uriRepresentation().absoluteString) }
    context.mergePolicy = MergePolicy { conflict in
      switch choices(conflict.objectID.uriRepresentation().absoluteString) {
      case .mine, .mineExcept: .mergePreferringObject
      case .theirs: .takeStored
      case nil: EditConflict.resolution(of: conflict)
      }
    }
    let copy = try backUpOnce()
    do {
      try context.save()
    } catch {
      if let copy, Self.hasWrittenNothing(error) { removeBackup(copy) }
      throw error
    }
    return new.map { object, former in (former, object.objectID.uriRepresentation().absoluteString) }
  }

  private static func hasWrittenNothing(_ error: any Error) -> Bool {
    guard let error = error as? PersistenceError else { return false }
    return [.validationFailed, .constraintConflict, .saveConflict, .fileChangedOnDisk].contains(error.code)
  }

  /// Copies the first store to a free name beside it, unless that was done before, or it is no file.
  ///
  /// - Returns: the store that was copied now.
  private func backUpOnce() throws -> StoreManager.Request? {
    let coordinator = context.persistentStoreCoordinator
    guard backup == nil, let store = coordinator.persistentStores.first(where: { !$0.isReadOnly }),
      let path = store.place?.path, try coordinator.storeManager.fileSystem.status(atPath: path) != nil
    else { return nil }
    let request = StoreManager.Request(type: store.type, place: store.place, options: StoreOptions())
    backup = try coordinator.storeManager.makeBackup(of: request)
    return request
  }

  private func removeBackup(_ request: StoreManager.Request) {
    guard let path = backup else { return }
    context.persistentStoreCoordinator.storeManager.removeBackup(of: request, at: path)
    backup = nil
  }
}
