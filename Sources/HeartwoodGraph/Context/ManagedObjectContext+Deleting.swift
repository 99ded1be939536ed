public import HeartwoodModel
import HeartwoodStore

extension ManagedObjectContext {
  /// Deletes an object, and does with the objects that its relationships lead to what their delete rules say.
  ///
  /// The record goes with the next save, which fails if a relationship denies it, and while something cannot be read that the delete rules
  /// concern. An object that was never saved is gone at once. Deleting an object that is deleted already does nothing, and so does deleting
  /// one that its context has let go of, which is logged. If another save has deleted the record of an object that has changes, these are
  /// dropped, so that they are in no save's way any more.
  public func delete(_ object: ManagedObject) {
    guard has(object, "The object is of another context. Delete it in its own.") else {
      if !object.isDeleted { object.logDropped("a deletion") }
      return
    }
    followConversions()
    delete([object], takingNewest: false)
  }

  /// Whether the context has an object; false if the object's context is gone or has let go of it.
  func has(_ object: ManagedObject, _ message: @autoclosure () -> String) -> Bool {
    guard let context = object.managedObjectContext else { return false }
    ProgrammerError.check(context === self, message())
    return true
  }

  /// Does with objects that a relationship of a deleted object leads to by what others have saved what its delete rule says.
  func applyDeleteRule(of object: ManagedObject, _ ordinal: Int, toNewest ids: [ManagedObjectID]) {
    guard let rule = object.entity.properties[ordinal].relationship?.deleteRule, rule.concernsOthers else { return }
    delete(apply(rule, of: object, ordinal, to: ids, takingNewest: true), takingNewest: true)
  }

  /// - Parameter takingNewest: whether all objects concerned take the newest values first: others may have let them lead to each other.
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

  /// Lets an object do what it wants done before it goes. It may delete others that would delete it in their turn.
  private func prepareForDeletion(of object: ManagedObject) {
    object.state.insert(.deleting)
    object.prepareForDeletion()
    object.state.remove(.deleting)
  }

  /// The objects of `ids` that have changes, and whose records are gone.
  private func abandonedObjects(_ ids: [ManagedObjectID]) -> [ManagedObject] {
    if pending.updated.isEmpty { return [] }
    return ids.compactMap { id in
      // try?: objects that are held are found without their records, and a store that is closed holds none.
      guard !id.isTemporaryID, let object = try? binding(keeping: id).heldObject(id.reference) else { return nil }
      return object.isUpdated && object.state.contains(.inaccessible) ? object : nil
    }
  }

  /// Drops the changes of an object whose record is gone, and the links that they have made.
  ///
  /// - Returns: the objects that are to be deleted too.
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
    // That it is gone was told when it was found out.
    notifier.forget(CollectionOfOne(object))
    return cascade
  }

  /// Takes an object out, without a word to those that lead to it.
  func markDeleted(_ object: ManagedObject) {
    recorder?.willRemove(object)
    if object.isInserted { pending.vanish(object) } else { pending.delete(object) }
    noteChange(object)
  }

  /// Does with the object that a relationship of a deleted object leads to what the delete rule says, if it leads back still: it could not be
  /// read when the object was deleted.
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

  /// Does with the objects that a deleted object leads to what the delete rules say: it could not be read when it was deleted.
  func applyDeleteRules(of object: ManagedObject) {
    delete(applyDeleteRules(of: object, takingNewest: false), takingNewest: false)
  }

  /// Returns the objects that are to be deleted too.
  private func applyDeleteRules(of object: ManagedObject, takingNewest: Bool) -> [ManagedObject] {
    var cascade: [ManagedObject] = []
    for (ordinal, property) in object.entity.properties.enumerated() {
      guard let rule = property.relationship?.deleteRule, rule.concernsOthers else { continue }
      let ids = object.value(at: ordinal).objectIDs
      cascade += apply(rule, of: object, ordinal, to: ids, takingNewest: takingNewest)
    }
    return cascade
  }

  /// Returns the objects that are to be deleted too.
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
      // What the context has put elsewhere stays, whatever others have let lead to it.
      return others.filter { $0.isPresent && $0.leads(inverse, to: object.objectID) }
    }
    if let inverse { RelationshipUpkeep.didDelete(object, inverse, from: others) }
    return []
  }
}

extension ManagedObjectContext {
  /// The objects of `ids`, to which a relationship leads or led. What is to be done with those that cannot be read is done when they can be.
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
  /// Whether anything happens to the objects that a relationship leads to.
  fileprivate var concernsOthers: Bool { self == .nullify || self == .cascade }
}

// MARK: Deleting all

extension ManagedObjectContext {
  /// Deletes the objects that a request asks for, and does what delete rules say; see ``delete(_:)``. The records go with the next save.
  ///
  /// Every object is made and asked: `prepareForDeletion` is called, and all can be undone. ``truncate(_:)`` and `BatchDeleteRequest`
  /// make no objects.
  ///
  /// - Returns: how many objects the request asked for.
  /// - Throws: as ``fetch(_:)-(FetchRequest<Object>)``; nothing is deleted then. Also what reading the objects throws that delete rules concern:
  ///   the next save deletes these too, and fails while they cannot be read.
  @discardableResult
  public func deleteAll<Object>(_ request: FetchRequest<Object>) throws -> Int {
    let objects = try fetch(request)
    try reading { objects.forEach(delete) }
    return objects.count
  }

  /// Deletes the objects of the entity of `objectClass`, those that meet a condition if there is one; see
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
  /// Deletes all records of the entity of `objectClass` and its subentities, at once and without objects.
  ///
  /// It is a `BatchDeleteRequest`: every kind of store can do it, the records are gone from the stores when it returns, past this
  /// context and all above it, and no rollback or undo brings them back. Delete rules hold; `prepareForDeletion` is not called. This
  /// context follows: its objects of those records are gone with their changes, its new objects of the entity are deleted, and nothing
  /// leads to them. Use ``deleteAll(_:where:)`` for what a save decides on.
  ///
  /// - Returns: how many records it was, with those that delete rules took along.
  /// - Throws: ``PersistenceError/Code/validationFailed`` where a relationship denies it or has to lead somewhere, and what saving throws.
  ///   The stores that had it done by then have it done.
  @discardableResult
  public func truncate<Object: ManagedObject>(_ objectClass: Object.Type) throws -> Int {
    try truncate(try persistentStoreCoordinator.objectClasses.entity(for: objectClass))
  }

  /// Deletes all records of an entity and its subentities, at once and without objects; see ``truncate(_:)``.
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

  /// Lets no change be saved of records that are gone, and nothing that is saved lead to them.
  private func forgetChanges(of gone: Set<ManagedObjectID>) {
    for object in pending.deleted.objects where gone.contains(object.objectID) { finishDeletion(of: object) }
    for object in pending.updated.objects where gone.contains(object.objectID) { refresh(object, mergeChanges: false) }
    for object in pending.present { object.unlink(from: gone) }
  }
}

extension ManagedObject {
  /// Lets no relationship lead to records that are gone.
  fileprivate final func unlink(from gone: Set<ManagedObjectID>) {
    for (ordinal, trait) in binding.traits.enumerated() where trait.attributeType == nil {
      for id in value(at: ordinal).objectIDs where gone.contains(id) { unlink(ordinal, from: id) }
    }
  }
}
