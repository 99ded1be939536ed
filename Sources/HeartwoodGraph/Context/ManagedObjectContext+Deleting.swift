public import HeartwoodModel
import HeartwoodStore

extension ManagedObjectContext {
  /// Deletes an object, and applies the delete rules of its relationships to their destinations.
  ///
  /// The next save deletes the record. That save fails if a relationship denies the deletion, and as long as an object
  /// that a delete rule concerns cannot be read. An object that was never saved is removed at once. Deleting an object
  /// twice does nothing; deleting an object that the context no longer has does nothing and logs a warning. If another
  /// save has deleted the record of an object with changes, these changes are dropped, so that they do not block
  /// further saves.
  public func delete(_ object: ManagedObject) {
    guard has(object, "The object is of another context. Delete it in its own.") else {
      if !object.isDeleted { object.logDropped("a deletion") }
      return
    }
    followConversions()
    delete([object], takingNewest: false)
  }

  /// Returns whether the context has an object: false if the object's context was deallocated or no longer has it.
  func has(_ object: ManagedObject, _ message: @autoclosure () -> String) -> Bool {
    guard let context = object.managedObjectContext else { return false }
    ProgrammerError.check(context === self, message())
    return true
  }

  /// Applies the delete rule of a deleted object's relationship to the destinations that others have saved.
  func applyDeleteRule(of object: ManagedObject, _ ordinal: Int, toNewest ids: [ManagedObjectID]) {
    guard let rule = object.entity.properties[ordinal].relationship?.deleteRule, rule.concernsOthers else { return }
    delete(apply(rule, of: object, ordinal, to: ids, takingNewest: true), takingNewest: true)
  }

  /// - Parameter takingNewest: whether all objects concerned take the newest values first: other saves may have changed
  ///   their relationships to each other.
  private func delete(_ objects: [ManagedObject], takingNewest: Bool) {
    // A list instead of recursion: a chain of cascades may be longer than the stack is deep.
    var pending = objects
    while let next = pending.popLast() {
      let failure = next.readIfUnread()
      if next.isUpdated, next.state.contains(.inaccessible) { pending += abandon(next) }
      if next.isDeleted || next.state.contains(.deleting) { continue }
      prepareForDeletion(of: next)
      markDeleted(next)
      if let failure {
        postpone(.deletion(next), failure)
        continue
      }
      pending += applyDeleteRules(of: next, takingNewest: takingNewest).reversed()
    }
  }

  /// Calls `prepareForDeletion` on an object. The object may delete others that would delete it in their turn.
  private func prepareForDeletion(of object: ManagedObject) {
    object.state.insert(.deleting)
    object.prepareForDeletion()
    object.state.remove(.deleting)
  }

  /// Returns those objects of `ids` that have changes and whose records are gone.
  private func abandonedObjects(_ ids: [ManagedObjectID]) -> [ManagedObject] {
    if pending.updated.isEmpty { return [] }
    return ids.compactMap { id in
      // try?: registered objects are found without their records, and a closed store has none.
      guard !id.isTemporaryID, let object = try? binding(keeping: id).heldObject(id.reference) else { return nil }
      return object.isUpdated && object.state.contains(.inaccessible) ? object : nil
    }
  }

  /// Drops the changes of an object whose record is gone, and the links that they have made.
  ///
  /// - Returns: the objects to be deleted too.
  private func abandon(_ object: ManagedObject) -> [ManagedObject] {
    var cascade: [ManagedObject] = []
    for (ordinal, trait) in object.binding.traits.enumerated() where trait.attributeType == nil {
      let others = object.relatedObjects(ordinal).filter(\.isPresent)
      if object.entity.properties[ordinal].relationship?.deleteRule == .cascade { cascade += others }
      guard let inverse = trait.inverseOrdinal else { continue }
      RelationshipUpkeep.didDelete(object, inverse, from: others)
    }
    note(object, hasChanges: false)
    object.becomeFault()
    object.noticeLoss()
    // The loss was reported when it was noticed.
    notifier.forget(CollectionOfOne(object))
    return cascade
  }

  /// Marks an object as deleted, without changing the objects that refer to it.
  func markDeleted(_ object: ManagedObject) {
    recorder?.willRemove(object)
    if object.isInserted { pending.vanish(object) } else { pending.delete(object) }
    noteChange(object)
  }

  /// Applies the delete rule of a deleted object's relationship to a destination that still refers back to it. The
  /// destination could not be read when the object was deleted.
  func applyDeleteRule(of object: ManagedObject, _ ordinal: Int, to other: ManagedObject) {
    guard let rule = object.entity.properties[ordinal].relationship?.deleteRule, rule.concernsOthers else { return }
    let inverse = object.binding.traits[ordinal].inverseOrdinal
    if let inverse, !other.leads(inverse, to: object.objectID) { return }
    if rule == .cascade {
      delete([other], takingNewest: false)
    } else if let inverse {
      other.unlink(inverse, from: object.objectID)
    }
  }

  /// Applies the delete rules of a deleted object that could not be read when it was deleted.
  func applyDeleteRules(of object: ManagedObject) {
    delete(applyDeleteRules(of: object, takingNewest: false), takingNewest: false)
  }

  /// Applies delete rules, and returns the objects to be deleted too.
  private func applyDeleteRules(of object: ManagedObject, takingNewest: Bool) -> [ManagedObject] {
    var cascade: [ManagedObject] = []
    for (ordinal, property) in object.entity.properties.enumerated() {
      guard let rule = property.relationship?.deleteRule, rule.concernsOthers else { continue }
      let ids = object.value(at: ordinal).objectIDs
      cascade += apply(rule, of: object, ordinal, to: ids, takingNewest: takingNewest)
    }
    return cascade
  }

  /// Applies a delete rule, and returns the objects to be deleted too.
  private func apply(
    _ rule: DeleteRule,
    of object: ManagedObject,
    _ ordinal: Int,
    to ids: [ManagedObjectID],
    takingNewest: Bool
  ) -> [ManagedObject] {
    let others = present(ids, from: object, ordinal)
    if takingNewest {
      for other in others where other.isPresent { reread(other, mergeChanges: true) }
    }
    let inverse = object.binding.traits[ordinal].inverseOrdinal
    if rule == .cascade {
      guard takingNewest, let inverse else { return others + abandonedObjects(ids) }
      // Relationships that the context has changed stay, whatever other saves have set.
      return others.filter { $0.isPresent && $0.leads(inverse, to: object.objectID) }
    }
    if let inverse { RelationshipUpkeep.didDelete(object, inverse, from: others) }
    return []
  }
}

extension ManagedObjectContext {
  /// Returns the readable objects of `ids`, the present or former destinations of a relationship. What is to be done
  /// with the others is postponed until they can be read.
  func present(_ ids: [ManagedObjectID], from object: ManagedObject, _ ordinal: Int) -> [ManagedObject] {
    ids.compactMap { id in
      switch look(for: id) {
      case .present(let other): return other
      case .gone: return nil
      case .unreadable(let error):
        postponeOtherEnd(of: object, ordinal, id, error)
        return nil
      }
    }
  }
}

extension DeleteRule {
  /// Whether the rule changes or deletes the destinations of a relationship.
  fileprivate var concernsOthers: Bool { self == .nullify || self == .cascade }
}

// MARK: Deleting all

extension ManagedObjectContext {
  /// Deletes the objects that match a request, and applies delete rules as ``delete(_:)`` does. The next save deletes
  /// the records.
  ///
  ///     let count = try context.deleteAll(FetchRequest<Item>())
  ///     try context.save()
  ///
  /// This creates every object and calls its `prepareForDeletion`, and the deletion can be undone. ``truncate(_:)`` and
  /// `BatchDeleteRequest` create no objects.
  ///
  /// - Returns: the number of objects that match the request.
  /// - Throws: the errors of ``fetch(_:)-(FetchRequest<Object>)``, before anything is deleted. Also the errors of
  ///   reading the objects that delete rules concern: the next save deletes these too, and fails as long as they cannot
  ///   be read.
  @discardableResult
  public func deleteAll<Object>(_ request: FetchRequest<Object>) throws -> Int {
    let objects = try fetch(request)
    try reading { objects.forEach(delete) }
    return objects.count
  }

  /// Deletes all objects of the entity of `objectClass` that meet a condition, or all its objects if there is none; see
  /// ``deleteAll(_:)``.
  @discardableResult
  public func deleteAll<Object: ManagedObject>(
    _ objectClass: Object.Type,
    where predicate: FetchPredicate? = nil
  ) throws -> Int {
    try deleteAll(FetchRequest<Object>(where: predicate))
  }
}

// MARK: Truncating

extension ManagedObjectContext {
  /// Deletes all records of the entity of `objectClass` and its subentities immediately, without creating objects.
  ///
  /// This runs a `BatchDeleteRequest`, which every kind of store supports. When it returns, the records are gone from
  /// the stores, bypassing this context and its parents, and neither rollback nor undo restores them. Delete rules are
  /// applied; `prepareForDeletion` is not called. This context is updated: its objects of those records are deleted and
  /// lose their changes, its new objects of the entity are deleted, and no relationship refers to them any more. To
  /// delete objects with the next save, use ``deleteAll(_:where:)``.
  ///
  /// - Returns: the number of deleted records, including those that delete rules have deleted.
  /// - Throws: ``PersistenceError/Code/validationFailed`` if a relationship denies the deletion or must not be empty,
  ///   and the errors of saving. Stores that were truncated before the error stay truncated.
  @discardableResult
  public func truncate<Object: ManagedObject>(_ objectClass: Object.Type) throws -> Int {
    try truncate(try persistentStoreCoordinator.objectClasses.entity(for: objectClass))
  }

  /// Deletes all records of an entity and its subentities immediately, without creating objects; see ``truncate(_:)``.
  @discardableResult
  public func truncate(entityName: String) throws -> Int {
    try truncate(try entity(named: entityName))
  }

  private func truncate(_ entity: EntityDescription) throws -> Int {
    var request = BatchDeleteRequest(entityName: entity.name)
    request.resultType = .objectIDs
    let result = try execute(request)
    for object in pending.inserted.objects where object.entity.isKind(of: entity) { delete(object) }
    forgetChanges(of: result.changes.deletedObjectIDs)
    mergeChanges(from: result.changes)
    return result.count
  }

  /// Drops all changes of records that are gone, and all links to them in objects with changes.
  private func forgetChanges(of gone: Set<ManagedObjectID>) {
    for object in pending.deleted.objects where gone.contains(object.objectID) { finishDeletion(of: object) }
    for object in pending.updated.objects where gone.contains(object.objectID) { refresh(object, mergeChanges: false) }
    for object in pending.present { object.unlink(from: gone) }
  }
}

extension ManagedObject {
  /// Removes records that are gone from all relationships of the object.
  fileprivate final func unlink(from gone: Set<ManagedObjectID>) {
    for (ordinal, trait) in binding.traits.enumerated() where trait.attributeType == nil {
      for id in value(at: ordinal).objectIDs where gone.contains(id) { unlink(ordinal, from: id) }
    }
  }
}
