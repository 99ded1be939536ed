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

// MARK: NumberSum

/// The sum of numbers of any kind, to which more can be added in any order.
///
/// Integers are added exactly, and only their whole sum has to fit; where it does not, it becomes a double.
package struct NumberSum: Sendable {
  private var integers: Int128 = 0
  private var others: NumericValue?

  package init() {}

  package mutating func add(_ number: NumericValue) {
    if case .integer(let integer) = number {
      integers += Int128(integer)
      return
    }
    others = others.map { NumericValue.apply(.add, $0, number) ?? $0 } ?? number
  }

  /// Adds a sum of integers.
  package mutating func add(_ sum: Int128) { integers += sum }

  /// Adds a sum of doubles.
  package mutating func add(_ sum: Double) { add(.double(sum)) }

  mutating func add(_ sum: NumberSum) {
    integers += sum.integers
    if let others = sum.others { add(others) }
  }

  package var value: NumericValue {
    let whole = Int64(exactly: integers).map(NumericValue.integer) ?? .double(Double(integers))
    return others.map { NumericValue.apply(.add, $0, whole) ?? $0 } ?? whole
  }
}

// MARK: AggregatePlan

/// What is made of the records of a group: their number, a sum and the like.
package struct AggregatePlan: Sendable {
  /// One of the functions that take a collection.
  package let function: FetchFunction
  /// What is taken of each record.
  package let operand: PlanExpression
  /// Whether values that are the same count once.
  package let isDistinct: Bool

  package init(_ function: FetchFunction, of operand: PlanExpression, isDistinct: Bool = false) {
    self.function = function
    self.operand = operand
    self.isDistinct = isDistinct
  }

  /// Whether it is the number of records, of which each counts.
  package var countsRecords: Bool {
    if case .subject = operand, function == .count { !isDistinct } else { false }
  }
}

// MARK: RecordGroup

/// Records that have the same values of some expressions, and what is known of them.
package struct RecordGroup: Sendable {
  /// The values that the records have in common.
  package let keys: [PropertyValue]
  package var accumulators: [Accumulator]

  package init(keys: [PropertyValue], accumulators: [Accumulator]) {
    self.keys = keys
    self.accumulators = accumulators
  }

  /// What an expression over the group reads.
  package var values: GroupValues { GroupValues(keys + accumulators.map(\.result)) }

  /// The values of expressions over the group. Those that only name a key or an aggregate are read as they are.
  package func values(of plans: [PlanExpression]) -> [PropertyValue] {
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
  private let grouping: SelectionPlan.Grouping
  /// Where the group of some keys is; made when it is needed.
  private var places: [[PropertyValue]: Int]?

  /// - Parameter groups: of which no two have the same keys.
  package init(_ groups: [RecordGroup] = [], by grouping: SelectionPlan.Grouping) {
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
