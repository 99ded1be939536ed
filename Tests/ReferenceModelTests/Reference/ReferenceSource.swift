import HeartwoodModel

/// A record as a store has it, or as a parent context would leave it.
struct ReferenceRecord {
  let entity: EntityDescription
  var values: [String: ReferenceValue]
  /// How often the record has been saved in a store.
  var version = 0
  /// Whether only a parent context has the record so far.
  var isUnsaved = false
}

extension ReferenceRecord {
  mutating func rename(_ key: Key, to other: Key) {
    values = values.mapValues { value in value.replacingKeys(by: value.keys.map { $0 == key ? other : $0 }) }
  }
}

/// What a save does to one record.
enum ReferenceChangeToSave {
  case insert(ReferenceRecord)
  /// The new values, by name.
  case update([String: ReferenceValue])
  /// The record as it was.
  case delete(ReferenceRecord)
}

/// Where a context reads records from and saves them to: a store, or a parent context.
protocol ReferenceSource: AnyObject {
  /// The record as it is now.
  func record(_ key: Key) -> ReferenceRecord?
  var allKeys: Set<Key> { get }
  func recordKeys(_ entity: EntityDescription) -> Set<Key>
  /// Whether a record has changed since it was `base`.
  func hasChanged(_ key: Key, since base: ReferenceRecord) -> Bool
  func commit(_ changes: [Key: ReferenceChangeToSave], author: String)
}
