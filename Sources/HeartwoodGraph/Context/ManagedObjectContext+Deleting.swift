import HeartwoodModel

extension ManagedObjectContext {
  /// Deletes an object, and does with the objects that its relationships lead to what their delete rules say.
  ///
  /// The record goes with the next save, which fails where a relationship denies it. An object that was never saved is gone at
  /// once. Deleting an object that is deleted already does nothing.
  public func delete(_ object: ManagedObject) {
    Misuse.check(
      object.managedObjectContext === self || object.isDeleted,
      "The object is not, or no longer, of this context. Delete it in its own."
    )
    followConversions()
    // A list instead of recursion: a chain of cascades may be longer than the stack is deep.
    var pending = [object]
    while let next = pending.popLast() {
      if next.isFault { next.fireFault() }
      if next.isDeleted || next.state.contains(.deleting) { continue }
      prepareForDeletion(of: next)
      markDeleted(next)
      pending += applyDeleteRules(of: next).reversed()
    }
  }

  /// Lets an object do what it wants done before it goes. It may delete others that would delete it in their turn.
  private func prepareForDeletion(of object: ManagedObject) {
    object.state.insert(.deleting)
    object.prepareForDeletion()
    object.state.remove(.deleting)
  }

  /// Takes an object out, without a word to those that lead to it.
  func markDeleted(_ object: ManagedObject) {
    recorder?.willRemove(object)
    object.state.insert(.deleted)
    if object.isInserted {
      object.state.remove(.inserted)
      object.state.insert(.detached)
      noteChange(object)
      forgetID(of: object)
    } else {
      note(object, hasChanges: false)
      deleted.insert(object)
    }
  }

  /// Returns the objects that are to be deleted too.
  private func applyDeleteRules(of object: ManagedObject) -> [ManagedObject] {
    var cascade: [ManagedObject] = []
    for (ordinal, property) in object.entity.properties.enumerated() {
      guard let relationship = property.relationship else { continue }
      switch relationship.deleteRule {
      case .noAction, .deny: break
      case .cascade: cascade += object.value(at: ordinal).objectIDs.compactMap(objectIfPresent)
      case .nullify:
        guard let inverse = object.binding.traits[ordinal].inverseOrdinal else { break }
        for id in object.value(at: ordinal).objectIDs {
          objectIfPresent(id)?.unlink(inverse, from: object.objectID)
        }
      }
    }
    return cascade
  }
}
