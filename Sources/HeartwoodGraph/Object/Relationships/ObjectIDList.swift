import HeartwoodModel

/// Ids in the order in which they came, each once. Asking, appending and removing are O(1) amortised.
struct ObjectIDList {
  private var slots: [ManagedObjectID?]
  private var positions: [ManagedObjectID: Int]

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
  }

  mutating func remove(_ id: ManagedObjectID) {
    guard let position = positions.removeValue(forKey: id) else { return }
    slots[position] = nil
    if slots.count > 16, slots.count > 2 * positions.count { self = ObjectIDList(ids) }
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
