import Heartwood
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A transaction as what it says, whatever it is made of.
struct HistoryRecord: Equatable {
  let number: Int64
  let seconds: Double
  let author: String?
  let contextName: String?
  let changes: [PersistentHistoryChange]

  init(_ transaction: PersistentHistoryTransaction) {
    number = transaction.transactionNumber
    seconds = transaction.timestamp.timeIntervalSinceReferenceDate
    author = transaction.author
    contextName = transaction.contextName
    changes = transaction.changes
  }
}

extension OpenStore {
  /// The transactions after a token.
  func history(after token: PersistentHistoryToken? = nil) throws -> [HistoryRecord] {
    try coordinator.execute(.fetchHistory(after: token), in: [store]).map(HistoryRecord.init)
  }

  func token() throws -> PersistentHistoryToken? {
    try coordinator.currentPersistentHistoryToken(fromStores: [store])
  }

  /// Saves three transactions: insertions by one author, then an update, and then a deletion, by another. Returns the names of the
  /// attributes that were updated.
  @discardableResult
  func saveHistory(seed: UInt64) throws -> Set<String> {
    var generator = SeededGenerator(seed: seed)
    let context = makeContext()
    (context.transactionAuthor, context.name) = ("first", "kit")
    let entity = try unwrap(concreteEntities.first, "an entity")
    let objects = try (0..<3).map { _ in try context.insert(entityName: entity.name) }
    for object in objects { try setRandomAttributes(of: object, &generator) }
    try context.save()
    context.transactionAuthor = "second, ä😀"
    let updated = try changeAttributes(of: objects[0], &generator)
    try context.save()
    context.delete(objects[1])
    try context.save()
    return updated
  }

  /// Gives attributes random values until one differs from what it was; returns the names of those that do.
  private func changeAttributes(
    of object: ManagedObject,
    _ generator: inout SeededGenerator
  ) throws -> Set<String> {
    let names = object.entity.attributes.map(\.name)
    let before = try names.map { try object.propertyValue(forKey: $0) }
    while true {
      try setRandomAttributes(of: object, &generator)
      let after = try names.map { try object.propertyValue(forKey: $0) }
      let changed = names.indices.filter { before[$0] != after[$0] }.map { names[$0] }
      if !changed.isEmpty { return Set(changed) }
    }
  }
}
