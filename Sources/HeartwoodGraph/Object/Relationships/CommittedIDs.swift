import HeartwoodModel

/// The ids that a to-many relationship was read with, held against the list of those that it has now.
///
/// Both are looked through once. After that the list tells what comes and goes, and asking whether they are the same is O(1) amortised.
struct CommittedIDs {
  /// The ids in their order; none where that means nothing.
  private let ordered: [ManagedObjectID]
  private let places: [ManagedObjectID: Int]
  /// How many of the ids the list lacks.
  private var missingCount: Int
  /// How many of the first ids are known to come one after another in the list.
  private var sortedCount = 0

  /// - Parameter positions: where the ids of the list are in it.
  init(_ ids: [ManagedObjectID], isOrdered: Bool, positions: [ManagedObjectID: Int]) {
    ordered = isOrdered ? ids : []
    places = Dictionary(zip(ids, ids.indices)) { first, _ in first }
    missingCount = places.keys.count { positions[$0] == nil }
  }
}

extension CommittedIDs {
  /// Notes that an id has come to the end of the list.
  mutating func noteArrival(of id: ManagedObjectID) {
    if places[id] != nil { missingCount -= 1 }
  }

  /// Notes that an id has gone from the list.
  mutating func noteLoss(of id: ManagedObjectID) {
    guard let place = places[id] else { return }
    missingCount += 1
    sortedCount = min(sortedCount, place)
  }

  /// Whether a list of as many ids has the same ones, in the same order where that matters.
  mutating func areSame(positions: [ManagedObjectID: Int]) -> Bool {
    missingCount == 0 && comeOneAfterAnother(positions)
  }

  /// Each id is passed once for each time that it has come: it is looked at again only where one before it was away meanwhile, which is
  /// behind it since and so stops the search, until the id itself has come anew.
  private mutating func comeOneAfterAnother(_ positions: [ManagedObjectID: Int]) -> Bool {
    var last = sortedCount > 0 ? positions[ordered[sortedCount - 1]] : nil
    while sortedCount < ordered.count, let position = positions[ordered[sortedCount]] {
      if let last, position <= last { return false }
      last = position
      sortedCount += 1
    }
    return sortedCount == ordered.count
  }
}
