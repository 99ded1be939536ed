import HeartwoodModel
import HeartwoodStore

/// The links that changes of a context would add to records that are gone.
///
/// If another save has deleted a record, a policy drops the context's changes of it, and with them one end of its new
/// links; if the context had already read the other end, that is no change at all. The remaining ends are on objects
/// that may not be in conflict, and would have no destination.
struct DanglingReferences {
  private let context: ManagedObjectContext

  init(_ context: ManagedObjectContext) {
    self.context = context
  }

  /// Removes the links. Those of relationships without an inverse stay, as they do if they were saved before the
  /// deletion.
  ///
  /// - Throws: the errors of looking for the records.
  func drop() throws(PersistenceError) {
    try forEach(among: context.pending.inserted.objects) { object, ordinal, id in object.unlink(ordinal, from: id) }
  }

  /// Returns the conflict of the context's saves because of such links; nil if there are none.
  ///
  /// - Throws: the errors of looking for the records: then it is unknown whether they exist.
  func conflict(in saves: [PendingSave]) throws(PersistenceError) -> PersistenceError? {
    var ids: Set<ManagedObjectID> = []
    var ends = LinkedEnds()
    // Most new objects are of entities whose relationships need not be checked one by one.
    let insertions = saves.flatMap(\.inserted).filter { !ends.ordinals($0.entity).isEmpty }
    try forEach(among: insertions.flatMap(\.objects)) { _, _, id in ids.insert(id) }
    if ids.isEmpty { return nil }
    let gone = ids.sorted { $0.description < $1.description }
    return .saveConflict(gone.map { MergeConflict(objectID: $0, oldVersion: baseVersion($0), persisted: nil) })
  }

  private func baseVersion(_ id: ManagedObjectID) -> UInt64 { context.registeredObject(for: id)?.baseVersion ?? 0 }

  /// Calls `body` with each link of new and of changed objects: the object, the ordinal of its relationship, and the id
  /// of the missing record.
  private func forEach(
    among new: [ManagedObject],
    _ body: (ManagedObject, Int, ManagedObjectID) -> Void
  ) throws(PersistenceError) {
    var ends = LinkedEnds()
    let updated = context.pending.updated.objects { !ends.ordinals($0.entity).isEmpty }
    for object in new + updated where object.isPresent {
      guard case .changed(let changes) = object.content else { continue }
      for ordinal in ends.ordinals(object.binding.entity) where changes.isUnsettled(ordinal) {
        for id in addedIDs(object, ordinal) where try hasNoRecord(id, of: object, ordinal) { body(object, ordinal, id) }
      }
    }
  }

  /// Returns the destinations that the context has added to a relationship, without new objects: they exist, or were
  /// removed here, and a save leaves them out.
  private func addedIDs(_ object: ManagedObject, _ ordinal: Int) -> [ManagedObjectID] {
    let ids = object.value(at: ordinal).objectIDs.filter { !$0.isTemporaryID && !context.pending.lostIDs.contains($0) }
    if ids.isEmpty || object.isInserted { return ids }
    let former = object.committedValue(at: ordinal).objectIDs
    if !object.binding.traits[ordinal].isToMany { return ids.filter { !former.contains($0) } }
    let known = Set(former)
    return ids.filter { !known.contains($0) }
  }

  /// Returns whether another save has deleted the record.
  private func hasNoRecord(
    _ id: ManagedObjectID,
    of owner: ManagedObject,
    _ ordinal: Int
  ) throws(PersistenceError) -> Bool {
    do {
      if context.sources.generation != nil { return try hasNoNewestRecord(id) }
      guard let object = try context.find(id) else { return true }
      return !object.isInserted && object.binding.liveGroup(of: object.rowID) == nil
    } catch {
      throw .unreadable([id], for: (owner.entity, ordinal), error)
    }
  }

  /// Returns the same for a context that is pinned to a version, which may not have the record yet, or may still have
  /// it.
  private func hasNoNewestRecord(_ id: ManagedObjectID) throws -> Bool {
    if context.pending.inserted[id] != nil { return false }
    guard let store = try context.binding(keeping: id).store else { return false }
    return try context.sources.newestSource(for: store).table(of: id.entity, reading: [id.reference]).row(
      of: id.reference
    )
      == nil
  }
}

/// The relationships that have an inverse, entity by entity: usually many objects of one entity are saved in sequence.
private struct LinkedEnds {
  private var known: (entity: EntityDescription, ordinals: [Int])?

  mutating func ordinals(_ entity: EntityDescription) -> [Int] {
    if let known, known.entity === entity { return known.ordinals }
    let ordinals = entity.traits.indices.filter {
      entity.traits[$0].inverseOrdinal != nil && !entity.traits[$0].isTransient
    }
    known = (entity, ordinals)
    return ordinals
  }
}
