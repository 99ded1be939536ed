import HeartwoodModel

/// What is saved.
final class ReferenceStore: ReferenceSource {
  private(set) var records: [Key: ReferenceRecord] = [:]
  /// Nil where the store keeps none.
  var history: ReferenceHistory?

  func record(_ key: Key) -> ReferenceRecord? { records[key] }

  var allKeys: Set<Key> { Set(records.keys) }

  func recordKeys(_ entity: EntityDescription) -> Set<Key> {
    Set(records.filter { $0.value.entity.isKind(of: entity) }.keys)
  }

  /// A store tells by versions.
  func hasChanged(_ key: Key, since base: ReferenceRecord) -> Bool {
    records[key]?.version != base.version
  }

  func commit(_ changes: [Key: ReferenceChangeToSave], author: String) {
    history?.append(changes, author: author)
    for (key, change) in changes {
      switch change {
      case .insert(var record):
        record.version = 1
        record.isUnsaved = false
        records[key] = record
      case .update(let values):
        records[key]?.values.merge(values) { $1 }
        records[key]?.version += 1
      case .delete: records[key] = nil
      }
    }
  }
}
