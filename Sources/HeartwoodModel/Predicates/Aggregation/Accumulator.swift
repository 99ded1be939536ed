/// The state of an aggregate over the records that it has counted. The states for different records can be merged.
///
///     let accumulator = Accumulator.average(sum, count: 3)
public enum Accumulator: Sendable {
  /// The number of values.
  case count(Int64)
  /// The sum of values.
  case sum(NumberSum)
  /// The sum of values, and their number.
  case average(NumberSum, count: Int64)
  /// The least or the greatest value; null if there is none.
  case extreme(PropertyValue, isLeast: Bool)
  /// All values, for a function that needs them at once.
  case values(FetchFunction, [PropertyValue])
  /// The different values, each of which counts once.
  case distinct(FetchFunction, Set<PropertyValue>)

  /// Makes the state before the first record.
  public init(_ plan: CompiledAggregate) {
    switch plan.function {
    case .min, .max: self = .extreme(.null, isLeast: plan.function == .min)
    case let function where plan.isDistinct: self = .distinct(function, [])
    case .count: self = .count(0)
    case .sum: self = .sum(NumberSum())
    case .average: self = .average(NumberSum(), count: 0)
    case let function: self = .values(function, [])
    }
  }

  /// Adds the value of one record. Null is not counted. O(1).
  public mutating func add(_ value: PropertyValue) {
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
      // The case releases the array before it grows, so that it is not copied.
      self = .count(0)
      values.append(value)
      self = .values(function, values)
    case .distinct(let function, var values):
      self = .count(0)
      values.insert(value)
      self = .distinct(function, values)
    }
  }

  /// Adds the records of another state, which must be of the same aggregate.
  public mutating func merge(_ other: Accumulator) {
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

  /// Returns whether a value replaces the least or greatest one so far. NaN never does.
  private static func isBetter(_ value: PropertyValue, than best: PropertyValue, _ isLeast: Bool) -> Bool {
    if value.isNaN { return false }
    if best.isNull { return true }
    return ScalarComparison([]).order(value, best).map { isLeast ? $0 < 0 : $0 > 0 } ?? false
  }

  /// The value of the aggregate over the records so far. For a function of all values, it is computed at each access.
  public var result: PropertyValue {
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

// MARK: NumberSum

/// A sum of numbers of any type, to which numbers can be added in any order.
///
/// Integers are added exactly. Only the final sum must fit into 64 bits; if it does not, it becomes a double.
public struct NumberSum: Sendable {
  private var integers: Int128 = 0
  private var others: NumericValue?

  /// Makes the sum of no numbers, which is 0.
  public init() {}

  package mutating func add(_ number: NumericValue) {
    if case .integer(let integer) = number {
      integers += Int128(integer)
      return
    }
    others = others.map { NumericValue.apply(.add, $0, number) ?? $0 } ?? number
  }

  /// Adds an integer, or a sum of integers.
  public mutating func add(_ sum: Int128) { integers += sum }

  /// Adds a double, or a sum of doubles.
  public mutating func add(_ sum: Double) { add(.double(sum)) }

  mutating func add(_ sum: NumberSum) {
    integers += sum.integers
    if let others = sum.others { add(others) }
  }

  package var value: NumericValue {
    let whole = Int64(exactly: integers).map(NumericValue.integer) ?? .double(Double(integers))
    return others.map { NumericValue.apply(.add, $0, whole) ?? $0 } ?? whole
  }
}

// MARK: CompiledAggregate

/// A value computed from the records of a group, such as their number or a sum.
public struct CompiledAggregate: Sendable {
  /// The function, one of those that take a collection.
  public let function: FetchFunction
  /// The value of each record.
  public let operand: CompiledExpression
  /// Whether equal values count once.
  public let isDistinct: Bool

  package init(_ function: FetchFunction, of operand: CompiledExpression, isDistinct: Bool = false) {
    self.function = function
    self.operand = operand
    self.isDistinct = isDistinct
  }

  /// Whether this is the number of records.
  public var countsRecords: Bool {
    if case .subject = operand, function == .count { !isDistinct } else { false }
  }
}

// MARK: CompiledGrouping

/// How records are grouped, checked against an entity.
public struct CompiledGrouping: Sendable {
  /// The values by which records are grouped. If there are none, all records are one group, which exists even if there
  /// are no records.
  public let keys: [CompiledExpression]
  /// The aggregates of each group.
  public let aggregates: [CompiledAggregate]
  /// The condition on groups; nil if there is none. Its variables are the keys, and then the aggregates.
  public let having: CompiledPredicate?

  package init(keys: [CompiledExpression], aggregates: [CompiledAggregate], having: CompiledPredicate? = nil) {
    self.keys = keys
    self.aggregates = aggregates
    self.having = having
  }
}

// MARK: RecordGroup

/// Records with the same keys, and their aggregates.
public struct RecordGroup: Sendable {
  /// The values that all records of the group have, in the order of ``CompiledGrouping/keys``.
  public let keys: [PropertyValue]
  /// The aggregates, in the order of ``CompiledGrouping/aggregates``.
  public package(set) var accumulators: [Accumulator]

  /// Makes a group of its keys and its aggregates.
  public init(keys: [PropertyValue], accumulators: [Accumulator]) {
    self.keys = keys
    self.accumulators = accumulators
  }

  /// The values that an expression over the group reads.
  package var values: GroupValues { GroupValues(keys + accumulators.map(\.result)) }

  /// Returns the values of expressions over the group. Those that are only a key or an aggregate are not evaluated.
  package func values(of plans: [CompiledExpression]) -> [PropertyValue] {
    var values: GroupValues?
    return plans.map { plan in
      if case .variable(let place) = plan {
        return place < keys.count ? keys[place] : accumulators[place - keys.count].result
      }
      let all = values ?? self.values
      values = all
      return all.value(plan)
    }
  }
}

/// Groups to which records are added, in the order in which each group was first met.
package struct RecordGroups {
  package private(set) var groups: [RecordGroup]
  private let grouping: CompiledGrouping
  /// The indexes of the groups by their keys; made when they are needed.
  private var places: [[PropertyValue]: Int]?

  /// Makes groups to which records can be added.
  ///
  /// - Parameter groups: groups with different keys.
  package init(_ groups: [RecordGroup] = [], by grouping: CompiledGrouping) {
    self.groups = groups
    self.grouping = grouping
  }

  /// Adds groups of other records.
  package mutating func merge(_ others: [RecordGroup]) {
    if groups.isEmpty, places == nil {
      groups = others
      return
    }
    for other in others {
      let place = place(of: other.keys)
      for index in other.accumulators.indices { groups[place].accumulators[index].merge(other.accumulators[index]) }
    }
  }

  /// Adds one record.
  package mutating func add<Source>(_ subject: Source.Subject, _ evaluator: PredicateEvaluator<Source>) {
    let place = place(of: grouping.keys.map { evaluator.value($0, subject).scalar })
    for (index, aggregate) in grouping.aggregates.enumerated() {
      groups[place].accumulators[index].add(evaluator.value(aggregate.operand, subject).scalar)
    }
  }

  /// Returns the index of the group with `keys`, and makes the group if there is none.
  private mutating func place(of keys: [PropertyValue]) -> Int {
    // If several groups have the same keys, the first of them gets the records.
    var places = places ?? Dictionary(groups.indices.map { (groups[$0].keys, $0) }) { first, _ in first }
    self.places = nil
    defer { self.places = places }
    if let place = places[keys] { return place }
    places[keys] = groups.count
    groups.append(RecordGroup(keys: keys, accumulators: grouping.aggregates.map(Accumulator.init)))
    return groups.count - 1
  }
}
