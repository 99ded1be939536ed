import HeartwoodModel
import HeartwoodStore

/// Resolves the conflicts of a save by the context's policy.
struct ConflictResolver {
  private let context: ManagedObjectContext
  private let save: PendingSave

  init(_ context: ManagedObjectContext, _ save: PendingSave) {
    self.context = context
    self.save = save
  }

  /// Changes the objects so that the save can be tried again.
  ///
  /// - Parameter error: the failure of the save.
  /// - Throws: the failure, with the context's values for the conflicts, if the policy rejects one of them, and the
  ///   errors of the policy. Then no object has changed.
  func resolve(_ error: PersistenceError) throws {
    let error = completed(error)
    let (conflicts, collisions) = try resolutions(of: error.context)
    // The objects in conflict are looked up before anything changes: records that cannot be read fail the save.
    for (conflict, _) in conflicts { _ = try context.findRegistered(conflict.objectID) }
    let fails = conflicts.contains { $0.1 == .fail } || collisions.contains { $0.1 == .fail }
    if fails || updatesSeveral(collisions) || conflicts.isEmpty && collisions.isEmpty { throw error }
    // A pinned context would find the same conflicts again.
    context.advanceQueryGeneration()
    let upkeep = RelationshipUpkeep(context)
    var merge = upkeep.beginMerge()
    // They are looked up again: the version that the context has read so far may lack some of them.
    for (conflict, _) in conflicts where !conflict.isDeletedInStore {
      if let object = try context.findRegistered(conflict.objectID) { try merge.note(object) }
    }
    var restored: [ManagedObject] = []
    var savedObjects = SavedObjects(save)
    for (conflict, resolution) in conflicts { try resolve(conflict, resolution, &restored, &savedObjects) }
    if !conflicts.isEmpty { try upkeep.end(merge, restoring: restored) }
    try followUpdates(of: collisions)
    var yielded: Set<ManagedObjectID> = []
    for (conflict, resolution) in collisions { try resolve(conflict, resolution, &yielded) }
  }

  /// Returns the conflicts of a save, each with its resolution by the context's policy.
  private func resolutions(
    of error: PersistenceError.Context
  ) throws -> (conflicts: [(MergeConflict, MergePolicy.Resolution)], collisions: [Collision]) {
    let (conflicts, collisions) = (error.mergeConflicts, error.constraintConflicts)
    let policy = context.mergePolicy
    if let together = policy.together {
      let resolutions = try together(context, conflicts, collisions)
      return (
        Array(zip(conflicts, resolutions.conflicts)),
        try zip(collisions, resolutions.constraints).map { ($0, try possible($1, for: $0)) }
      )
    }
    return (
      try conflicts.map { ($0, try policy.resolution($0)) },
      try collisions.map { ($0, try possible(try policy.constraintResolution($0), for: $0)) }
    )
  }

  /// Returns the resolution, or a failure if only new objects can be resolved so.
  private func possible(
    _ resolution: MergePolicy.ConstraintResolution,
    for conflict: ConstraintConflict
  ) throws -> MergePolicy.ConstraintResolution {
    guard resolution == .updateConflicting else { return resolution }
    return try context.find(conflict.objectID)?.isInserted ?? false ? resolution : .fail
  }
}

// MARK: The error

extension ConflictResolver {
  /// Returns the error with the values of the objects, and with their present, unsaved ids.
  private func completed(_ error: PersistenceError) -> PersistenceError {
    var error = error
    var ids = CurrentIDs(save)
    error.context.mergeConflicts = error.context.mergeConflicts.map(completed)
    for index in error.context.constraintConflicts.indices {
      let conflict = error.context.constraintConflicts[index]
      error.context.constraintConflicts[index].objectID = ids[conflict.objectID]
      error.context.constraintConflicts[index].conflictingID = ids[conflict.conflictingID]
    }
    error.context.objectIDs = error.context.objectIDs.map { ids[$0] }
    return error
  }

  private func completed(_ conflict: MergeConflict) -> MergeConflict {
    guard let object = context.registeredObject(for: conflict.objectID), let group = object.group else {
      return conflict
    }
    var conflict = conflict
    let binding = object.binding
    conflict.cached = AtomicStoreCacheNode(
      group: group,
      row: object.rowID.row,
      entity: binding.entity,
      scopes: binding.scopes
    )
    if !object.isDeleted {
      let values = binding.traits.indices.map { object.readable(object.value(at: $0), at: $0) }
      conflict.objectSnapshot = ObjectSnapshot(
        objectID: conflict.objectID,
        version: conflict.oldVersion,
        values: values
      )
    }
    return conflict
  }
}

/// The present ids of objects that would be saved under others.
private struct CurrentIDs {
  private let save: PendingSave
  /// The places of the new objects, by the references that they would get; the objects of an entity are indexed on
  /// demand.
  private var places: [ObjectIdentifier: [ReferenceID: Int]] = [:]

  init(_ save: PendingSave) {
    self.save = save
  }

  subscript(id: ManagedObjectID) -> ManagedObjectID {
    mutating get {
      guard let insertion = save.inserted.first(where: { $0.entity === id.entity }) else { return id }
      return find(insertion)[id.reference].map { insertion.objects[$0].objectID } ?? id
    }
  }

  private mutating func find(_ insertion: PendingInsertion) -> [ReferenceID: Int] {
    let key = ObjectIdentifier(insertion.entity)
    if let known = places[key] { return known }
    var found: [ReferenceID: Int] = [:]
    if let references = insertion.references {
      found.reserveCapacity(references.count)
      for index in 0..<references.count { found[references[index]] = index }
    }
    places[key] = found
    return found
  }
}

// MARK: Changed by another save

extension ConflictResolver {
  /// - Parameter restored: the object is added here if its deletion is reverted.
  private func resolve(
    _ conflict: MergeConflict,
    _ resolution: MergePolicy.Resolution,
    _ restored: inout [ManagedObject],
    _ savedObjects: inout SavedObjects
  ) throws(PersistenceError) {
    guard let object = try context.findRegistered(conflict.objectID) else {
      if let lost = savedObjects[conflict.objectID] { dropLost(lost) }
      return
    }
    if object.state.contains(.deleted) { return resolveDeletion(of: object, conflict, resolution, &restored) }
    if conflict.isDeletedInStore { return dropLost(object) }
    switch resolution {
    case .fail: break
    case .takeStored: context.reread(object, mergeChanges: false)
    case .takeObject: object.rebaseValues()
    case .mergePreferringObject: context.reread(object, mergeChanges: true)
    case .mergePreferringStored:
      object.yieldToOthers()
      context.reread(object, mergeChanges: true)
    }
  }

  /// Drops the changes of an object whose record another save has deleted. From then on it counts as deleted.
  private func dropLost(_ object: ManagedObject) {
    if object.state.contains(.deleted) {
      context.finishDeletion(of: object)
    } else {
      context.reread(object, mergeChanges: false)
      object.noticeLoss()
    }
  }

  private func resolveDeletion(
    of object: ManagedObject,
    _ conflict: MergeConflict,
    _ resolution: MergePolicy.Resolution,
    _ restored: inout [ManagedObject]
  ) {
    if conflict.isDeletedInStore { return context.finishDeletion(of: object) }
    switch resolution {
    case .fail: break
    case .takeObject, .mergePreferringObject: object.pin()
    case .takeStored, .mergePreferringStored:
      context.undelete(object)
      restored.append(object)
    }
  }
}

/// The changed and deleted objects of a save by their ids, indexed on demand.
private struct SavedObjects {
  private let save: PendingSave
  private lazy var objects = Dictionary(
    (save.updated + save.deleted).map { ($0.objectID, $0) },
    uniquingKeysWith: { first, _ in first }
  )

  init(_ save: PendingSave) {
    self.save = save
  }

  subscript(id: ManagedObjectID) -> ManagedObject? {
    mutating get { objects[id] }
  }
}

extension ManagedObjectContext {
  /// Reverts the deletion of an object.
  fileprivate func undelete(_ object: ManagedObject) {
    pending.undelete(object)
    reread(object, mergeChanges: false)
  }
}

extension ManagedObject {
  /// Makes all values of the object changes of the newest version of its record.
  fileprivate final func rebaseValues() {
    let values = binding.traits.indices.map { value(at: $0) }
    // These values are not known, so that they cannot replace newer ones.
    let unread = Set(binding.traits.indices.filter { values[$0].isEmptyData && unreadable(at: $0) != nil })
    rebaseChanges()
    for (ordinal, trait) in binding.traits.enumerated()
    where !trait.isTransient && !unread.contains(ordinal) && value(at: ordinal) != values[ordinal] {
      set(values[ordinal], at: ordinal)
    }
  }

  /// The properties whose newest values differ from those that the object was read with.
  fileprivate final var ordinalsChangedByOthers: [Int] {
    synchronize()
    guard let group, let newest = binding.liveGroup(of: rowID) else { return [] }
    let ordinals = binding.ordinalsOfOtherValues(rowID.row, of: group, rowID.row, of: newest)
    guard case .changed(let changes) = content else { return ordinals }
    return ordinals + changes.outdatedOrdinals
  }

  /// Resets properties that others have changed to the newest values, except for the additions and removals that the
  /// context has made in to-many relationships.
  fileprivate final func yieldToOthers() {
    let ordinals = ordinalsChangedByOthers
    forgetChanges(at: ordinals.filter { !putLinksOnNewest($0) })
  }

  /// Applies the additions and removals of a to-many relationship to its newest destinations, in their order.
  ///
  /// - Returns: false if it is no to-many relationship, or its former destinations are not known any more.
  private final func putLinksOnNewest(_ ordinal: Int) -> Bool {
    guard binding.traits[ordinal].isToMany, case .changed(let changes) = content,
      !changes.outdatedOrdinals.contains(ordinal), changes.unsettledOrdinals.contains(ordinal),
      let own = changes.value(at: ordinal), let newest = newestValue(at: ordinal)
    else { return false }
    var list = ObjectIDList(newest.objectIDs)
    list.follow(from: committedValue(at: ordinal).objectIDs, to: own.objectIDs)
    changes.setLinks(list, at: ordinal)
    return true
  }

  /// Resets properties to the values that the object was read with.
  fileprivate final func forgetChanges(at ordinals: [Int]) {
    guard case .changed(let changes) = content else { return }
    for ordinal in ordinals {
      if binding.traits[ordinal].isToMany {
        changes.setLinks(nil, at: ordinal)
      } else {
        changes.setValue(nil, at: ordinal)
      }
    }
    endChange(changes)
  }
}

// MARK: Values that must be unique

extension ConflictResolver {
  private typealias Collision = (conflict: ConstraintConflict, resolution: MergePolicy.ConstraintResolution)

  /// Returns whether one new object is to update several others: then no attempt could succeed.
  private func updatesSeveral(_ collisions: [Collision]) -> Bool {
    var updated: [ManagedObjectID: ManagedObjectID] = [:]
    return collisions.contains { conflict, resolution in
      guard resolution == .updateConflicting, conflict.isStored else { return false }
      let former = updated.updateValue(conflict.conflictingID, forKey: conflict.objectID)
      return former != nil && former != conflict.conflictingID
    }
  }

  /// Redirects relationships without an inverse from new objects to the objects that are updated instead; the other
  /// relationships follow from the values.
  private func followUpdates(of collisions: [Collision]) throws(PersistenceError) {
    var successors: [ManagedObjectID: ManagedObjectID] = [:]
    for (conflict, resolution) in collisions where resolution == .updateConflicting {
      // An object that has given way to a third one is left to the next attempt.
      if successors[conflict.conflictingID] != nil { continue }
      if try context.find(conflict.objectID)?.isInserted == true {
        successors[conflict.objectID] = conflict.conflictingID
      }
    }
    if successors.isEmpty { return }
    for object in context.pending.present where object.isPresent {
      object.redirectOneWayLinks { successors[$0] ?? $0 }
    }
  }

  /// - Parameter yielded: the ids of the objects that have given way to others; the id of this one is added.
  private func resolve(
    _ conflict: ConstraintConflict,
    _ resolution: MergePolicy.ConstraintResolution,
    _ yielded: inout Set<ManagedObjectID>
  ) throws {
    if resolution == .resolved { return }
    // An object may be in conflict by several constraints.
    guard let object = try context.find(conflict.objectID), object.isPresent else { return }
    // The conflicting object has already given way in this pass, so this conflict may be gone; the next attempt finds
    // out. The first one is always resolved.
    if yielded.contains(conflict.conflictingID) { return }
    yielded.insert(conflict.objectID)
    if object.isInserted {
      if resolution == .updateConflicting, let other = try context.find(conflict.conflictingID), other !== object {
        try other.takeValues(of: object)
      }
      try context.drop(object)
    } else {
      object.forgetChanges(at: conflict.constraint.compactMap { object.entity.ordinal(ofProperty: $0) })
    }
  }
}

extension ManagedObjectContext {
  /// Removes a new object as if it had never been inserted.
  fileprivate func drop(_ object: ManagedObject) throws(PersistenceError) {
    for (ordinal, trait) in object.binding.traits.enumerated() where trait.attributeType == nil {
      try object.relate(ordinal, to: [])
    }
    markDeleted(object)
  }
}

extension ManagedObject {
  /// Takes the values of a new object of the same or a related entity, except nil ones.
  fileprivate final func takeValues(of object: ManagedObject) throws(PersistenceError) {
    for (ordinal, property) in object.entity.properties.enumerated() where !property.isTransient {
      guard let own = entity.ordinal(ofProperty: property.name) else { continue }
      let value = object.readable(object.value(at: ordinal), at: ordinal)
      if property.attribute != nil {
        if !value.isNull { change(own, to: value) }
      } else {
        let new = try reading { object.relatedObjects(ordinal) }.filter { $0 !== self }
        if new.isEmpty { continue }
        let all = binding.traits[own].isToMany ? try reading { relatedObjects(own) } + new : new
        try relate(own, to: all.filter { $0 !== object })
      }
    }
  }
}
