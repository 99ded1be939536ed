import Foundation
import RecordService

/// A store as the server has it: what it is now, and what it was some saves ago, for those who are still reading that.
struct StoredRecords {
  private(set) var current: RecordsOfVersion
  private var former: [RecordsOfVersion] = []
  /// The saves that were made last, so that a request which is repeated is not made twice.
  private var saves: [UUID] = []

  /// How many versions are kept.
  private static let memory = 50

  init(_ head: StoreHead) {
    current = RecordsOfVersion(head)
  }

  /// What the store was at a version; nil if that is forgotten.
  func version(_ number: UInt64) -> RecordsOfVersion? {
    number == current.head.version ? current : former.last { $0.head.version == number }
  }

  /// Makes a save as a whole, if the store has the version that it is based on, and tells whether it was made, now or by an earlier request.
  mutating func make(_ message: SaveMessage, ifVersionIs tag: String?) -> Bool {
    if saves.contains(message.id) { return true }
    guard tag == "\"\(current.head.version)\"" else { return false }
    former = (former + [current]).suffix(Self.memory)
    saves = (saves + [message.id]).suffix(Self.memory)
    current.make(message)
    return true
  }
}

/// The records of one version of a store.
struct RecordsOfVersion {
  private(set) var head: StoreHead
  private var records: [RecordName: Record] = [:]
  /// The names of the records of each entity, in the order in which they were inserted.
  private var order: [String: [RecordName]] = [:]

  init(_ head: StoreHead) {
    self.head = head
  }

  func count(of entity: String) -> Int { order[entity]?.count ?? 0 }

  func page(of entity: String, from start: Int, _ size: Int) -> Page {
    let names = order[entity] ?? []
    let first = min(max(start, 0), names.count)
    let end = min(first + size, names.count)
    return Page(records: names[first..<end].compactMap { records[$0] }, next: end < names.count ? end : nil)
  }

  func records(_ references: [String], of entity: String) -> Page {
    let names = references.map { RecordName(entity: entity, reference: $0) }
    return Page(records: names.compactMap { records[$0] }, next: nil)
  }

  fileprivate mutating func make(_ message: SaveMessage) {
    head.version += 1
    if let metadata = message.metadata { head.metadata = metadata }
    for record in message.inserted {
      records[record.name] = record
      order[record.name.entity, default: []].append(record.name)
    }
    for change in message.updated {
      records[change.name]?.version = change.version
      records[change.name]?.values.merge(change.values) { $1 }
      records[change.name]?.links.merge(change.links) { $1 }
    }
    for name in message.deleted { records[name] = nil }
    let deleted = Set(message.deleted)
    for entity in Set(message.deleted.map(\.entity)) { order[entity]?.removeAll(where: deleted.contains) }
  }
}
