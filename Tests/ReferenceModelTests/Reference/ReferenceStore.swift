import HeartwoodModel

/// A record as a store has it.
struct ReferenceRecord {
  let entity: EntityDescription
  var values: [String: ReferenceValue]
  /// How often the record has been saved.
  var version: Int
}

/// What is saved.
final class ReferenceStore {
  var records: [Key: ReferenceRecord] = [:]
  /// Nil where the store keeps none.
  var history: ReferenceHistory?

  func keys(of entity: EntityDescription) -> Set<Key> {
    Set(records.filter { $0.value.entity.isKind(of: entity) }.keys)
  }
}
