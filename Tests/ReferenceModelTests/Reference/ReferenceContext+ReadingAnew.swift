import HeartwoodModel

/// Objects that read their records anew, since others have saved them.
extension ReferenceContext {
  /// Lets an object without changes to save read the newest record: another one that was read later says that it leads there, or does not.
  func readNewest(_ key: Key) {
    guard let object = objects[key], !object.isDeleted, !object.hasPersistentChanges else { return }
    if advance(key) { dropRefused(key) }
  }

  /// Lets an object read its record where that has been saved later. Changes that were made on another are a conflict from then on.
  ///
  /// - Returns: whether it has been. Then it may lead to what is deleted here, or leads elsewhere.
  func advance(_ key: Key) -> Bool {
    guard let object = objects[key], !object.isLost, let base = object.base, let record = source.record(key) else {
      return false
    }
    let isLater = source is ReferenceContext ? record.values != base.values : record.version > base.version
    if !isLater { return false }
    let merged = mergeLinks(of: key, from: base, to: record)
    readAnew(key)
    if var object = objects[key] {
      object.outdatedNames.subtract(merged)
      keep(object, key)
    }
    return true
  }

  /// Lets what others have added to the to-many relationships that are changed here too, and taken from them, come and go there.
  ///
  /// - Returns: their names.
  private func mergeLinks(of key: Key, from base: ReferenceRecord, to record: ReferenceRecord) -> Set<String> {
    guard var object = objects[key], !object.isDeleted else { return [] }
    let names = object.changedValues.keys.filter { name in
      object.entity.property(named: name)?.relationship?.isToMany == true && !object.transientNames.contains(name)
        && !object.outdatedNames.contains(name)
    }
    for name in names {
      object.values[name] = object.values[name]?.following(from: base.values[name], to: record.values[name])
      object.keptChanges.insert(name)
    }
    keep(object, key)
    return Set(names)
  }

  /// The record of an object was only in the parent when it was read. The graph may let the object read it anew when a store has
  /// it.
  func readAnew(_ key: Key) {
    guard let record = source.record(key), var object = objects[key], let base = object.base else { return }
    let isToBeSaved = object.isDeleted || object.hasPersistentChanges
    let others = isToBeSaved ? record.values.keys.filter { record.values[$0] != base.values[$0] } : []
    let (isOutdated, outdatedNames) = (object.isOutdated || !others.isEmpty, object.outdatedNames.union(others))
    let names = Set(object.changedValues.keys)
    object.move(to: record)
    (object.isOutdated, object.outdatedNames) = (isOutdated, outdatedNames)
    object.keptChanges = names
    keep(object, key)
  }
}
