import HeartwoodModel

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Which transactions of the histories of stores are asked for.
///
///     var request = PersistentHistoryChangeRequest.fetchHistory(after: token)
///     request.excludedAuthors = ["import"]
///     let transactions = try coordinator.execute(request)
public struct PersistentHistoryChangeRequest: Sendable {
  enum Start: Sendable {
    case beginning
    case token(PersistentHistoryToken)
    case date(Date)
  }

  let start: Start
  /// Only the transactions of these authors; nil means all, those without an author too.
  public var authors: Set<String>?
  /// Not the transactions of these authors: one's own, for example.
  public var excludedAuthors: Set<String> = []
  /// Only changes of this entity and its subentities, and only transactions that have some; nil means all.
  public var entityName: String?

  private init(_ start: Start) {
    self.start = start
  }
}

extension PersistentHistoryChangeRequest {
  /// Asks for the transactions after a token; nil asks for all that are kept, and so does a token for a store that it says nothing
  /// about.
  public static func fetchHistory(after token: PersistentHistoryToken?) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(token.map(Start.token) ?? .beginning)
  }

  /// Asks for the transactions of the same store that came after one.
  public static func fetchHistory(after transaction: PersistentHistoryTransaction) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(.token(transaction.token))
  }

  /// Asks for the transactions that were saved later than a date, by the clock of whoever saved.
  public static func fetchHistory(after date: Date) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(.date(date))
  }
}

// MARK: What belongs to it

extension PersistentHistoryChangeRequest {
  /// Whether every transaction behind the start belongs to the request, so that they can be counted without being read.
  var isUnfiltered: Bool {
    if case .date = start { return false }
    return authors == nil && excludedAuthors.isEmpty && entityName == nil
  }

  /// Whether a transaction belongs to the request, as far as can be told without its changes.
  func includes(_ entry: HistoryEntry) -> Bool {
    if case .date(let date) = start, entry.seconds <= date.timeIntervalSinceReferenceDate { return false }
    if let author = entry.author, excludedAuthors.contains(author) { return false }
    guard let authors else { return true }
    return entry.author.map(authors.contains) ?? false
  }

  /// Whether changes of an entity belong to the request.
  func includes(_ entity: EntityDescription) -> Bool {
    guard let entityName else { return true }
    var ancestor: EntityDescription? = entity
    while let current = ancestor {
      if current.name == entityName { return true }
      ancestor = current.superentity
    }
    return false
  }
}
