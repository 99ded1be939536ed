import HeartwoodModel

/// An object of a context that has read its values, or is new.
struct ReferenceObject {
  let entity: EntityDescription
  /// The record as it was read; nil for a new object.
  var base: ReferenceRecord?
  var values: [String: ReferenceValue]
  var isDeleted = false
  /// Whether the object has changes, or transient values, and its record is gone.
  var isLost = false
  /// Whether the object shows another record than the one that its changes were made on.
  var isOutdated = false
  /// The names of the properties by which that is another.
  var outdatedNames: Set<String> = []
  /// The names of changes that were made on another record, and count as such though this one has the same values.
  var keptChanges: Set<String> = []

  /// The transient values that a save has left in place: they are no changes.
  var settled: Set<String> = []

  /// An object that has just read `record`.
  init(reading record: ReferenceRecord) {
    entity = record.entity
    base = record
    values = record.values
  }

  /// A new object: attributes have the model's defaults, relationships lead nowhere.
  init(inserting entity: EntityDescription) {
    self.entity = entity
    values = [:]
    for property in entity.properties {
      values[property.name] = property.attribute.map { .attribute($0.defaultValue) } ?? .empty(property)
    }
  }
}

extension ReferenceObject {
  var isInserted: Bool { base == nil }
  var isUpdated: Bool { !isInserted && !isDeleted && !changedValues.isEmpty }
  var hasChanges: Bool { isInserted || isUpdated || isDeleted }

  /// The values that are not those that were read; for a new object, those that are something.
  var changedValues: [String: ReferenceValue] {
    guard let base else { return values.filter { !$0.value.isEmpty } }
    return values.filter { name, value in
      !settled.contains(name) && (base.values[name] != value || keptChanges.contains(name))
    }
  }

  var transientNames: Set<String> { Set(entity.properties.filter(\.isTransient).map(\.name)) }

  /// Whether there is something to write.
  var hasPersistentChanges: Bool { !Set(changedValues.keys).subtracting(transientNames).isEmpty }

  /// Whether a to-many relationship led to `key` when the object was read; true of any other.
  func hadOrHasOne(_ relationship: String, _ key: Key) -> Bool {
    if case .toOne = values[relationship] { return true }
    return base?.values[relationship]?.keys.contains(key) == true
  }

  func keys(_ relationship: String) -> [Key] { values[relationship]?.keys ?? [] }

  /// Lets the changes stay on top of `record`, which others have saved: of a to-many relationship, what has come to it and gone from it.
  mutating func rebase(on record: ReferenceRecord) {
    for name in changedValues.keys {
      values[name] = values[name]?.following(from: base?.values[name], to: record.values[name])
    }
    move(to: record)
  }

  /// Lets the new values stay on top of `record`.
  mutating func move(to record: ReferenceRecord) {
    let own = values.filter { changedValues.keys.contains($0.key) || settled.contains($0.key) }
    values = record.values.merging(own) { _, own in own }
    base = record
    forgetOutdated()
    keptChanges = []
  }

  /// Lets the changes be of the record that the object shows.
  mutating func forgetOutdated() {
    isOutdated = false
    outdatedNames = []
  }
}

extension RelationshipDescription {
  /// The name of the relationship that leads back.
  var inverseName: String? { hasOneSidedInverse ? nil : inverseRelationshipName }
}
