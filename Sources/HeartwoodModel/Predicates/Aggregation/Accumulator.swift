/// The state of an aggregate over the records that it has seen. Two that saw different records can be merged.
///
///     let accumulator = Accumulator.average(sum, count: 3)
public enum Accumulator: Sendable {
  /// The number of values.
  case count(Int64)
  /// The sum of values.
  case sum(NumberSum)
  /// The sum of values, and their number.
  case average(NumberSum, count: Int64)
  /// The least value, or the greatest; null if there was none.
  case extreme(PropertyValue, isLeast: Bool)
  /// All values, for a function that has to see them at once.
  case values(FetchFunction, [PropertyValue])
  /// The different values, of which each counts once.
  case distinct(FetchFunction, Set<PropertyValue>)

  /// The state before the first record.
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

  /// Takes the value of one more record. Null is not counted. O(1).
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

  /// A NaN is never the least or the greatest.
  private static func isBetter(_ value: PropertyValue, than best: PropertyValue, _ isLeast: Bool) -> Bool {
    if value.isNaN { return false }
    if best.isNull { return true }
    return ScalarComparison([]).order(value, best).map { isLeast ? $0 < 0 : $0 > 0 } ?? false
  }

  /// The value of the aggregate.
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

/// A sum of numbers of any kind, to which more can be added in any order.
///
/// Integers are added exactly. Only the whole sum has to fit into 64 bits; if it does not, it becomes a double.
public struct NumberSum: Sendable {
  private var integers: Int128 = 0
  private var others: NumericValue?

  /// The sum of no numbers.
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

/// A value that is made of the records of a group: their number, a sum and the like.
public struct CompiledAggregate: Sendable {
  /// One of the functions that take a collection.
  public let function: FetchFunction
  /// The value of each record.
  public let operand: CompiledExpression
  /// Whether values that are the same count once.
  public let isDistinct: Bool

  package init(_ function: FetchFunction, of operand: CompiledExpression, isDistinct: Bool = false) {
    self.function = function
    self.operand = operand
    self.isDistinct = isDistinct
  }

  /// Whether it is the number of records.
  public var countsRecords: Bool {
    if case .subject = operand, function == .count { !isDistinct } else { false }
  }
}

// MARK: CompiledGrouping

/// How records become groups, checked against an entity.
public struct CompiledGrouping: Sendable {
  /// The values by which records are grouped. If there are none, all records are one group, which is there even if there are no records.
  public let keys: [CompiledExpression]
  /// The aggregates of each group.
  public let aggregates: [CompiledAggregate]
  /// The condition on groups; nil if all count. Its variables are the keys, and then the aggregates.
  public let having: CompiledPredicate?

  package init(keys: [CompiledExpression], aggregates: [CompiledAggregate], having: CompiledPredicate? = nil) {
    self.keys = keys
    self.aggregates = aggregates
    self.having = having
  }
}

// MARK: RecordGroup

/// Records that have the same keys, and their aggregates.
public struct RecordGroup: Sendable {
  /// The values that the records have in common, in the order of ``CompiledGrouping/keys``.
  public let keys: [PropertyValue]
  /// The aggregates, in the order of ``CompiledGrouping/aggregates``.
  public package(set) var accumulators: [Accumulator]

  /// Makes a group of its keys and its aggregates.
  public init(keys: [PropertyValue], accumulators: [Accumulator]) {
    self.keys = keys
    self.accumulators = accumulators
  }

  /// What an expression over the group reads.
  package var values: GroupValues { GroupValues(keys + accumulators.map(\.result)) }

  /// The values of expressions over the group. Those that only name a key or an aggregate are read as they are.
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

/// Groups to which more records come, in the order in which the groups were met first.
package struct RecordGroups {
  package private(set) var groups: [RecordGroup]
  private let grouping: CompiledGrouping
  /// Where the group of some keys is; made when it is needed.
  private var places: [[PropertyValue]: Int]?

  /// - Parameter groups: of which no two have the same keys.
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

  /// Where the group of `keys` is, which is made where there is none.
  private mutating func place(of keys: [PropertyValue]) -> Int {
    // Whoever made groups of the same keys: the first of them gets what comes.
    var places = places ?? Dictionary(groups.indices.map { (groups[$0].keys, $0) }) { first, _ in first }
    self.places = nil
    defer { self.places = places }
    if let place = places[keys] { return place }
    places[keys] = groups.count
    groups.append(RecordGroup(keys: keys, accumulators: grouping.aggregates.map(Accumulator.init)))
    return groups.count - 1
  }
}
