import HeartwoodModel

/// What a relationship of an object in conflict leads to, as three know it.
struct ReferenceRivalry {
  let key: Key
  let name: String
  let inverse: String
  /// When the object was read.
  let former: [Key]
  /// By the changes of the context.
  let own: [Key]
  /// What others have added.
  let additions: [Key]
  /// What the newest record lacks of ``own``.
  let removals: [Key]
}

/// What others have let a relationship of an object that the context deletes lead to.
struct ReferenceAddition {
  let key: Key
  let relationship: RelationshipDescription
  let others: [Key]
}

/// Both ends of relationships agree on what a policy has made of conflicts.
extension ReferenceContext {
  /// The relationships of an object that others have changed too.
  func rivalries(of key: Key) -> [ReferenceRivalry] {
    guard let object = objects[key], let base = object.base, !object.isDeleted, !object.isLost,
      let record = source.record(key)
    else { return [] }
    return object.entity.relationships.compactMap { relationship in
      guard let inverse = relationship.inverseName else { return nil }
      return ReferenceRivalry(
        key: key,
        name: relationship.name,
        inverse: inverse,
        former: base.values[relationship.name]?.keys ?? [],
        own: object.keys(relationship.name),
        additions: additions(to: object, relationship.name, record),
        removals: object.keys(relationship.name).filter { key in
          record.values[relationship.name]?.keys.contains(key) != true
        }
      )
    }
  }

  /// Lets the other ends follow what has become of the object.
  func settle(_ rivalry: ReferenceRivalry, _ conflicts: Set<Key>) {
    guard let object = object(rivalry.key), !object.isDeleted else { return }
    let now = object.keys(rivalry.name)
    // What the context has added and the policy has dropped.
    for other in rivalry.own where !now.contains(other) && isOwnLink(rivalry, to: other) { part(other, rivalry) }
    // What the context has taken away and the policy has put back.
    for other in rivalry.former
    where !rivalry.own.contains(other) && now.contains(other) && objects[other]?.isUpdated == true {
      rejoin(other, rivalry, conflicts)
    }
    // What others have added and the policy has not taken.
    for other in rivalry.additions where !now.contains(other) {
      guard self.object(other)?.isDeleted == false else { continue }
      if objects[other]?.hasPersistentChanges != true { refresh(other, mergingChanges: true) }
      part(other, rivalry)
    }
  }

  /// Whether the context has let the object lead to another, from either end.
  private func isOwnLink(_ rivalry: ReferenceRivalry, to other: Key) -> Bool {
    guard rivalry.former.contains(other) else { return true }
    guard let object = objects[other], let base = object.base else { return false }
    return object.keys(rivalry.inverse).contains(rivalry.key)
      && base.values[rivalry.inverse]?.keys.contains(rivalry.key) != true
  }

  /// Lets the object no longer lead to what the context has deleted or let lead elsewhere.
  func dropRefused(_ key: Key, _ relationship: RelationshipDescription) {
    guard let inverse = relationship.inverseName, let object = object(key), !object.isDeleted else { return }
    for other in object.keys(relationship.name) {
      guard let target = objects[other] else { continue }
      let isElsewhere =
        target.changedValues[inverse] != nil && !target.keys(inverse).contains(key)
        && target.hadOrHasOne(inverse, key)
      if target.isDeleted ? !mayDangle(relationship) : isElsewhere { unlink(key, relationship.name, from: other) }
    }
  }

  func dropRefused(_ key: Key) {
    object(key)?.entity.relationships.forEach { dropRefused(key, $0) }
  }

  /// Calls `body`, which lets objects take the newest values, and lets the other ends of their relationships follow.
  func settlingLinks(of keys: [Key], _ body: () -> Void) {
    let rivalries = keys.filter { objects[$0]?.isUpdated == true && isBehind($0) }.flatMap { self.rivalries(of: $0) }
    body()
    for rivalry in rivalries { settle(rivalry, []) }
    for rivalry in rivalries { keep(rivalry, []) }
    rivalries.forEach(dropRefused)
  }

  /// Whether the context would read another version of an object than it has, or than its changes were made on.
  func isBehind(_ key: Key) -> Bool {
    guard let object = objects[key], let base = object.base else { return false }
    if object.isOutdated { return true }
    // What others have saved since is not read from a version before.
    if let pin = source as? ReferencePin { return pin.record(key).map { $0.version != base.version } ?? false }
    return source.hasChanged(key, since: base)
  }

  func refreshWithLinks(_ key: Key, mergingChanges: Bool) {
    settlingLinks(of: mergingChanges ? [key] : []) { refresh(key, mergingChanges: mergingChanges) }
  }

  func dropRefused(_ rivalry: ReferenceRivalry) {
    guard let relationship = object(rivalry.key)?.entity.property(named: rivalry.name)?.relationship else { return }
    dropRefused(rivalry.key, relationship)
  }

  /// What links lead to that the save would add, and is gone.
  func goneTargets() -> Set<Key> {
    var keys: Set<Key> = []
    forEachGoneLink { _, _, other in keys.insert(other) }
    return keys
  }

  /// What others have added to the relationships of an object that the context deletes.
  func additions(to key: Key) -> [ReferenceAddition] {
    guard let object = objects[key], object.isDeleted, !object.isLost, let record = source.record(key) else {
      return []
    }
    return object.entity.relationships.map { relationship in
      let others = additions(to: object, relationship.name, record)
      return ReferenceAddition(key: key, relationship: relationship, others: others)
    }
  }

  /// What a relationship leads to in `record` and did not when the object was read; all of it where that was another record.
  private func additions(to object: ReferenceObject, _ name: String, _ record: ReferenceRecord) -> [Key] {
    let newest = record.values[name]?.keys ?? []
    if object.outdatedNames.contains(name) { return newest }
    let former = object.base?.values[name]?.keys ?? []
    return newest.filter { !former.contains($0) }
  }

  /// Does with what others have added what the delete rule says, where the object stays deleted.
  func settle(_ addition: ReferenceAddition) {
    guard objects[addition.key]?.isDeleted == true else { return }
    for other in follow(addition.relationship, of: addition.key, to: addition.others, takingNewest: true) {
      delete(other, takingNewest: true)
    }
  }

  /// Lets no change add what is gone to a relationship that has an inverse.
  func dropGoneLinks() {
    forEachGoneLink { key, name, other in unlink(key, name, from: other) }
  }

  private func forEachGoneLink(_ body: (Key, String, Key) -> Void) {
    for (key, object) in objects where object.hasChanges && !object.isDeleted && !object.isLost {
      for relationship in object.entity.relationships where relationship.inverseName != nil {
        let former = object.base?.values[relationship.name]?.keys ?? []
        for other in object.keys(relationship.name) where !former.contains(other) && isGone(other) {
          body(key, relationship.name, other)
        }
      }
    }
  }

  /// Whether another save has deleted the object. New ones that have vanished here are in nobody's way: a save leaves them out.
  private func isGone(_ key: Key) -> Bool {
    let newest: any ReferenceSource = store ?? source
    return objects[key]?.isInserted != true && !vanished.contains(key) && newest.record(key) == nil
  }

  private func part(_ other: Key, _ rivalry: ReferenceRivalry) {
    guard let object = object(other), !object.isDeleted, object.keys(rivalry.inverse).contains(rivalry.key) else {
      return
    }
    unlink(other, rivalry.inverse, from: rivalry.key)
  }

  /// Lets what others have taken away and the policy has kept lead back.
  func keep(_ rivalry: ReferenceRivalry, _ conflicts: Set<Key>) {
    guard let object = object(rivalry.key), !object.isDeleted else { return }
    let now = object.keys(rivalry.name)
    for other in rivalry.removals where now.contains(other) { keep(other, rivalry, conflicts) }
  }

  private func keep(_ other: Key, _ rivalry: ReferenceRivalry, _ conflicts: Set<Key>) {
    guard object(other)?.isDeleted == false else { return }
    if object(other)?.keys(rivalry.inverse).contains(rivalry.key) == true { readNewest(other) }
    if case .toOne(let rival?) = object(other)?.values[rivalry.inverse], rival != rivalry.key, conflicts.contains(rival)
    {
      isSettlementPlain = false
    }
    link(other, rivalry.inverse, to: rivalry.key, other: rivalry.name)
  }

  private func rejoin(_ other: Key, _ rivalry: ReferenceRivalry, _ conflicts: Set<Key>) {
    guard let object = object(other), !object.keys(rivalry.inverse).contains(rivalry.key) else { return }
    // Of two that lead to an object which can lead back to one of them it is not said which gets it.
    if case .toOne(let rival?) = object.values[rivalry.inverse], conflicts.contains(rival) { isSettlementPlain = false }
    putBack(rivalry.key, other, rivalry.inverse)
    linkBack(other, rivalry.inverse, to: rivalry.key, other: rivalry.name)
  }
}
