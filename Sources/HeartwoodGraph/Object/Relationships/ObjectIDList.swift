import HeartwoodModel

/// Ids in the order of their insertion, each once. Lookups, appending and removing are O(1) amortised.
struct ObjectIDList {
  private var slots: [ManagedObjectID?]
  private var positions: [ManagedObjectID: Int]
  /// The comparison with the committed ids, if these were found to differ; nil if they were not compared yet, or if
  /// there are so few ids that they are compared each time.
  private var committed: CommittedIDs?
  /// The number of ids up to which comparing each time is as fast as remembering a comparison.
  private static let few = 16

  /// Creates a list of `ids` without duplicates.
  init(_ ids: [ManagedObjectID] = []) {
    slots = []
    slots.reserveCapacity(ids.count)
    positions = Dictionary(minimumCapacity: ids.count)
    for id in ids { append(id) }
  }
}

extension ObjectIDList {
  var count: Int { positions.count }
  var ids: [ManagedObjectID] { slots.compactMap(\.self) }

  func contains(_ id: ManagedObjectID) -> Bool { positions[id] != nil }

  /// Appends an id unless it is in the list.
  mutating func append(_ id: ManagedObjectID) {
    guard positions[id] == nil else { return }
    positions[id] = slots.count
    slots.append(id)
    committed?.noteArrival(of: id)
  }

  mutating func remove(_ id: ManagedObjectID) {
    guard let position = positions.removeValue(forKey: id) else { return }
    slots[position] = nil
    committed?.noteLoss(of: id)
    if slots.count > Self.few, slots.count > 2 * positions.count { closeGaps() }
  }

  private mutating func closeGaps() {
    let committed = committed
    self = ObjectIDList(ids)
    // The ids are still in the same order, and the comparison depends on nothing else.
    self.committed = committed
  }

  /// Applies the additions and removals between two lists to this one; additions are appended. O(n).
  mutating func follow(from former: [ManagedObjectID], to newest: [ManagedObjectID]) {
    let (before, after) = (Set(former), Set(newest))
    for id in former where !after.contains(id) { remove(id) }
    for id in newest where !before.contains(id) { append(id) }
  }

  /// Inserts those of `returning` that were in `former`, each after the id before it there that is still in the list.
  /// O(n).
  mutating func putBack(_ returning: Set<ManagedObjectID>, asIn former: [ManagedObjectID]) {
    var leading: [ManagedObjectID] = []
    var followers: [ManagedObjectID: [ManagedObjectID]] = [:]
    var last: ManagedObjectID?
    for id in former {
      if contains(id) {
        last = id
      } else if returning.contains(id) {
        if let last { followers[last, default: []].append(id) } else { leading.append(id) }
      }
    }
    if leading.isEmpty, followers.isEmpty { return }
    self = ObjectIDList(leading + ids.flatMap { [$0] + (followers[$0] ?? []) })
  }
}

// MARK: Committed ids

extension ObjectIDList {
  /// Returns whether the ids are those that the relationship was read with, which must be as many; for an ordered
  /// relationship, whether they are in the same order.
  ///
  /// Once many ids were found to differ, this is O(1) amortised until the list is replaced or ``forgetCommitted()`` is
  /// called.
  ///
  /// - Parameter read: the ids that the relationship was read with, the same each time.
  mutating func isCommitted(_ read: @autoclosure () -> [ManagedObjectID], isOrdered: Bool) -> Bool {
    if let isSame = committed?.areSame(positions: positions) { return isSame }
    let read = read()
    let isSame = isOrdered ? read == ids : read.allSatisfy(contains)
    if !isSame, read.count > Self.few {
      committed = CommittedIDs(read, isOrdered: isOrdered, positions: positions)
    }
    return isSame
  }

  /// Discards the comparison with the committed ids, since these are about to change.
  mutating func forgetCommitted() { committed = nil }
}

// MARK: CommittedIDs

/// The ids that a to-many relationship was read with, compared with its present list.
///
/// Both are compared once. After that, additions and removals are noted, and the comparison is O(1) amortised.
struct CommittedIDs {
  /// The ids in their order; empty if the relationship is not ordered.
  private let ordered: [ManagedObjectID]
  private let places: [ManagedObjectID: Int]
  /// The number of ids that the list lacks.
  private var missingCount: Int
  /// The number of ids at the beginning that are known to be in ascending positions in the list.
  private var sortedCount = 0

  /// - Parameter positions: the positions of the ids in the list.
  init(_ ids: [ManagedObjectID], isOrdered: Bool, positions: [ManagedObjectID: Int]) {
    ordered = isOrdered ? ids : []
    places = Dictionary(zip(ids, ids.indices)) { first, _ in first }
    missingCount = places.keys.count { positions[$0] == nil }
  }
}

extension CommittedIDs {
  /// Notes that an id was appended to the list.
  mutating func noteArrival(of id: ManagedObjectID) {
    if places[id] != nil { missingCount -= 1 }
  }

  /// Notes that an id was removed from the list.
  mutating func noteLoss(of id: ManagedObjectID) {
    guard let place = places[id] else { return }
    missingCount += 1
    sortedCount = min(sortedCount, place)
  }

  /// Returns whether a list of as many ids has the same ones, in the same order if it is ordered.
  mutating func areSame(positions: [ManagedObjectID: Int]) -> Bool {
    missingCount == 0 && comeOneAfterAnother(positions)
  }

  /// Each id is passed once for each time that it was appended: it is checked again only if one before it was removed
  /// and appended meanwhile, which is after it since and stops the search, until the id itself is appended again.
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
