import HeartwoodModel

// MARK: What others save

/// The objects that a save was about.
struct SavedKeys {
  let changed: Set<Key>
  let inserted: Set<Key>
}

extension ReferenceContext {
  /// Takes in what others have saved.
  func merge(_ saved: SavedKeys) {
    advancePin()
    let keys = saved.changed.union(saved.inserted.filter { store?.records[$0] != nil && isBehind($0) })
    settlingLinks(of: keys.sorted()) { keys.forEach(takeNewest) }
  }

  /// Takes in what others have saved of an object.
  func takeNewest(_ key: Key) {
    guard let object = objects[key], !object.isInserted, !object.isDeleted, !object.isLost else { return }
    if source.record(key) != nil || !object.hasChanges { refresh(key, mergingChanges: true) } else { lose(key) }
  }

  /// Merges what others have saved since the last time, where the context does that by itself.
  func takeMerges() {
    let merges = pendingMerges ?? []
    if merges.isEmpty { return }
    pendingMerges = []
    merges.forEach(merge)
  }
}

// MARK: Conflicts

extension ReferenceContext {
  /// Does with objects that others have saved what the policy says.
  func resolve(_ conflicts: Set<Key>) {
    advancePin()
    let rivalries = conflicts.sorted().flatMap { self.rivalries(of: $0) }
    let additions = conflicts.sorted().flatMap { self.additions(to: $0) }
    for key in conflicts.sorted() where objects[key]?.isDeleted == false { resolveUpdate(key) }
    let restored = conflicts.sorted().filter { key in objects[key]?.isDeleted == true && resolveDeletion(key) }
    linkBack(restored)
    for rivalry in rivalries { settle(rivalry, conflicts) }
    for rivalry in rivalries { keep(rivalry, conflicts) }
    additions.forEach(settle)
    rivalries.forEach(dropRefused)
    dropGoneLinks()
  }

  private func resolveUpdate(_ key: Key) {
    guard var object = objects[key], let base = object.base else { return }
    guard !object.isLost, let record = source.record(key) else { return forget(key) }
    switch policy {
    case .error: break
    case .rollback: forget(key)
    case .overwrite:
      object.base = record
      object.forgetOutdated()
      object.keptChanges = []
      keep(object, key)
    case .objectTrump:
      object.rebase(on: record)
      keep(object, key)
    case .storeTrump:
      for name in object.changedValues.keys
      where base.values[name] != record.values[name] || object.outdatedNames.contains(name) {
        let newest = object.outdatedNames.contains(name) ? nil : record.values[name]
        object.values[name] = object.values[name]?.yielding(newest, since: base.values[name])
        // It may have been made on another record still.
        object.keptChanges.remove(name)
      }
      guard object.isUpdated else { return forget(key) }
      object.rebase(on: record)
      keep(object, key)
    }
  }

  /// - Returns: whether the object is there again.
  private func resolveDeletion(_ key: Key) -> Bool {
    guard let record = source.record(key), !policy.prefersStore else {
      forget(key)
      return source.record(key) != nil
    }
    var object = ReferenceObject(reading: record)
    object.isDeleted = true
    keep(object, key)
    return false
  }

  /// Those that are there again and the objects that they lead to lead to each other again.
  func linkBack(_ restored: [Key]) {
    restored.forEach(letGo)
    for key in restored {
      guard let object = object(key) else { continue }
      for relationship in object.entity.relationships {
        guard let inverse = relationship.inverseName else { continue }
        for other in object.keys(relationship.name) {
          if self.object(other)?.isDeleted == false {
            // Of two that lead to an object which can lead back to one of them it is not said which gets it.
            let former = self.object(other)?.values[inverse]
            if case .toOne(let rival?) = former, rival != key, restored.contains(rival) { isSettlementPlain = false }
            putBack(key, other, inverse)
            linkBack(other, inverse, to: key, other: relationship.name)
          } else if !mayDangle(relationship) {
            unlink(key, relationship.name, from: other)
          }
        }
      }
    }
  }

  /// What the context has let lead elsewhere since stays there.
  private func letGo(from key: Key) {
    guard let object = object(key) else { return }
    for relationship in object.entity.relationships {
      guard let inverse = relationship.inverseName else { continue }
      for other in object.keys(relationship.name) where self.object(other)?.isDeleted == false {
        if case .toOne = self.object(other)?.values[inverse] { readNewest(other) }
        guard case .toOne(let rival?) = self.object(other)?.values[inverse], rival != key else { continue }
        unlink(key, relationship.name, from: other)
      }
    }
  }

  /// Lets an ordered relationship lead to `target` at the place where it did when the object was read.
  func putBack(_ target: Key, _ key: Key, _ name: String) {
    guard let object = object(key), case .ordered(var keys) = object.values[name], !keys.contains(target),
      case .ordered(let former) = object.base?.values[name], let place = former.firstIndex(of: target)
    else { return }
    let before = former[..<place].last(where: keys.contains)
    keys.insert(target, at: before.flatMap(keys.firstIndex).map { $0 + 1 } ?? 0)
    setValue(.ordered(keys), name, of: key)
  }
}

// MARK: Values that must be unique

extension ReferenceContext {
  /// An object with a value that must be unique and that another has.
  struct Collision {
    let key: Key
    let others: [Key]
  }

  /// What would collide in the store if the changes were saved, of the entities that have one attribute that must be unique.
  func collisions() -> [Collision] {
    guard let store else { return [] }
    var values: [Key: PropertyValue] = [:]
    for (key, record) in store.records { values[key] = uniqueValue(record.entity, record.values) }
    var changed: Set<Key> = []
    for (key, object) in objects where object.hasChanges {
      values[key] = object.isDeleted ? nil : uniqueValue(object.entity, object.values)
      guard !object.isDeleted, let name = object.entity.uniqueName else { continue }
      if object.isInserted || object.changedValues[name] != nil { changed.insert(key) }
    }
    return changed.sorted().compactMap { key in
      guard let value = values[key] else { return nil }
      let others = values.keys.filter { $0 != key && values[$0] == value }
      return others.isEmpty ? nil : Collision(key: key, others: others)
    }
  }

  private func uniqueValue(_ entity: EntityDescription, _ values: [String: ReferenceValue]) -> PropertyValue? {
    guard let name = entity.uniqueName, case .attribute(let value) = values[name], !value.isNull else { return nil }
    return value
  }

  /// Whether the collisions are such that it is plain what has to come of them: objects, each with another that is saved and is not
  /// changed.
  func areResolvable(_ collisions: [Collision]) -> Bool {
    policy == .error
      || collisions.allSatisfy { collision in
        collision.others.count == 1
          && collision.others.allSatisfy { objects[$0]?.hasChanges != true && store?.records[$0] != nil }
      }
  }

  /// - Returns: whether the policy lets the save go on.
  func resolve(_ collisions: [Collision]) -> Bool {
    if !policy.prefersStore, collisions.contains(where: { objects[$0.key]?.isInserted == false }) { return false }
    advancePin()
    if !policy.prefersStore { collisions.forEach(followUpdate) }
    for collision in collisions {
      if objects[collision.key]?.isInserted == false {
        forgetUniqueValue(of: collision.key)
      } else {
        if !policy.prefersStore, let other = collision.others.first { update(other, with: collision.key) }
        drop(collision.key)
      }
    }
    return true
  }

  /// Lets relationships without an inverse that lead to a new object lead to the one that is updated instead.
  private func followUpdate(_ collision: Collision) {
    guard let other = collision.others.first, objects[collision.key]?.isInserted == true else { return }
    for (key, object) in objects where object.hasChanges && !object.isDeleted {
      for relationship in object.entity.relationships where relationship.inverseName == nil {
        let keys = object.keys(relationship.name)
        guard let value = object.values[relationship.name], keys.contains(collision.key) else { continue }
        let rest = keys.filter { $0 != other }
        setValue(value.replacingKeys(by: rest.map { $0 == collision.key ? other : $0 }), relationship.name, of: key)
      }
    }
  }

  /// Lets a changed object have the value again that it was read with.
  private func forgetUniqueValue(of key: Key) {
    guard var object = objects[key], let name = object.entity.uniqueName else { return }
    object.values[name] = object.base?.values[name]
    object.keptChanges.remove(name)
    keep(object, key)
  }

  /// Lets an object take the values of a new one, but for those that are nil.
  private func update(_ key: Key, with new: Key) {
    guard let object = object(new) else { return }
    for attribute in object.entity.attributes where !attribute.isTransient {
      guard let value = object.values[attribute.name], !value.isEmpty else { continue }
      setValue(value, attribute.name, of: key)
    }
    for relationship in object.entity.relationships {
      let others = object.keys(relationship.name).filter { $0 != key && self.object($0) != nil }
      if others.isEmpty { continue }
      let own = self.object(key)?.keys(relationship.name) ?? []
      relate(key, relationship.name, to: relationship.isToMany ? own + others.filter { !own.contains($0) } : others)
    }
  }

  private func drop(_ key: Key) {
    for relationship in object(key)?.entity.relationships ?? [] { relate(key, relationship.name, to: []) }
    markDeleted(key)
  }
}

extension EntityDescription {
  /// The attribute whose values must be unique.
  fileprivate var uniqueName: String? {
    uniquenessConstraints.first?.first.map { properties[$0].name }
  }
}
