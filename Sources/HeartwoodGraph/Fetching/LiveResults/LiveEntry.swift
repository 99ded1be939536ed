import HeartwoodModel
import HeartwoodStore

/// An object in live results, and by what it has its place.
struct LiveEntry {
  let object: ManagedObject
  var keys: LiveKeys
  /// The version of the record that the object showed when something was told of it last; nil if nothing was, or if it had no record.
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

/// By what an object is sorted.
enum LiveKeys {
  /// What its row had when the results were fetched. It is read where it is needed.
  case row(part: Int, RowID)
  case values([PropertyValue])
}

/// The order of objects in live results.
struct LiveOrder {
  let sorts: [SortPlan]
  /// The tables as they were when the results were fetched: they never change, so what is read from them does not either.
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

  /// Below 0 where `left` comes first.
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

  /// Where an object is among those that the order leaves alike, as in a fetch: in the order of the stores, new ones last.
  private func place(of object: ManagedObject) -> (part: Int, record: UInt64) {
    if object.isInserted { return (.max, object.placeAmongNew) }
    let part = object.withBinding { places[ObjectIdentifier($0)] } ?? parts.count
    return (part, object.placeInStore)
  }

  /// The version of the record that an object showed when something was told of it last, or else when it was fetched.
  func version(of entry: LiveEntry) -> RecordVersion? {
    if let seen = entry.seen { return seen }
    guard case .row(let part, let row) = entry.keys else { return nil }
    return parts[part].version(of: row)
  }

  /// Whether an object has the values that it had when something was told of it last, but for changes of the context's own.
  func isAsTold(_ entry: LiveEntry) -> Bool {
    guard let told = version(of: entry), let current = entry.object.recordVersion else { return false }
    if told.group === current.group, told.row == current.row { return true }
    return entry.object.withBinding { binding in
      binding.hasSameValues(told.row, of: told.group, current.row, of: current.group)
    }
  }
}

extension ManagedObject {
  /// The version of the record that the object shows, or would show if it is a fault; nil for a new object.
  final var recordVersion: RecordVersion? {
    (isFault ? binding.liveGroup(of: rowID) : group).map { RecordVersion(group: $0, row: rowID.row) }
  }

  /// A number that is less for a new object that was inserted before another one.
  fileprivate final var placeAmongNew: UInt64 {
    managedObjectContext?.inserted.slot(of: knownID).map { UInt64($0) } ?? .max
  }

  /// A number that is less for an object whose record comes before another one in the order of the store.
  fileprivate final var placeInStore: UInt64 {
    withBinding { $0.hasRow(rowID) ? $0.table.lastingPlace(of: rowID) : UInt64(rowID.rawValue) }
  }
}
