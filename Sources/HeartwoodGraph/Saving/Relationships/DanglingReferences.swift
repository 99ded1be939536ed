import HeartwoodModel
import HeartwoodStore

/// The links that changes of a context would add to records which are gone.
///
/// Where another save has deleted a record, a policy drops what the context has changed of it, and with that one end of
/// its new links; where the context had read the other end already, that is no change at all. What is left is on
/// objects that may be in no conflict, and would lead to nothing.
struct DanglingReferences {
  private let context: ManagedObjectContext

  init(_ context: ManagedObjectContext) {
    self.context = context
  }

  /// Takes the links back. Those of relationships without an inverse stay, as they do where they were saved before the
  /// deletion.
  ///
  /// - Throws: what looking for the records throws.
  func drop() throws(PersistenceError) {
    try forEach(among: context.pending.inserted.objects) { object, ordinal, id in object.unlink(ordinal, from: id) }
  }

  /// What the saves of the context would be because of such links; nil where there are none.
  ///
  /// - Throws: what looking for the records throws: nobody knows then whether they are there.
  func conflict(in saves: [PendingSave]) throws(PersistenceError) -> PersistenceError? {
    var ids: Set<ManagedObjectID> = []
    var ends = LinkedEnds()
    // Most new objects are of entities whose relationships need not be looked at, one by one.
    let insertions = saves.flatMap(\.inserted).filter { !ends.ordinals($0.entity).isEmpty }
    try forEach(among: insertions.flatMap(\.objects)) { _, _, id in ids.insert(id) }
    if ids.isEmpty { return nil }
    let gone = ids.sorted { $0.description < $1.description }
    return .saveConflict(gone.map { MergeConflict(objectID: $0, oldVersion: baseVersion($0), persisted: nil) })
  }

  private func baseVersion(_ id: ManagedObjectID) -> UInt64 { context.registeredObject(for: id)?.baseVersion ?? 0 }

  /// Calls `body` with each link of new and of changed objects: the object, the ordinal of its relationship, and the id
  /// of what is gone.
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

  /// What the context has let a relationship lead to, but for new objects: they are there, or have vanished here, and a
  /// save leaves them out.
  private func addedIDs(_ object: ManagedObject, _ ordinal: Int) -> [ManagedObjectID] {
    let ids = object.value(at: ordinal).objectIDs.filter { !$0.isTemporaryID && !context.pending.lostIDs.contains($0) }
    if ids.isEmpty || object.isInserted { return ids }
    let former = object.committedValue(at: ordinal).objectIDs
    if !object.binding.traits[ordinal].isToMany { return ids.filter { !former.contains($0) } }
    let known = Set(former)
    return ids.filter { !known.contains($0) }
  }

  /// Whether another save has deleted the record.
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

  /// The same in a context that stays at a version, which may not have the record yet, or have it still.
  private func hasNoNewestRecord(_ id: ManagedObjectID) throws -> Bool {
    if context.pending.inserted[id] != nil { return false }
    guard let store = try context.binding(keeping: id).store else { return false }
    return try context.sources.newestSource(for: store).table(of: id.entity, reading: [id.reference]).row(
      of: id.reference
    )
      == nil
  }
}

/// The relationships that have an inverse, entity by entity: most save many objects of one after the other.
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
