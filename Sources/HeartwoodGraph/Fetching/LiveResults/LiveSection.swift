import HeartwoodModel

/// By what a section is told from others, and has its place.
struct LiveSectionKey {
  let order: PropertyValue
  let name: PropertyValue
}

/// The order of sections.
struct LiveSectionOrder {
  let ordering: SortOrdering
  let isAscending: Bool
  private static let byName = SortOrdering(.value)

  /// Below 0 where `left` comes first, 0 where both are the same section.
  func compare(_ left: LiveSectionKey, _ right: LiveSectionKey) -> Int {
    let order = ordering.compare(left.order, right.order)
    if order != 0 { return isAscending ? order : -order }
    return Self.byName.compare(left.name, right.name)
  }
}

/// Objects that follow each other in live results.
final class LiveChunk {
  /// How many objects there are at most.
  static let capacity = 512

  unowned let section: LiveSection
  var entries: ContiguousArray<LiveEntry> {
    didSet { ids = nil }
  }
  /// The place of the first object in its section, when the list was numbered last.
  var start = 0
  /// The ids of the objects, once they have been asked for.
  private var ids: ContiguousArray<ManagedObjectID>?

  init(_ section: LiveSection, _ entries: ContiguousArray<LiveEntry>) {
    self.section = section
    self.entries = entries
  }

  var objectIDs: ContiguousArray<ManagedObjectID> {
    if let ids { return ids }
    let made = ContiguousArray(entries.map(\.object.objectID))
    ids = made
    return made
  }

  func forgetIDs() { ids = nil }
}

/// A section of live results: its objects, in chunks.
final class LiveSection {
  let key: LiveSectionKey
  var chunks: [LiveChunk] = []
  var count = 0
  /// The place among the sections, and that of the first object among all, when the list was numbered last.
  var ordinal = 0
  var start = 0
  /// Whether the chunks know their places.
  var isNumbered = true

  init(_ key: LiveSectionKey) {
    self.key = key
  }

  /// Counts the places of the chunks.
  func number() {
    if isNumbered { return }
    var start = 0
    for chunk in chunks {
      chunk.start = start
      start += chunk.entries.count
    }
    isNumbered = true
  }
}
