import HeartwoodModel

/// The update of a list by one event: first computed, then applied, then reported.
struct LiveListUpdate {
  /// An object that was in the list and stays there.
  private struct KeptEntry {
    let match: LiveQuery.Match
    let entry: LiveEntry
    var from: Place
    /// Whether it was removed and inserted again, since its keys have changed.
    let isRelocated: Bool
    /// Whether it is reported although it keeps its place.
    let isChanged: Bool
  }

  /// A place in the list at one moment.
  struct Place {
    let section: LiveSection
    let path: FetchedResultsIndexPath
    /// The index among all objects.
    let index: Int
  }

  private let list: LiveList
  private var removed: [(object: ManagedObject, from: Place)] = []
  private var inserted: [LiveQuery.Match] = []
  private var keptEntries: [KeptEntry] = []

  init(_ list: LiveList) {
    self.list = list
  }
}

// MARK: Finding out

extension LiveListUpdate {
  /// Whether nothing is added, removed, or changed.
  var isEmpty: Bool { removed.isEmpty && inserted.isEmpty && keptEntries.isEmpty }

  /// Notes an object that may have been affected.
  ///
  /// - Parameters:
  ///   - match: the match of the object; nil if it does not match.
  ///   - isChanged: whether it is reported although it keeps its place.
  ///   - isMisplaced: whether its place has changed although its keys are the same.
  mutating func note(
    _ object: ManagedObject,
    _ match: LiveQuery.Match?,
    isChanged: Bool,
    isMisplaced: Bool = false
  ) {
    let place = place(of: object)
    switch (place, match) {
    case (nil, nil): break
    case (nil, let match?): inserted.append(match)
    case (let place?, nil): removed.append((object, place))
    case (let place?, let match?):
      guard let entry = list.entry(of: object) else { break }
      let isRelocated =
        isMisplaced || list.order.compare(entry.keys, match.keys) != 0
        || list.sectionOrder.compare(place.section.key, match.section) != 0
      if isChanged || isRelocated {
        // An object that is inserted again because of its keys has changed.
        let isChanged = isChanged || !isMisplaced
        keptEntries.append(
          KeptEntry(match: match, entry: entry, from: place, isRelocated: isRelocated, isChanged: isChanged)
        )
      }
    }
  }

  private func place(of object: ManagedObject) -> Place? {
    guard let place = list.place(of: object) else { return nil }
    let path = FetchedResultsIndexPath(section: place.section.ordinal, item: place.item)
    return Place(section: place.section, path: path, index: place.index)
  }
}

// MARK: Doing

extension LiveListUpdate {
  /// Applies the update to the list, and returns the changes to be reported.
  func apply<Object>() -> FetchedResultsChanges<Object> {
    let oldIDs = removed.map(\.object.objectID)
    for removal in removed { list.remove(removal.object) }
    for keptEntry in keptEntries {
      if keptEntry.isRelocated {
        list.remove(keptEntry.entry.object)
      } else {
        list.replace(LiveEntry(keptEntry.match))
      }
    }
    var arrivals: [LiveSection] = []
    for match in inserted { insert(LiveEntry(match), match.section, &arrivals) }
    for keptEntry in keptEntries where keptEntry.isRelocated {
      insert(LiveEntry(keptEntry.match), keptEntry.match.section, &arrivals)
    }
    let gone = list.isSectioned ? emptySections : []
    let deletions = gone.map { FetchedResultsSectionChange.delete(name: $0.name, from: $0.ordinal) }
    list.remove(gone)
    list.number()
    let insertions = arrivals.sorted { $0.ordinal < $1.ordinal }.map {
      FetchedResultsSectionChange.insert(name: $0.name, at: $0.ordinal)
    }
    return told(deletions + insertions, oldIDs)
  }

  /// The sections that objects have left and that are empty now.
  private var emptySections: [LiveSection] {
    var seen: Set<ObjectIdentifier> = []
    return (removed.map(\.from.section) + keptEntries.map(\.from.section))
      .filter { $0.count == 0 && seen.insert(ObjectIdentifier($0)).inserted }
      .sorted { $0.ordinal < $1.ordinal }
  }

  private func insert(_ entry: LiveEntry, _ key: LiveSectionKey, _ arrivals: inout [LiveSection]) {
    let count = list.sections.count
    let section = list.section(of: key)
    if list.sections.count > count { arrivals.append(section) }
    list.insert(entry, into: section)
  }
}

// MARK: Reporting

extension LiveListUpdate {
  private func told<Object>(
    _ sections: [FetchedResultsSectionChange],
    _ removedIDs: [ManagedObjectID]
  ) -> FetchedResultsChanges<Object> {
    let arrivals = inserted.compactMap { match in place(of: match.object).map { (object: match.object, to: $0) } }
      .sorted { $0.to.index < $1.to.index }
    let departures = zip(removed, removedIDs).map { (object: $0.object, id: $1, from: $0.from) }
      .sorted { $0.from.index < $1.from.index }
    var moves: [(object: ManagedObject, from: Place, to: Place)] = []
    var updates: [(object: ManagedObject, from: Place, to: Place)] = []
    let kept = stayingInPlace(arrivals.map(\.to.index))
    for (number, keptEntry) in keptEntries.enumerated() {
      guard let to = place(of: keptEntry.entry.object) else { continue }
      let change = (object: keptEntry.entry.object, from: keptEntry.from, to: to)
      if !kept.contains(number) { moves.append(change) } else if keptEntry.isChanged { updates.append(change) }
    }
    moves.sort { $0.to.index < $1.to.index }
    updates.sort { $0.to.index < $1.to.index }
    func typed(_ object: ManagedObject) -> Object? { object as? Object }
    var changes = FetchedResultsChanges<Object>(difference: difference(departures, arrivals, moves))
    changes.sections = sections
    changes.objects =
      departures.compactMap { change in typed(change.object).map { .delete($0, from: change.from.path) } }
      + arrivals.compactMap { change in typed(change.object).map { .insert($0, at: change.to.path) } }
      + moves.compactMap { change in typed(change.object).map { .move($0, from: change.from.path, to: change.to.path) }
      }
      + updates.compactMap { change in
        typed(change.object).map { .update($0, from: change.from.path, to: change.to.path) }
      }
    return changes
  }

  /// Returns the ``stays`` that need not be reported as moves: once all others are removed and reinserted, they are
  /// already in place.
  private func stayingInPlace(_ arrivals: [Int]) -> Set<Int> {
    let relocated = keptEntries.indices.filter { keptEntries[$0].isRelocated }
    var kept = Set(keptEntries.indices.filter { !keptEntries[$0].isRelocated })
    if relocated.isEmpty { return kept }
    let to = relocated.map { place(of: keptEntries[$0].entry.object) }
    let oldTouched = (removed.map(\.from.index) + relocated.map { keptEntries[$0].from.index }).sorted()
    let newTouched = (arrivals + to.compactMap { $0?.index }).sorted()
    // The position of an object relative to the others: how many of them come before it.
    func gap(_ index: Int, _ touched: [Int]) -> Int { index - touched.firstPlace { $0 >= index } }
    var candidates: [(keptEntry: Int, from: Int, to: Int)] = []
    for (keptEntry, to) in zip(relocated, to) {
      guard let to, to.section === keptEntries[keptEntry].from.section else { continue }
      let from = keptEntries[keptEntry].from
      if gap(from.index, oldTouched) == gap(to.index, newTouched) {
        candidates.append((keptEntry, from.index, to.index))
      }
    }
    candidates.sort { $0.to < $1.to }
    for place in LongestIncrease.places(in: candidates.map(\.from)) { kept.insert(candidates[place].keptEntry) }
    return kept
  }

  private func difference(
    _ departures: [(object: ManagedObject, id: ManagedObjectID, from: Place)],
    _ arrivals: [(object: ManagedObject, to: Place)],
    _ moves: [(object: ManagedObject, from: Place, to: Place)]
  ) -> CollectionDifference<ManagedObjectID> {
    var changes: [CollectionDifference<ManagedObjectID>.Change] = departures.map {
      .remove(offset: $0.from.index, element: $0.id, associatedWith: nil)
    }
    changes += arrivals.map { .insert(offset: $0.to.index, element: $0.object.objectID, associatedWith: nil) }
    for move in moves {
      let id = move.object.objectID
      changes.append(.remove(offset: move.from.index, element: id, associatedWith: move.to.index))
      changes.append(.insert(offset: move.to.index, element: id, associatedWith: move.from.index))
    }
    guard let difference = CollectionDifference(changes) else {
      ProgrammerError.stop("Each place is left once and taken once.")
    }
    return difference
  }
}

// MARK: LongestIncrease

/// The longest subsequence of elements that are in ascending order already.
enum LongestIncrease {
  /// Returns the indices of a longest ascending subsequence of `numbers`, which are all different. O(n log n).
  static func places(in numbers: [Int]) -> [Int] {
    // For each length, the index of the last element of the subsequence of that length with the least last element.
    var ends: [Int] = []
    var predecessors: [Int?] = []
    for (place, number) in numbers.enumerated() {
      let length = ends.firstPlace { numbers[$0] >= number }
      predecessors.append(length > 0 ? ends[length - 1] : nil)
      if length < ends.count { ends[length] = place } else { ends.append(place) }
    }
    var places: [Int] = []
    var next = ends.last
    while let place = next {
      places.append(place)
      next = predecessors[place]
    }
    return places.reversed()
  }
}
