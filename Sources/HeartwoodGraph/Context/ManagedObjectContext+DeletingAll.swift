public import HeartwoodModel
import HeartwoodStore

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
    for object in inserted.objects where object.entity.isKind(of: entity) { delete(object) }
    forgetChanges(of: result.changes.deletedObjectIDs)
    mergeChanges(from: result.changes)
    return result.count
  }

  /// Lets no change be saved of records that are gone, and nothing that is saved lead to them.
  private func forgetChanges(of gone: Set<ManagedObjectID>) {
    for object in deleted.objects where gone.contains(object.objectID) { finishDeletion(of: object) }
    for object in updated.objects where gone.contains(object.objectID) { refresh(object, mergeChanges: false) }
    for object in inserted.objects + updated.objects { object.unlink(from: gone) }
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
