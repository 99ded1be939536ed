import HeartwoodModel

/// A fetch with a condition, an order and limits.
struct FetchQuery: Equatable {
  let entity: String
  let condition: FetchCondition?
  /// The attribute that the results are sorted by; nil where they are in no order that the reference knows.
  let sort: String?
  let isAscending: Bool
  let offset: Int
  let limit: Int?
}

/// What the objects that are fetched have to meet.
indirect enum FetchCondition: Equatable {
  case compare(String, Comparator, PropertyValue)
  /// A relationship leads to an object.
  case leads(String, Key)
  case not(FetchCondition)
  case and(FetchCondition, FetchCondition)
  case or(FetchCondition, FetchCondition)

  enum Comparator: String, CaseIterable {
    case equal, notEqual, less, notLess
    case contains, beginsWith
  }
}

extension FetchCondition {
  /// The objects that it names.
  var keys: [Key] {
    switch self {
    case .compare: []
    case .leads(_, let key): [key]
    case .not(let condition): condition.keys
    case .and(let left, let right), .or(let left, let right): left.keys + right.keys
    }
  }
}

extension FetchQuery: CustomStringConvertible {
  var description: String {
    """
    \(entity) where \(condition.map { "\($0)" } ?? "true") by \(sort ?? "nothing")\(isAscending ? "" : " descending") \
    from \(offset), \(limit.map { "\($0) at most" } ?? "all")
    """
  }
}

/// What a fetch with a condition found; in the reference all that meet the condition, of which several may be alike in the order.
struct FetchResult: Equatable {
  let keys: [Key]
  /// In the reference, the values by which the objects are sorted.
  var values: [PropertyValue] = []
}

extension FetchResult {
  /// Whether it is a part of `all` that `query` asks for.
  func isPart(of all: FetchResult, _ query: FetchQuery) -> Bool {
    let wanted = all.values.dropFirst(query.offset).prefix(query.limit ?? .max)
    let values = Dictionary(uniqueKeysWithValues: zip(all.keys, all.values))
    return Set(keys).count == keys.count && keys.map { values[$0] } == wanted.map(Optional.some)
  }
}
