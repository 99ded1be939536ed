import HeartwoodModel

/// A store as it was at one time. What is saved goes to the store.
final class ReferencePin: ReferenceSource {
  let store: ReferenceStore
  private let records: [Key: ReferenceRecord]

  init(_ store: ReferenceStore) {
    self.store = store
    records = store.records
  }

  func record(_ key: Key) -> ReferenceRecord? { records[key] }
  var allKeys: Set<Key> { Set(records.keys) }

  func recordKeys(_ entity: EntityDescription) -> Set<Key> {
    Set(records.filter { $0.value.entity.isKind(of: entity) }.keys)
  }

  func hasChanged(_ key: Key, since base: ReferenceRecord) -> Bool { store.hasChanged(key, since: base) }

  func commit(_ changes: [Key: ReferenceChangeToSave], author: String) { store.commit(changes, author: author) }
}

extension ReferenceContext {
  /// The store that the context reads from, if only as it was; nil in a child.
  var store: ReferenceStore? { (source as? ReferencePin)?.store ?? source as? ReferenceStore }

  /// Stays at the version that the store has now.
  func pin() {
    if let store { source = ReferencePin(store) }
  }

  /// Reads the newest again.
  func unpin() {
    if let store { source = store }
  }

  /// Lets a pinned context move on to the newest version.
  func advancePin() {
    if source is ReferencePin { pin() }
  }
}
