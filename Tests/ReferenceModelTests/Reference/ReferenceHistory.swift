import HeartwoodModel
import HeartwoodStore

/// What a save did to one record.
enum ReferenceChange: Equatable {
  case insert
  /// The properties that have new values.
  case update(Set<String>)
  /// The values that outlive the deletion.
  case delete([String: ReferenceValue])
}

/// What one save did.
struct ReferenceTransaction: Equatable {
  let number: Int
  let author: String
  var changes: [Key: ReferenceChange]
}

/// Which transactions are asked for.
struct HistoryRequest {
  /// Those after this one; nil for all that are kept.
  var number: Int?
  /// Those of this author only.
  var author: String?
  /// Changes of this entity only.
  var entity: String?
}

/// Every save of a store, but for those that were purged.
struct ReferenceHistory {
  private(set) var transactions: [ReferenceTransaction] = []
  private(set) var lastNumber = 0
  private var lastPurgedNumber = 0
  private var entities: [Key: EntityDescription] = [:]

  mutating func append(_ changes: [Key: ReferenceChangeToSave], author: String) {
    lastNumber += 1
    for case (let key, .insert(let record)) in changes { entities[key] = record.entity }
    transactions.append(
      ReferenceTransaction(number: lastNumber, author: author, changes: changes.mapValues(\.historyChange))
    )
  }

  mutating func rename(_ key: Key, to other: Key) {
    entities[other] = entities[key]
    for index in transactions.indices {
      transactions[index].changes[other] = transactions[index].changes.removeValue(forKey: key)
    }
  }

  mutating func purge(through number: Int) {
    transactions.removeAll { $0.number <= number }
    lastPurgedNumber = max(lastPurgedNumber, number)
  }

  func fetch(_ request: HistoryRequest, _ schema: Schema) -> Outcome {
    if let number = request.number, number < lastPurgedNumber { return .refused(.historyTokenExpired) }
    var found = transactions.filter { transaction in
      transaction.number > request.number ?? 0 && (request.author ?? transaction.author) == transaction.author
    }
    if let entity = request.entity.map(schema.entity) {
      for index in found.indices {
        found[index].changes = found[index].changes.filter { entities[$0.key]?.isKind(of: entity) == true }
      }
      found.removeAll { $0.changes.isEmpty }
    }
    return .history(found)
  }
}

extension ReferenceChangeToSave {
  /// What the change leaves in the history.
  fileprivate var historyChange: ReferenceChange {
    switch self {
    case .insert: return .insert
    case .update(let values): return .update(Set(values.keys))
    case .delete(let record):
      let preserved = record.entity.attributes.filter(\.preservesValueInHistoryOnDeletion).map(\.name)
      return .delete(record.values.filter { preserved.contains($0.key) })
    }
  }
}

extension HistoryRequest: CustomStringConvertible {
  var description: String {
    "history after \(number.map(String.init) ?? "nothing") of author \(author ?? "any") and entity \(entity ?? "any")"
  }
}
