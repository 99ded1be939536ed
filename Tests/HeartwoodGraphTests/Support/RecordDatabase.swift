import Foundation
import HeartwoodModel
import HeartwoodStore
import Synchronization

/// A database as several processes may share it: what ``RecordStore`` keeps its records in.
final class RecordDatabase: Sendable {
  struct Record: Sendable {
    var version: UInt64
    /// By property name. Relationships name records by entity and number.
    var values: [String: Value]
  }

  enum Value: Sendable, Equatable {
    case attribute(PropertyValue)
    case links([Link])
  }

  struct Link: Sendable, Equatable {
    let entity: String
    let number: Int64
  }

  struct Change: Sendable {
    let changeCount: UInt64
    let entity: EntityDescription
    let number: Int64
  }

  struct Content: Sendable {
    var metadata: StoreMetadata? { didSet { changeCount += 1 } }
    /// The model that the records were first saved with.
    var model: ManagedObjectModel?
    var records: [String: [Int64: Record]] = [:] { didSet { changeCount += 1 } }
    var nextNumber: Int64 = 1
    private(set) var changeCount: UInt64 = 0
    /// The changes of records, in order, each with the count after it.
    private(set) var changes: [Change] = []

    mutating func noteChange(of number: Int64, _ entity: EntityDescription) {
      changes.append(Change(changeCount: changeCount, entity: entity, number: number))
    }
  }

  private let content = Mutex(Content())
  /// Held by who saves.
  private let writing = Mutex(())
  /// What the next save of whomever fails with.
  let failure = Mutex<PersistenceError?>(nil)
  /// What the next reading of records by their references fails with.
  let readFailure = Mutex<PersistenceError?>(nil)
  /// The numbers of records that cannot be read.
  let unreadable = Mutex<Set<Int64>>([])
  /// How many stores are connected.
  let connectionCount = Mutex(0)
  /// What an author may do wrong: references are one too few, and records are read with all others of their entity.
  let givesTooFewReferences = Mutex(false)
  let readsTooMuch = Mutex(false)
  /// Whether the database finds, groups and changes records itself, and how often it has found some.
  let answers = Mutex(false)
  let answerCount = Mutex(0)
  /// How often all records of some entities were read.
  let loadCount = Mutex(0)
  /// How many records were asked for by their references.
  let readCount = Mutex(0)

  var current: Content { content.withLock { $0 } }

  /// Lets `body` change a copy while nobody else does, and keeps it unless `body` throws.
  func change<Result>(_ body: (borrowing Mutex<Content>) throws -> Result) throws -> Result {
    try writing.withLock { _ in
      let draft = Mutex(current)
      let result = try body(draft)
      if let failure = failure.withLock({ $0.take() }) { throw failure }
      let changed = draft.withLock { $0 }
      content.withLock { $0 = changed }
      return result
    }
  }

  func takeNumbers(_ count: Int) -> Range<Int64> {
    content.withLock { content in
      let first = content.nextNumber
      content.nextNumber += Int64(count)
      return first..<content.nextNumber
    }
  }
}

extension StoreOptionKey<RecordDatabase?> {
  /// Where the records are. It must be given.
  static let recordDatabase = StoreOptionKey("recordDatabase")
}
