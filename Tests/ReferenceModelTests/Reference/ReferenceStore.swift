import HeartwoodModel

/// What is saved.
final class ReferenceStore: ReferenceSource {
  private(set) var records: [Key: ReferenceRecord] = [:]
  private(set) var saveCount = 0
  /// All records that there have ever been.
  private(set) var knownKeys: Set<Key> = []
  /// Nil where the store keeps none.
  var history: ReferenceHistory?
  /// How often the object of a key has come back as a new record.
  private var ghostCounts: [Key: Int] = [:]
  /// Whether a to-many relationship may lead to what is gone.
  private let keepsDanglingKeys: Bool

  init(keepsDanglingKeys: Bool) {
    self.keepsDanglingKeys = keepsDanglingKeys
  }

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
    saveCount += 1
    history?.append(changes, author: author)
    for (key, change) in changes {
      switch change {
      case .insert(var record):
        record.version = 1
        record.isUnsaved = false
        records[key] = record
        knownKeys.insert(key)
      case .update(let values):
        records[key]?.values.merge(values) { $1 }
        records[key]?.version += 1
      case .delete: records[key] = nil
      }
    }
    if !keepsDanglingKeys { dropDanglingKeys() }
  }

  private func dropDanglingKeys() {
    for (key, record) in records {
      for (name, value) in record.values where value.keys.contains(where: { records[$0] == nil }) {
        if case .toOne = value { continue }
        let rest = value.keys.filter { records[$0] != nil }
        records[key]?.values[name] = value.replacingKeys(by: rest)
      }
    }
  }

  /// Lets what is saved of a record that is gone be under another key, so that an object can come back under its own.
  func makeGhost(of key: Key) -> Key {
    ghostCounts[key, default: 0] += 1
    let ghost = key.ghost(ghostCounts[key, default: 0])
    for other in records.keys { records[other]?.rename(key, to: ghost) }
    history?.rename(key, to: ghost)
    return ghost
  }
}
