import HeartwoodModel

/// Ids in the order in which they came, each once. Asking, appending and removing are O(1) amortised.
struct ObjectIDList {
  private var slots: [ManagedObjectID?]
  private var positions: [ManagedObjectID: Int]
  /// What the ids were found to differ from; nil where they were not yet, or where there are so few that they are looked through each time.
  private var committed: CommittedIDs?
  /// How many ids are looked through as quickly as anything could be remembered of them.
  private static let few = 16

  /// The ids of `ids`, the first of those that are equal.
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

  /// Appends an id that is not there yet.
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
    // The ids are still in the same order, which is all that it knows of their positions.
    self.committed = committed
  }

  /// Lets what has come to another list, and gone from it, come and go here too; what comes is last. O(n).
  mutating func follow(from former: [ManagedObjectID], to newest: [ManagedObjectID]) {
    let (before, after) = (Set(former), Set(newest))
    for id in former where !after.contains(id) { remove(id) }
    for id in newest where !before.contains(id) { append(id) }
  }

  /// Puts those of `returning` back that were in `former`, each behind the one before it there that is still in the list. O(n).
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

// MARK: What was read

extension ObjectIDList {
  /// Whether the ids are those that the relationship was read with, of which there are as many; in the same order where that matters.
  ///
  /// Once many ids were found to differ, this is O(1) amortised until the list is made anew or told to forget what was read.
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

  /// Forgets what the relationship was read with, since that is about to be something else.
  mutating func forgetCommitted() { committed = nil }
}

// MARK: CommittedIDs

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
