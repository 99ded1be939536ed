import HeartwoodModel
import HeartwoodStore

/// An object in live results, with its sort keys.
struct LiveEntry {
  let object: ManagedObject
  var keys: LiveKeys
  /// The version of the record that the object had when it was last reported; nil if it never was, or if it had no
  /// record.
  var seen: RecordVersion?

  init(_ match: LiveQuery.Match) {
    object = match.object
    keys = match.keys
    seen = match.seen
  }
}

/// A version of a record.
struct RecordVersion {
  let group: RowGroup
  let row: Int
}

/// The sort keys of an object.
enum LiveKeys {
  /// The values of its row at the time of the fetch. They are read on demand.
  case row(part: Int, RowID)
  case values([PropertyValue])
}

/// The order of objects in live results.
struct LiveOrder {
  let sorts: [CompiledSort]
  /// The tables at the time of the fetch: they never change, so values that are read from them do not either.
  let parts: [FetchPart]
  private let places: [ObjectIdentifier: Int]

  init(_ pass: FetchPass) {
    sorts = pass.sorts
    parts = pass.parts
    places = Dictionary(
      parts.enumerated().map { (ObjectIdentifier($1.binding), $0) },
      uniquingKeysWith: { first, _ in first }
    )
  }

  func key(_ keys: LiveKeys, _ index: Int) -> PropertyValue {
    switch keys {
    case .row(let part, let row): parts[part].value(sorts[index].expression, row)
    case .values(let values): values[index]
    }
  }

  /// Returns a number below 0 if `left` comes first.
  func compare(_ left: LiveKeys, _ right: LiveKeys) -> Int {
    for (index, sort) in sorts.enumerated() {
      let order = sort.ordering.compare(key(left, index), key(right, index))
      if order != 0 { return sort.isAscending ? order : -order }
    }
    return 0
  }

  func comes(_ left: LiveEntry, before right: LiveEntry) -> Bool {
    let order = compare(left.keys, right.keys)
    return order != 0 ? order < 0 : place(of: left.object) < place(of: right.object)
  }

  /// Returns the place of an object among those with equal sort keys, as in a fetch: in the order of the stores, new
  /// ones last.
  private func place(of object: ManagedObject) -> (part: Int, record: UInt64) {
    if object.isInserted { return (.max, object.placeAmongNew) }
    let part = object.withBinding { places[ObjectIdentifier($0)] } ?? parts.count
    return (part, object.placeInStore)
  }

  /// Returns the version of the record that an object had when it was last reported, or else when it was fetched.
  func version(of entry: LiveEntry) -> RecordVersion? {
    if let seen = entry.seen { return seen }
    guard case .row(let part, let row) = entry.keys else { return nil }
    return parts[part].version(of: row)
  }

  /// Returns whether an object has the values that it had when it was last reported, apart from the context's own
  /// changes.
  func isAsTold(_ entry: LiveEntry) -> Bool {
    guard let told = version(of: entry), let current = entry.object.recordVersion else { return false }
    if told.group === current.group, told.row == current.row { return true }
    return entry.object.withBinding { binding in
      binding.hasSameValues(told.row, of: told.group, current.row, of: current.group)
    }
  }
}

extension ManagedObject {
  /// The version of the record that the object has, or would read if it is a fault; nil for a new object.
  final var recordVersion: RecordVersion? {
    (isFault ? binding.liveGroup(of: rowID) : group).map { RecordVersion(group: $0, row: rowID.row) }
  }

  /// A number by which new objects are sorted in the order of their insertion.
  fileprivate final var placeAmongNew: UInt64 {
    managedObjectContext?.pending.inserted.slot(of: knownID).map { UInt64($0) } ?? .max
  }

  /// A number by which objects are sorted in the order of the store.
  fileprivate final var placeInStore: UInt64 {
    withBinding { $0.hasRow(rowID) ? $0.table.lastingPlace(of: rowID) : UInt64(rowID.rawValue) }
  }
}

// MARK: LiveSection

/// The values that identify a section and determine its place.
struct LiveSectionKey {
  let order: PropertyValue
  let name: PropertyValue
}

/// The order of sections.
struct LiveSectionOrder {
  let ordering: SortOrdering
  let isAscending: Bool
  private static let byName = SortOrdering(.value)

  /// Returns a number below 0 if `left` comes first, 0 if both are the same section.
  func compare(_ left: LiveSectionKey, _ right: LiveSectionKey) -> Int {
    let order = ordering.compare(left.order, right.order)
    if order != 0 { return isAscending ? order : -order }
    return Self.byName.compare(left.name, right.name)
  }
}

/// Consecutive objects in live results.
final class LiveChunk {
  /// The greatest number of objects.
  static let capacity = 512

  unowned let section: LiveSection
  var entries: ContiguousArray<LiveEntry> {
    didSet { ids = nil }
  }
  /// The index of the first object in its section, when the list was last numbered.
  var start = 0
  /// The ids of the objects, once they have been requested.
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
  /// The index of the section, and that of its first object among all, when the list was last numbered.
  var ordinal = 0
  var start = 0
  /// Whether the chunks have their indices.
  var isNumbered = true

  init(_ key: LiveSectionKey) {
    self.key = key
  }

  /// Assigns the indices of the chunks.
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

// MARK: RelatedValues

/// The last known values of related objects that the results depend on. Only changes to these values can affect the
/// results.
struct RelatedValues {
  private let dependencies: FetchDependencies
  private var seen: [ManagedObject: [Int: PropertyValue]] = [:]

  init(_ dependencies: FetchDependencies, in context: ManagedObjectContext) {
    self.dependencies = dependencies
    if dependencies.isEmpty { return }
    for object in context.pending.updated.objects + context.pending.deleted.objects { note(object) }
  }

  private mutating func note(_ object: ManagedObject) {
    let ordinals = ordinals(object)
    if !ordinals.isEmpty { noteSeen(object, Self.values(object, ordinals)) }
  }

  /// Notes the values of an object on which the results depend. A deleted object has none, so that it counts as changed
  /// when it comes back as it was.
  private mutating func noteSeen(_ object: ManagedObject, _ values: [Int: PropertyValue]) {
    seen[object] = object.isDeleted ? [:] : values
  }

  private func ordinals(_ object: ManagedObject) -> Set<Int> {
    dependencies.paths(to: object.entity).reduce(into: []) { $0.formUnion($1.ordinals) }
  }

  private static func values(_ object: ManagedObject, _ ordinals: Set<Int>) -> [Int: PropertyValue] {
    Dictionary(uniqueKeysWithValues: ordinals.map { ($0, object.value(at: $0)) })
  }

  /// Returns the objects that depend on `object`, which has changed; nil if they cannot be determined.
  ///
  /// - Parameter isRenewal: whether the object may be of another version of its record than before.
  mutating func dependents(
    of object: ManagedObject,
    isRenewal: Bool,
    in context: ManagedObjectContext
  ) -> [ManagedObject]? {
    if dependencies.isOpaque { return nil }
    let paths = dependencies.paths(to: object.entity)
    if paths.isEmpty { return [] }
    let changed = changes(of: object, isRenewal: isRenewal)
    var dependents: [ManagedObject] = []
    for path in paths where object.isDeleted || !path.ordinals.isDisjoint(with: changed) {
      guard let origins = dependencies.origins(of: object, path, in: context) else { return nil }
      dependents += origins
    }
    return dependents
  }

  /// Returns the ordinals of the properties that have changed since the results have last read the object.
  private mutating func changes(of object: ManagedObject, isRenewal: Bool) -> Set<Int> {
    let ordinals = ordinals(object)
    let values = Self.values(object, ordinals)
    defer { noteSeen(object, values) }
    if let old = seen[object] { return ordinals.filter { old[$0] != values[$0] } }
    if isRenewal || object.isInserted || object.isDeleted { return ordinals }
    return ordinals.filter { object.committedValue(at: $0) != values[$0] }
  }
}
