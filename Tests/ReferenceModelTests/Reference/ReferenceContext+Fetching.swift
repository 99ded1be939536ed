import HeartwoodModel

extension ReferenceContext {
  /// All that meet the condition of a query, in its order: as the source has them now, those with changes as they are here.
  func fetch(_ query: FetchQuery, _ entity: EntityDescription) -> FetchResult {
    var found: [(key: Key, value: PropertyValue)] = []
    for key in fetch(entity).sorted() {
      guard let values = fetchedValues(key), query.condition.map({ meets($0, values) }) ?? true else { continue }
      found.append((key, query.sort.flatMap { values[$0]?.attribute } ?? .null))
    }
    if query.sort != nil {
      found.sort { query.isAscending ? comes($0.value, before: $1.value) : comes($1.value, before: $0.value) }
    }
    return FetchResult(keys: found.map(\.key), values: found.map(\.value))
  }

  private func fetchedValues(_ key: Key) -> [String: ReferenceValue]? {
    if let object = objects[key], object.hasChanges { return object.values }
    return source.record(key)?.values
  }

  private func meets(_ condition: FetchCondition, _ values: [String: ReferenceValue]) -> Bool {
    switch condition {
    case .compare(let name, let comparator, let value):
      compare(values[name]?.attribute ?? .null, comparator, value)
    case .leads(let name, let key): values[name]?.keys.contains(key) ?? false
    case .not(let condition): !meets(condition, values)
    case .and(let left, let right): meets(left, values) && meets(right, values)
    case .or(let left, let right): meets(left, values) || meets(right, values)
    }
  }

  /// Nothing is equal to nothing, and not less than, nor in, anything.
  private func compare(
    _ value: PropertyValue,
    _ comparator: FetchCondition.Comparator,
    _ other: PropertyValue
  ) -> Bool {
    switch comparator {
    case .equal: return value == other
    case .notEqual: return value != other
    case .less, .notLess:
      if value.isNull || other.isNull { return false }
      return comes(value, before: other) == (comparator == .less)
    case .contains, .beginsWith:
      guard case .string(let text) = value, case .string(let part) = other else { return false }
      let (scalars, wanted) = (Array(text.unicodeScalars), Array(part.unicodeScalars))
      let places = comparator == .contains ? Array(0...scalars.count) : [0]
      return places.contains { scalars[$0...].starts(with: wanted) }
    }
  }

  /// Nothing comes first.
  private func comes(_ value: PropertyValue, before other: PropertyValue) -> Bool {
    switch (value, other) {
    case (.null, let other): !other.isNull
    case (.integer(let left), .integer(let right)): left < right
    case (.string(let left), .string(let right)): left.unicodeScalars.lexicographicallyPrecedes(right.unicodeScalars)
    default: false
    }
  }
}

extension ReferenceValue {
  fileprivate var attribute: PropertyValue? {
    if case .attribute(let value) = self { value } else { nil }
  }
}
