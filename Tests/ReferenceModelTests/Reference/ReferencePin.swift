import HeartwoodModel

/// A store as it was at one time. What is saved goes to the store.
final class ReferencePin: ReferenceSource {
  let store: ReferenceStore
  private let records: [Key: ReferenceRecord]
  /// All records that there have been up to then.
  private let knownKeys: Set<Key>

  init(_ store: ReferenceStore) {
    self.store = store
    records = store.records
    knownKeys = store.knownKeys
  }

  /// Whether a record of the store was not there yet.
  func isLater(_ key: Key) -> Bool { store.knownKeys.contains(key) && !knownKeys.contains(key) }

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
    if let store { read(ReferencePin(store)) }
  }

  /// Reads the newest again.
  func unpin() {
    if let store { read(store) }
  }

  /// Reads another version. Records that it has not yet are gone, and others are there again.
  func read(_ version: any ReferenceSource) {
    source = version
    var found: [Key] = []
    for (key, object) in objects where !object.isInserted {
      if let pin = version as? ReferencePin, pin.isLater(key) { lose(key) } else if find(key) { found.append(key) }
    }
    // What was taken away from an object while its record was missing is not its any more.
    found.sorted().forEach(dropRefused)
  }

  /// Whether the context has gone back to a version that has not the record yet.
  func isLater(_ key: Key) -> Bool {
    if let parent = source as? ReferenceContext { return parent.isLater(key) }
    return (source as? ReferencePin)?.isLater(key) ?? false
  }

  /// Lets a pinned context move on to the newest version.
  func advancePin() {
    if source is ReferencePin { pin() }
  }
}
