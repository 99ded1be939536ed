import HeartwoodModel

extension ManagedObject {
  /// Whether the context has the object, and will not delete it.
  final var isPresent: Bool { state.isDisjoint(with: [.deleted, .detached, .inaccessible]) }

  /// Whether the object is, or was, a record of a store.
  final var wasSaved: Bool { group != nil }

  /// Whether the object has values that the next save would write.
  final var hasUnsavedValues: Bool {
    if case .changed(let changes) = content { changes.hasUnsettled } else { false }
  }

  /// Returns whether a property has a value that the next save would write.
  final func isUnsettled(_ ordinal: Int) -> Bool {
    if case .changed(let changes) = content { changes.isUnsettled(ordinal) } else { false }
  }

  final func isSettled(_ ordinal: Int) -> Bool {
    if case .changed(let changes) = content { changes.isSettled(ordinal) } else { false }
  }

  /// Makes the value of a property visible, but not saved.
  final func settle(_ ordinal: Int) {
    guard case .changed(let changes) = content else { return }
    changes.settle(ordinal)
    endChange(changes)
  }

  /// The ids of the destinations of all relationships, as read or changed.
  final var linkedIDs: [ManagedObjectID] {
    if isFault { return [] }
    return binding.traits.indices.flatMap { ordinal in
      binding.traits[ordinal].attributeType == nil ? value(at: ordinal).objectIDs : []
    }
  }

  /// Returns whether the object of `id` is a destination of a relationship.
  final func leads(_ ordinal: Int, to id: ManagedObjectID) -> Bool {
    if case .changed(let changes) = content, let isLinked = changes.isLinked(id, at: ordinal) { return isLinked }
    return value(at: ordinal).objectIDs.contains(id)
  }

  /// Makes the object a new one that no store has, with its present values.
  final func becomeNew(_ binding: EntityBinding) {
    // Values that could not be read are lost with their record.
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

  /// Updates the id and the relationships of an object that its context has released, and that may be restored, to the
  /// present ids.
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

  /// Updates the ids in relationships to the present ones.
  final func renameLinks(_ newestID: (ManagedObjectID) -> ManagedObjectID) {
    for (ordinal, value) in renamedLinks(newestID) { set(value, at: ordinal) }
  }

  /// Redirects relationships without an inverse to other objects.
  final func redirectOneWayLinks(_ newID: (ManagedObjectID) -> ManagedObjectID) {
    for (ordinal, value) in renamedLinks(newID) where binding.traits[ordinal].inverseOrdinal == nil {
      set(value, at: ordinal)
    }
  }

  /// Returns the relationships whose destinations have other ids, with these.
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
