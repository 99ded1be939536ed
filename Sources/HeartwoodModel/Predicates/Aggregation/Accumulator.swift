/// What an aggregate knows of the records that it has seen. Two that saw different records can be put together.
package enum Accumulator: Sendable {
  case count(Int64)
  case sum(NumberSum)
  case average(NumberSum, count: Int64)
  /// The least value, or the greatest, so far.
  case extreme(PropertyValue, isLeast: Bool)
  /// All values, where a function has to see them at once.
  case values(FetchFunction, [PropertyValue])
  case distinct(FetchFunction, Set<PropertyValue>)

  package init(_ plan: AggregatePlan) {
    switch plan.function {
    case .min, .max: self = .extreme(.null, isLeast: plan.function == .min)
    case let function where plan.isDistinct: self = .distinct(function, [])
    case .count: self = .count(0)
    case .sum: self = .sum(NumberSum())
    case .average: self = .average(NumberSum(), count: 0)
    case let function: self = .values(function, [])
    }
  }

  /// Takes the value of one more record. `nil` is not counted.
  package mutating func add(_ value: PropertyValue) {
    if value.isNull { return }
    switch self {
    case .count(let count): self = .count(count + 1)
    case .sum(var sum):
      if let number = NumericValue(value) { sum.add(number) }
      self = .sum(sum)
    case .average(var sum, let count):
      guard let number = NumericValue(value) else { return }
      sum.add(number)
      self = .average(sum, count: count + 1)
    case .extreme(let best, let isLeast):
      if Self.isBetter(value, than: best, isLeast) { self = .extreme(value, isLeast: isLeast) }
    case .values(let function, var values):
      // The case lets go of the array before it grows, so that it is not copied.
      self = .count(0)
      values.append(value)
      self = .values(function, values)
    case .distinct(let function, var values):
      self = .count(0)
      values.insert(value)
      self = .distinct(function, values)
    }
  }

  /// Takes what another has seen, which is of the same aggregate.
  package mutating func merge(_ other: Accumulator) {
    switch (self, other) {
    case (.count(let a), .count(let b)): self = .count(a + b)
    case (.sum(var sum), .sum(let more)):
      sum.add(more)
      self = .sum(sum)
    case (.average(var sum, let a), .average(let more, let b)):
      sum.add(more)
      self = .average(sum, count: a + b)
    case (.extreme, .extreme(let value, _)): add(value)
    case (.values(let function, let a), .values(_, let b)): self = .values(function, a + b)
    case (.distinct(let function, let a), .distinct(_, let b)): self = .distinct(function, a.union(b))
    default: assertionFailure("Both are of the same aggregate.")
    }
  }

  /// A NaN is never the least or the greatest.
  private static func isBetter(_ value: PropertyValue, than best: PropertyValue, _ isLeast: Bool) -> Bool {
    if value.isNaN { return false }
    if best.isNull { return true }
    return ScalarComparison([]).order(value, best).map { isLeast ? $0 < 0 : $0 > 0 } ?? false
  }

  package var result: PropertyValue {
    switch self {
    case .count(let count): .integer(count)
    case .sum(let sum): sum.value.propertyValue
    case .average(let sum, let count): Statistics.average(sum.value, count)
    case .extreme(let best, _): best
    case .values(let function, let values): Statistics.apply(function, values)
    case .distinct(let function, let values): Statistics.apply(function, Array(values))
    }
  }
}
