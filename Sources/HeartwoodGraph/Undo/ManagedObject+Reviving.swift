import HeartwoodModel

extension ManagedObject {
  /// Whether the context has the object, and is not to delete it.
  final var isPresent: Bool { state.isDisjoint(with: [.deleted, .detached, .inaccessible]) }

  /// Whether the object is, or was, a record of a store.
  final var wasSaved: Bool { group != nil }

  /// Whether the object has values that the next save would write.
  final var hasUnsavedValues: Bool {
    if case .changed(let changes) = content { changes.hasUnsettled } else { false }
  }

  /// Whether a property has a value that the next save would write.
  final func isUnsettled(_ ordinal: Int) -> Bool {
    if case .changed(let changes) = content { changes.isUnsettled(ordinal) } else { false }
  }

  final func isSettled(_ ordinal: Int) -> Bool {
    if case .changed(let changes) = content { changes.isSettled(ordinal) } else { false }
  }

  /// Lets the value of a property be seen, but not saved.
  final func settle(_ ordinal: Int) {
    guard case .changed(let changes) = content else { return }
    changes.settle(ordinal)
    endChange(changes)
  }

  /// The ids of the objects that relationships lead to, by what has been read or changed.
  final var linkedIDs: [ManagedObjectID] {
    if isFault { return [] }
    return binding.traits.indices.flatMap { ordinal in
      binding.traits[ordinal].attributeType == nil ? value(at: ordinal).objectIDs : []
    }
  }

  /// Whether a relationship leads to the object of `id`.
  final func leads(_ ordinal: Int, to id: ManagedObjectID) -> Bool {
    if case .changed(let changes) = content, let isLinked = changes.isLinked(id, at: ordinal) { return isLinked }
    return value(at: ordinal).objectIDs.contains(id)
  }

  /// Lets the object be one that no store has, with the values that it has.
  final func becomeNew(_ binding: EntityBinding) {
    // What could not be read is lost with the record that had it.
    let values = binding.traits.indices.map { readable(value(at: $0), at: $0) }
    let changes = ObjectChanges(
      newID: .temporary(in: binding.scope),
      group: nil,
      values: values.map { $0.isNull || $0.isToMany ? nil : $0 }
    )
    for (ordinal, value) in values.enumerated() where value.isToMany {
      changes.setLinks(ObjectIDList(value.objectIDs), at: ordinal)
    }
    self.binding = binding
    content = .changed(changes)
  }

  /// Lets an object that its context has let go of, and that may come back, have the id and lead to the objects of records by the ids
  /// that these have now.
  final func takeNames(_ newID: (ManagedObjectID) -> ManagedObjectID) {
    if isFault { return }
    let id = objectID
    let changes = if case .changed(let changes) = content { changes } else { makeChanges(group: group) }
    for (ordinal, value) in renamedLinks(newID) {
      if value.isToMany {
        changes.setLinks(ObjectIDList(value.objectIDs), at: ordinal)
      } else {
        changes.setValue(value, at: ordinal)
      }
    }
    changes.newID = newID(id)
    content = .changed(changes)
  }

  /// Lets relationships lead to the same objects by the ids that they have now.
  final func renameLinks(_ newestID: (ManagedObjectID) -> ManagedObjectID) {
    for (ordinal, value) in renamedLinks(newestID) { set(value, at: ordinal) }
  }

  /// Lets relationships that have no inverse lead to other objects.
  final func redirectOneWayLinks(_ newID: (ManagedObjectID) -> ManagedObjectID) {
    for (ordinal, value) in renamedLinks(newID) where binding.traits[ordinal].inverseOrdinal == nil {
      set(value, at: ordinal)
    }
  }

  /// Where the relationships lead, by other ids, that lead to objects which have such.
  private func renamedLinks(_ newID: (ManagedObjectID) -> ManagedObjectID) -> [(ordinal: Int, value: PropertyValue)] {
    binding.traits.indices.filter { binding.traits[$0].attributeType == nil }.compactMap { ordinal in
      let old = value(at: ordinal)
      let new = old.map(newID)
      return new == old ? nil : (ordinal, new)
    }
  }
}

extension PropertyValue {
  fileprivate var isToMany: Bool {
    if case .toMany = self { true } else { false }
  }
}
