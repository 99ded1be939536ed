import HeartwoodModel

/// A parent context: its children see the newest records with its changes on top, and their saves become changes of it.
extension ReferenceContext: ReferenceSource {
  func record(_ key: Key) -> ReferenceRecord? {
    guard let object = objects[key], object.hasChanges else { return source.record(key) }
    if object.isDeleted { return nil }
    let values = valuesToSave(object)
    if object.isInserted { return ReferenceRecord(entity: object.entity, values: values, isUnsaved: true) }
    var record = source.record(key)
    for name in Set(object.changedValues.keys).subtracting(object.transientNames) {
      record?.values[name] = values[name]
    }
    return record
  }

  var allKeys: Set<Key> { Set(state.present.keys) }

  func recordKeys(_ entity: EntityDescription) -> Set<Key> { fetch(entity) }

  /// A parent tells by values, since a record that is not saved has no version.
  func hasChanged(_ key: Key, since base: ReferenceRecord) -> Bool {
    record(key)?.values != base.values
  }

  func commit(_ changes: [Key: ReferenceChangeToSave], author: String) {
    // The child has changed both ends of relationships, and followed delete rules.
    for case (let key, .insert(let record)) in changes { insert(key, record.entity) }
    var advanced: [Key] = []
    var kept: [Key] = []
    var seenRecords: [Key: ReferenceRecord] = [:]
    for (key, change) in changes {
      switch change {
      case .insert(let record): for (name, value) in record.values { setValue(value, name, of: key) }
      case .update(let values):
        let seen = record(key)
        seenRecords[key] = seen
        let isAdvanced = advance(key)
        if isAdvanced { advanced.append(key) }
        // In this order, since changes of an older record count no more once there is none.
        for property in object(key)?.entity.properties ?? [] {
          guard let value = values[property.name] else { continue }
          setValue(
            isAdvanced ? put(value, over: seen?.values[property.name], property, key) : value,
            property.name,
            of: key
          )
        }
      case .delete:
        let seen = record(key)
        let isAdvanced = advance(key)
        if isAdvanced { advanced.append(key) }
        if isAdvanced, let object = objects[key], valuesToSave(object) != seen?.values {
          // The child could not see what others have let the object lead to.
          conflictingChildSaves.insert(key)
          kept.append(key)
        } else {
          markDeleted(key)
        }
      }
    }
    linkBack(kept)
    advanced.forEach(dropRefused)
    for isAddition in [true, false] {
      for (key, change) in changes {
        switch change {
        case .insert(let record): follow(record.values, nil, of: key, isAddition: isAddition)
        case .update(let values): follow(values, seenRecords[key], of: key, isAddition: isAddition)
        case .delete: break
        }
      }
    }
  }

  /// The child may have dropped the changes of one end by a refresh: that end follows here.
  private func follow(_ values: [String: ReferenceValue], _ seen: ReferenceRecord?, of key: Key, isAddition: Bool) {
    guard let object = object(key), !object.isDeleted else { return }
    for relationship in object.entity.relationships {
      guard let inverse = relationship.inverseName, let value = values[relationship.name] else { continue }
      let former = seen?.values[relationship.name]?.keys ?? []
      let (more, less) = isAddition ? (value.keys, former) : (former, value.keys)
      for other in more where !less.contains(other) && self.object(other)?.isDeleted == false {
        let leads = self.object(key)?.keys(relationship.name).contains(other) == true
        let leadsBack = self.object(other)?.keys(inverse).contains(key) == true
        if leads != isAddition || leadsBack == isAddition { continue }
        if isAddition {
          link(other, inverse, to: key, other: relationship.name)
        } else {
          unlink(other, inverse, from: key)
        }
      }
    }
  }

  /// What a child has made of a value, where the object has just read what others have let come to it and go.
  private func put(
    _ value: ReferenceValue,
    over seen: ReferenceValue?,
    _ property: PropertyDescription,
    _ key: Key
  ) -> ReferenceValue {
    guard property.relationship?.isToMany == true, let own = object(key)?.values[property.name] else { return value }
    let both = own.following(from: seen, to: value)
    return Set(both.keys) == Set(value.keys) ? value : both
  }
}
