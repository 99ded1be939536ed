import HeartwoodModel
import HeartwoodStore

/// What a context has in memory, and what operations do to it, as Core Data's documentation tells it.
final class ReferenceContext {
  /// The store, the store as it was when the context was pinned, or the parent.
  var source: any ReferenceSource
  private let model: ManagedObjectModel
  /// Who saves.
  let author: String
  /// The objects that have read their values or have changes. Every other object is a fault, or not there.
  private(set) var objects: [Key: ReferenceObject] = [:]
  let policy: ReferencePolicy
  /// What others have saved and the context has not merged yet; nil where it does not merge by itself.
  var pendingMerges: [SavedKeys]?
  /// The objects that the last save has changed or deleted; nil before the first save.
  private(set) var lastSaved: SavedKeys?
  /// How often the context has saved something.
  private(set) var saveCount = 0
  /// New objects that were deleted, or forgotten, before they were ever saved. Nothing that is saved leads to them.
  private(set) var vanished: Set<Key> = []
  /// The objects whose deletion was saved and was not undone: those that come back are other records.
  private var buried: Set<Key> = []
  /// The entities of all objects that were deleted here: some may come back.
  private var entities: [Key: EntityDescription] = [:]
  /// The objects that children have changed and that this context could not let them: it is told once, by the next save.
  var conflictingChildSaves: Set<Key> = []
  /// Whether it was plain so far what conflicts and collisions come to.
  var isSettlementPlain = true
  /// Nil where nothing can be undone.
  var undoManager: ReferenceUndoManager?

  init(
    _ source: any ReferenceSource,
    _ model: ManagedObjectModel,
    author: String,
    policy: ReferencePolicy,
    mergesByItself: Bool
  ) {
    self.source = source
    self.model = model
    self.author = author
    self.policy = policy
    pendingMerges = mergesByItself ? [] : nil
  }
}

// MARK: Finding

extension ReferenceContext {
  /// The object as this context sees it: as it was read, or as the store has it now. It stays a fault if it was one.
  func object(_ key: Key) -> ReferenceObject? {
    if let object = objects[key] { return object.isLost ? nil : object }
    return source.record(key).map(ReferenceObject.init(reading:))
  }

  /// Keeps the values that the object has now.
  func read(_ key: Key) {
    objects[key] = object(key)
  }

  var insertedKeys: Set<Key> { keys(where: \.isInserted) }
  var updatedKeys: Set<Key> { keys(where: \.isUpdated) }
  var deletedKeys: Set<Key> { keys(where: \.isDeleted) }
  var hasChanges: Bool { objects.values.contains(where: \.hasChanges) }

  private func keys(where condition: (ReferenceObject) -> Bool) -> Set<Key> {
    Set(objects.filter { condition($0.value) }.keys)
  }

  /// What a fetch gives: the records that the store has now, but for those that are deleted here, and the new objects.
  func fetch(_ entity: EntityDescription) -> Set<Key> {
    let new = keys { $0.isInserted && $0.entity.isKind(of: entity) }
    return source.recordKeys(entity).subtracting(deletedKeys).union(new)
  }

  /// All objects that can be used here, those of records that are gone from the store among them.
  func usableKeys(_ entity: EntityDescription) -> Set<Key> {
    fetch(entity).union(keys { !$0.isDeleted && !$0.isLost && $0.entity.isKind(of: entity) })
  }
}

// MARK: Changing

extension ReferenceContext {
  func insert(_ key: Key, _ entity: EntityDescription) {
    objects[key] = ReferenceObject(inserting: entity)
    vanished.remove(key)
  }

  func setValue(_ value: ReferenceValue, _ name: String, of key: Key) {
    guard var object = object(key), !object.isDeleted else { return }
    let isAsBefore = object.values[name] == value
    if isAsBefore, !object.keptChanges.contains(name), !object.settled.contains(name) { return }
    object.settled.remove(name)
    object.values[name] = value
    object.keptChanges.remove(name)
    if !object.hasPersistentChanges { object.forgetOutdated() }
    objects[key] = object
  }

  /// Lets a relationship lead to `keys`, and the inverse relationships of all objects concerned follow.
  func relate(_ key: Key, _ name: String, to keys: [Key]) {
    guard let object = object(key), let old = object.values[name],
      let relationship = object.entity.property(named: name)?.relationship
    else { return }
    setValue(old.replacingKeys(by: keys), name, of: key)
    guard let inverse = relationship.inverseName else { return }
    for other in old.keys where !keys.contains(other) { unlink(other, inverse, from: key) }
    for other in keys where !old.keys.contains(other) { link(other, inverse, to: key, other: name) }
  }

  /// Lets `key` lead to `target` again, unless it does.
  func linkBack(_ key: Key, _ name: String, to target: Key, other: String) {
    if object(key)?.keys(name).contains(target) == false { link(key, name, to: target, other: other) }
  }

  /// Lets `key` lead to `target`, whose relationship `other` leads here already.
  func link(_ key: Key, _ name: String, to target: Key, other: String) {
    if object(key)?.keys(name).contains(target) == true { readNewest(key) }
    guard let old = object(key)?.values[name], !old.keys.contains(target) else { return }
    if case .toOne(let previous) = old {
      // A to-one relationship leads to one object only, so the one before no longer leads here.
      if let previous { unlink(previous, other, from: key) }
      setValue(.toOne(target), name, of: key)
    } else {
      setValue(old.replacingKeys(by: old.keys + [target]), name, of: key)
    }
  }

  func unlink(_ key: Key, _ name: String, from target: Key) {
    if object(key)?.keys(name).contains(target) == false { readNewest(key) }
    guard let old = object(key)?.values[name], old.keys.contains(target) else { return }
    setValue(old.replacingKeys(by: old.keys.filter { $0 != target }), name, of: key)
  }

  /// Whether objects to which `relationship` leads, and that are deleted, leave it as it is.
  func mayDangle(_ relationship: RelationshipDescription) -> Bool {
    guard let inverse = relationship.inverseName,
      let back = model.entity(named: relationship.destinationEntityName)?.property(named: inverse)?.relationship
    else { return true }
    return back.deleteRule == .deny || back.deleteRule == .noAction
  }

  /// Deletes an object, and leaves its relationships alone.
  ///
  /// - Parameter values: the values that it has then; nil for those that it has.
  func markDeleted(_ key: Key, _ values: [String: ReferenceValue]? = nil) {
    guard var object = object(key), !object.isDeleted else { return }
    object.isDeleted = true
    object.values = values ?? object.values
    entities[key] = object.entity
    objects[key] = object.isInserted ? nil : object
    if object.isInserted { vanished.insert(key) }
  }
}

// MARK: Undoing and refreshing

extension ReferenceContext {
  /// New objects vanish; changed and deleted ones are what they were when they were read.
  func rollback() {
    vanished.formUnion(insertedKeys)
    for (key, object) in objects where object.hasChanges {
      objects[key] = object.isLost ? nil : object.base.map(ReferenceObject.init(reading:))
    }
    conflictingChildSaves = []
    forgetUndo()
  }

  func reset() {
    vanished.formUnion(insertedKeys)
    objects = [:]
    conflictingChildSaves = []
    advancePin()
    forgetUndo()
  }

  func forgetUndo() {
    if undoManager != nil { undoManager = ReferenceUndoManager(state) }
  }

  /// Lets an object be there with `values`, whether it is, is deleted, or nothing has it any more.
  func bringBack(_ key: Key, _ base: ReferenceRecord?, _ values: [String: ReferenceValue]) {
    let entity = objects[key]?.entity ?? entities[key]
    guard var object = base.map(ReferenceObject.init(reading:)) ?? entity.map(ReferenceObject.init(inserting:)) else {
      return
    }
    if object.isInserted { vanished.remove(key) }
    if objects[key] == nil, !object.isInserted, object.values == values { return }
    object.values = values
    objects[key] = object
  }

  /// An object whose deletion was saved is a new one when it comes back. What led to the record leads to one that is gone.
  func unearth(_ key: Key) {
    guard buried.remove(key) != nil, let store = source as? ReferenceStore else { return }
    let ghost = store.makeGhost(of: key)
    for other in objects.keys { objects[other]?.base?.rename(key, to: ghost) }
  }

  /// Makes an object a fault, or lets its changes stay on top of what the store has now.
  func refresh(_ key: Key, mergingChanges: Bool) {
    guard var object = objects[key], !object.isInserted, !object.isDeleted else { return }
    objects[key] = nil
    guard mergingChanges, object.isUpdated, let record = source.record(key) else { return }
    object.rebase(on: record)
    objects[key] = object
  }

  /// Lets an object be a fault, or be gone where its record is.
  func forget(_ key: Key) {
    objects[key] = nil
  }

  func keep(_ object: ReferenceObject, _ key: Key) {
    objects[key] = object
  }

  /// What happens when nobody holds the object: only one with changes stays.
  func release(_ key: Key) {
    if objects[key]?.hasChanges == false { objects[key] = nil }
  }
}

// MARK: Saving

extension ReferenceContext {
  func save() -> Outcome {
    processPendingChanges()
    guard hasChanges else { return childSaveConflict() ?? .done }
    takeMerges()
    if let outcome = settle() { return outcome }
    commit()
    advancePin()
    return .done
  }

  /// Validates what has changed and resolves conflicts, until there are none.
  ///
  /// - Returns: what a save comes to before anything is written; nil where it goes on.
  func settle() -> Outcome? {
    while hasChanges {
      if let conflict = childSaveConflict() { return conflict }
      let problems = validationProblems()
      if !problems.isEmpty { return .invalid(problems) }
      let gone = goneTargets()
      let conflicts = gone.isEmpty ? conflicts() : gone
      let collisions = conflicts.isEmpty ? collisions() : []
      if conflicts.isEmpty, collisions.isEmpty { return nil }
      if policy == .error { return conflicts.isEmpty ? .refused(.constraintConflict) : .conflict(conflicts) }
      if conflicts.isEmpty {
        if !areResolvable(collisions) { isSettlementPlain = false }
        if !isSettlementPlain || !resolve(collisions) { return .refused(.constraintConflict) }
      } else {
        resolve(conflicts)
      }
    }
    return nil
  }

  private func childSaveConflict() -> Outcome? {
    if conflictingChildSaves.isEmpty { return nil }
    defer { conflictingChildSaves = [] }
    return .conflict(conflictingChildSaves)
  }

  /// Whether it is plain at each step of a save what has to come of values that are not unique, and of objects that come back to the same
  /// place. Nothing changes.
  func settlesPlainly() -> Bool {
    let before = (source, objects, vanished, entities, pendingMerges, conflictingChildSaves)
    defer { (source, objects, vanished, entities, pendingMerges, conflictingChildSaves) = before }
    isSettlementPlain = true
    takeMerges()
    _ = settle()
    return isSettlementPlain
  }

  private func commit() {
    let changed = objects.filter(\.value.hasChanges)
    if changed.isEmpty { return }
    saveCount += 1
    let records = changed.mapValues(objectAfterSave)
    let changes = changed.compactMapValues(changeToSave)
    if !changes.isEmpty { source.commit(changes, author: author) }
    for key in changed.keys { objects[key] = records[key] ?? nil }
    buried.formUnion(changed.filter { $0.value.isDeleted }.keys)
    let inserted = Set(changed.filter(\.value.isInserted).keys)
    lastSaved = SavedKeys(changed: Set(changed.keys).subtracting(inserted), inserted: inserted)
    undoManager?.noteSave(state, without: vanished)
  }

  /// The changed objects whose records somebody else has saved since they were read here.
  func conflicts() -> Set<Key> {
    updatedKeys.union(deletedKeys).filter { key in
      guard let object = objects[key], let base = object.base, object.isDeleted || object.hasPersistentChanges else {
        return false
      }
      return object.isLost || object.isOutdated || source.hasChanged(key, since: base)
    }
  }

  /// What an object is once it is saved; nil for a deleted one. Of one whose record is gone its transient values stay.
  private func objectAfterSave(_ object: ReferenceObject) -> ReferenceObject? {
    guard !object.isDeleted else { return nil }
    var saved = ReferenceObject(reading: recordToSave(object))
    saved.isLost = object.isLost
    for name in object.transientNames where object.values[name]?.isEmpty == false {
      saved.values[name] = object.values[name]
      saved.settled.insert(name)
    }
    return saved
  }

  /// The record that an object reads once it is saved.
  private func recordToSave(_ object: ReferenceObject) -> ReferenceRecord {
    if let base = object.base, !object.hasPersistentChanges { return base }
    let isUnsaved = source is ReferenceContext && object.base?.isUnsaved != false
    return ReferenceRecord(
      entity: object.entity,
      values: valuesToSave(object),
      version: (object.base?.version ?? 0) + 1,
      isUnsaved: isUnsaved
    )
  }

  /// What is saved of an object; nil where only transient values have changed.
  private func changeToSave(_ object: ReferenceObject) -> ReferenceChangeToSave? {
    guard let base = object.base else {
      return .insert(ReferenceRecord(entity: object.entity, values: valuesToSave(object)))
    }
    if object.isDeleted { return .delete(base) }
    guard object.hasPersistentChanges else { return nil }
    let names = Set(object.changedValues.keys).subtracting(object.transientNames)
    return .update(valuesToSave(object).filter { names.contains($0.key) })
  }

  func valuesToSave(_ object: ReferenceObject) -> [String: ReferenceValue] {
    var values = object.values.mapValues { value in
      value.replacingKeys(by: value.keys.filter { !vanished.contains($0) })
    }
    for name in object.transientNames { values[name] = .attribute(.null) }
    return values
  }
}

// MARK: What is left to the graph

extension ReferenceContext {
  /// The record of an object is gone. The graph may take its values away then, but for what no record has.
  func lose(_ key: Key) {
    guard let object = objects[key] else { return }
    if object.hasChanges || !object.settled.isEmpty { objects[key]?.isLost = true } else { objects[key] = nil }
  }

  /// Lets an object with values of its own be what it was before its record went, where that is back.
  ///
  /// - Returns: whether it is.
  func find(_ key: Key) -> Bool {
    guard objects[key]?.isLost == true, source.record(key) != nil else { return false }
    objects[key]?.isLost = false
    return true
  }

  /// A record that only a parent had may be in the store now, where it stays what it was read as.
  func noteSaved(_ key: Key) {
    if let record = source.record(key) { objects[key]?.base?.isUnsaved = record.isUnsaved }
  }
}
