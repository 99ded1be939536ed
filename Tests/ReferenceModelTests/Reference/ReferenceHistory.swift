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

  mutating func append(_ objects: [Key: ReferenceObject], author: String) {
    lastNumber += 1
    for (key, object) in objects { entities[key] = object.entity }
    transactions.append(
      ReferenceTransaction(number: lastNumber, author: author, changes: objects.mapValues(\.historyChange))
    )
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

extension ReferenceObject {
  /// What a save of the object leaves in the history.
  fileprivate var historyChange: ReferenceChange {
    guard let base else { return .insert }
    if !isDeleted { return .update(Set(changedValues.keys)) }
    let preserved = entity.attributes.filter(\.preservesValueInHistoryOnDeletion).map(\.name)
    return .delete(base.values.filter { preserved.contains($0.key) })
  }
}

extension HistoryRequest: CustomStringConvertible {
  var description: String {
    "history after \(number.map(String.init) ?? "nothing") of author \(author ?? "any") and entity \(entity ?? "any")"
  }
}
