import Heartwood
import HeartwoodFoundation
import HeartwoodRecordText
import HeartwoodSQLite
import HeartwoodStore

/// Changes the records of a store in a context, as an application does.
struct StoreEdit {
  let source: StoreSource
  let instruction: EditInstruction
  /// Whether to change only a copy of the store.
  let isDry: Bool
  let keepsBackup: Bool
  /// Whether a file may be changed that Core Data mirrors to CloudKit.
  let allowsMirrored: Bool
  let author: String?
  /// The number of changes to print one by one.
  let shownCount: Int
  let progress: ProgressBar

  static let phases: [ProgressBar.Phase] = [.reading, .checking, .writing, .flushing]

  /// A store that has been examined before the edit.
  private struct Target {
    let type: StoreType
    let model: LocatedModel
    /// Whether it has a history of the framework, in which the edit is recorded.
    let hasHistory: Bool
    let matchCount: Int
  }

  /// Performs the edit, or tries it.
  func run() throws -> EditOutcome {
    progress.begin(.reading)
    let target = try survey()
    guard target.matchCount > 0 else { return EditOutcome(model: target.model, changes: nil, backup: nil) }
    if source.place.path == nil, isDry || keepsBackup {
      throw ToolError(
        at: source.path,
        "Only a file can be copied first: leave out --dry-run, and give --no-backup if you do not need to undo the change."
      )
    }
    do {
      return isDry ? try inCopy(target) : try inPlace(target)
    } catch let error as PersistenceError {
      throw EditRefusal.explaining(error, at: source.path)
    }
  }

  /// Reads the store. If no record is found, nothing more has to be done.
  private func survey() throws -> Target {
    let (context, model) = try source.openContext()
    guard let store = context.persistentStoreCoordinator.persistentStores.first else {
      throw ToolError(at: source.path, "The store was closed in the meantime.")
    }
    guard !model.isInferred else {
      throw ToolError(
        at: source.path,
        "The file holds no model, and is not changed with one that was made of its records. Give its own with --model."
      )
    }
    let place = EditPlace(context: context, store: store, entity: try instruction.entity(in: model.model))
    let count = try instruction.count(in: place)
    for assignment in instruction.assignments { _ = try place.resolve(assignment) }
    let hasHistory = try store.engine.history() != nil
    let type = store.type
    try context.persistentStoreCoordinator.remove(store)
    return Target(type: type, model: model, hasHistory: hasHistory, matchCount: count)
  }

  private func storeManager(_ target: Target) -> StoreManager {
    StoreManager(model: target.model.model, registry: source.registry, fileSystem: source.fileSystem)
  }

  private func request(_ target: Target) -> StoreManager.Request { .reading(source.place, target.type) }

  /// Edits a copy, which throws the same errors as the store itself.
  private func inCopy(_ target: Target) throws -> EditOutcome {
    let name = PathParts.split(source.path).name
    let place = PathParts.join(FileManager.default.temporaryDirectory.path, name)
    let draft = try DraftFolder(beside: try source.fileSystem.resolvingSymbolicLinks(inPath: place))
    defer { draft.remove() }
    let storeManager = storeManager(target)
    try storeManager.copyStore(request(target), to: draft.storePath, replacing: false)
    do {
      return EditOutcome(model: target.model, changes: try change(.file(path: draft.storePath), target), backup: nil)
    } catch var error as PersistenceError {
      if error.context.path == draft.storePath { error.context.path = source.path }
      throw error
    }
  }

  private func inPlace(_ target: Target) throws -> EditOutcome {
    let backup = keepsBackup ? try StoreBackup(of: request(target), storeManager(target)) : nil
    do {
      let changes = try change(source.place, target)
      if changes.isEmpty { backup?.remove() }
      return EditOutcome(model: target.model, changes: changes, backup: changes.isEmpty ? nil : backup?.path)
    } catch {
      if let backup { discard(backup, after: error) }
      throw error
    }
  }

  /// Removes the backup after an error, unless the file may have been written.
  private func discard(_ backup: StoreBackup, after error: any Error) {
    let refusals: [PersistenceError.Code] = [.validationFailed, .constraintConflict]
    // A store may have assigned numbers to new records before the error, so that its file differs although no record
    // does.
    if let error = error as? PersistenceError, refusals.contains(error.code) { return backup.remove() }
    guard !backup.removeIfUnneeded() else { return }
    progress.tell(StandardError.note("\(source.path): The file may have been changed, so \(backup.path) was kept."))
  }

  private func change(_ place: StorePlace, _ target: Target) throws -> EditChanges {
    progress.begin(.checking)
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: target.model.model,
      registry: source.registry,
      fileSystem: isDry ? source.fileSystem : ObservedFileSystem(base: source.fileSystem, progress: progress)
    )
    var options = StoreOptions()
    if target.hasHistory { options[.tracksPersistentHistory] = true }
    options[.sqliteAllowsMirroredChanges] = allowsMirrored
    let store = try coordinator.addPersistentStore(type: target.type, at: place.argumentURL, options: options)
    defer { coordinator.close() }
    let context = ManagedObjectContext(coordinator)
    context.name = "heartwood edit"
    context.transactionAuthor = author
    let entity = try instruction.entity(in: target.model.model)
    try instruction.apply(in: EditPlace(context: context, store: store, entity: entity))
    var changes = EditChanges(of: context, shownCount: shownCount)
    if changes.isEmpty { return changes }
    progress.begin(.writing)
    try context.save()
    try changes.noteSaved()
    return changes
  }
}

// MARK: EditOutcome

/// The result of an edit.
struct EditOutcome {
  let model: LocatedModel
  /// The changes; nil if no record was found.
  let changes: EditChanges?
  /// The path of the backup.
  let backup: String?

  /// Whether there is anything to save.
  var hasChanges: Bool { changes.map { !$0.isEmpty } ?? false }
}

// MARK: EditRefusal

/// Describes errors of a save with entity, record, property and rule.
enum EditRefusal {
  private static let mostTold = 20

  /// Returns an error that lists the violations, one per line. Other errors are returned unchanged.
  static func explaining(_ error: PersistenceError, at path: String) -> any Error {
    let faults = error.context.validationFaults.map(text) + error.context.constraintConflicts.map(text)
    guard error.code == .validationFailed || error.code == .constraintConflict, !faults.isEmpty else { return error }
    let told = faults.prefix(mostTold).map { "\n  \($0)" }.joined()
    let rest = faults.count > mostTold ? "\n  and \(faults.count - mostTold) more" : ""
    let count = faults.count == 1 ? "a rule" : "\(faults.count) rules"
    return ToolError(
      at: path,
      "The model does not allow the change, which breaks \(count). Nothing was written.\(told)\(rest)"
    )
  }

  private static func text(_ fault: ValidationFault) -> String {
    let others = fault.relatedObjectIDs.map(title).joined(separator: ", ")
    return
      "\(title(fault.objectID)): \(fault.message)\(others.isEmpty ? "" : " It refers to \(others).") (\(fault.kind))"
  }

  private static func text(_ conflict: ConstraintConflict) -> String {
    let names = conflict.constraint.joined(separator: ", ")
    let entity = conflict.objectID.entity.name
    return "\(title(conflict.objectID)): \(entity).\(names) must be unique, and \(title(conflict.conflictingID)) has "
      + "the same. (uniqueness constraint)"
  }

  private static func title(_ id: ManagedObjectID) -> String {
    id.isTemporaryID ? "the new \(id.entity.name)" : "\(id.entity.name) \(DisplayText.safe(id.reference.text))"
  }
}
