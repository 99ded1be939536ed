import HeartwoodModel
import HeartwoodStore

/// An object in live results, and by what it has its place.
struct LiveEntry {
  let object: ManagedObject
  /// Objects that the order leaves alike stand in the order in which they came.
  let number: UInt64
  var keys: LiveKeys
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
    return order != 0 ? order < 0 : left.number < right.number
  }
}
