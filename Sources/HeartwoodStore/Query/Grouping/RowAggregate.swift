import HeartwoodFoundation
import HeartwoodModel

/// Computes an aggregate for many record groups at once, which are numbered from 0 on.
protocol RowAggregate: Sendable {
  /// Makes room for more groups.
  mutating func grow(to count: Int)
  /// Adds the rows, each to the group whose number is its code.
  mutating func add(_ rows: GroupRows)
  /// Adds the values of the group `theirs` of another aggregate to the group `ours`.
  mutating func merge(_ theirs: Int, of other: Self, into ours: Int)
  /// Returns the result for a group so far.
  func accumulator(_ group: Int) -> Accumulator
}

extension RowAggregate {
  /// Adds the values of another aggregate of the same type; `codes` are the numbers that its groups have here.
  mutating func merge(_ other: any RowAggregate, _ codes: [UInt32]) {
    guard let other = other as? Self else { return assertionFailure("Both are of the same aggregate.") }
    for (theirs, ours) in codes.enumerated() { merge(theirs, of: other, into: Int(ours)) }
  }
}

extension Array {
  /// Appends `element` until there are `count`.
  mutating func grow(to count: Int, with element: Element) {
    if self.count < count { append(contentsOf: repeatElement(element, count: count - self.count)) }
  }
}

/// Counts rows, or those that have a value of a property.
struct RowCount: RowAggregate {
  let ordinal: Int?
  private var counts: [Int64] = []

  init(_ ordinal: Int?) { self.ordinal = ordinal }

  mutating func grow(to count: Int) { counts.grow(to: count, with: 0) }

  mutating func add(_ rows: GroupRows) {
    counts.withUnsafeMutableBufferPointer { counts in
      if let ordinal {
        rows.forEachValue(of: ordinal) { code, _ in counts[code] &+= 1 }
      } else {
        for code in rows.codes { counts[Int(code)] &+= 1 }
      }
    }
  }

  mutating func merge(_ theirs: Int, of other: Self, into ours: Int) { counts[ours] += other.counts[theirs] }

  func accumulator(_ group: Int) -> Accumulator { .count(counts[group]) }
}

/// The sum and the number of the values of a group.
private struct Total<Number: AdditiveArithmetic & Sendable>: Sendable {
  var sum = Number.zero
  var count: Int64 = 0

  static func += (left: inout Total, right: Total) {
    left.sum += right.sum
    left.count += right.count
  }
}

/// Computes sums and averages of integers and booleans.
struct IntegerSum: RowAggregate {
  let ordinal: Int
  let isAverage: Bool
  private var totals: [Total<Int128>] = []

  init(_ ordinal: Int, isAverage: Bool) {
    self.ordinal = ordinal
    self.isAverage = isAverage
  }

  mutating func grow(to count: Int) { totals.grow(to: count, with: Total()) }

  mutating func add(_ rows: GroupRows) {
    let view = rows.group.unsafeViews[ordinal]
    switch view.kind {
    case .bits: add(rows) { view.unsafeBoolean($0) ? 1 : 0 }
    case .int16: add(rows) { Int64(view.unsafeInt16($0)) }
    case .int32: add(rows) { Int64(view.unsafeInt32($0)) }
    default: add(rows) { view.unsafeInteger($0) }
    }
  }

  @inline(__always)
  private mutating func add(_ rows: GroupRows, _ number: (Int) -> Int64) {
    totals.withUnsafeMutableBufferPointer { totals in
      rows.forEachValue(of: ordinal) { code, row in
        // There are no more than 2^32 rows of 64 bits each: the sum fits.
        totals[code].sum &+= Int128(number(row))
        totals[code].count &+= 1
      }
    }
  }

  mutating func merge(_ theirs: Int, of other: Self, into ours: Int) { totals[ours] += other.totals[theirs] }

  func accumulator(_ group: Int) -> Accumulator {
    var sum = NumberSum()
    sum.add(totals[group].sum)
    return isAverage ? .average(sum, count: totals[group].count) : .sum(sum)
  }
}

/// Computes sums and averages of floating-point numbers.
struct DoubleSum: RowAggregate {
  let ordinal: Int
  let isAverage: Bool
  private var totals: [Total<Double>] = []

  init(_ ordinal: Int, isAverage: Bool) {
    self.ordinal = ordinal
    self.isAverage = isAverage
  }

  mutating func grow(to count: Int) { totals.grow(to: count, with: Total()) }

  mutating func add(_ rows: GroupRows) {
    let view = rows.group.unsafeViews[ordinal]
    totals.withUnsafeMutableBufferPointer { totals in
      rows.forEachValue(of: ordinal) { code, row in
        totals[code].sum += view.unsafeFloatingPoint(row)
        totals[code].count &+= 1
      }
    }
  }

  mutating func merge(_ theirs: Int, of other: Self, into ours: Int) { totals[ours] += other.totals[theirs] }

  func accumulator(_ group: Int) -> Accumulator {
    var sum = NumberSum()
    if totals[group].count > 0 { sum.add(totals[group].sum) }
    return isAverage ? .average(sum, count: totals[group].count) : .sum(sum)
  }
}

/// Computes an aggregate that has no faster form: values in boxes, evaluated row by row.
struct EvaluatedAggregate: RowAggregate {
  private let plan: CompiledAggregate
  private let records: QueryRecords
  private var accumulators: [Accumulator] = []

  init(_ plan: CompiledAggregate, _ records: QueryRecords) {
    self.plan = plan
    self.records = records
  }

  mutating func grow(to count: Int) { accumulators.grow(to: count, with: Accumulator(plan)) }

  mutating func add(_ rows: GroupRows) {
    for (row, code) in zip(rows.rows, rows.codes) {
      accumulators[Int(code)].add(records.value(plan.operand, RowID(group: rows.ordinal, row: Int(row))))
    }
  }

  mutating func merge(_ theirs: Int, of other: Self, into ours: Int) {
    accumulators[ours].merge(other.accumulators[theirs])
  }

  func accumulator(_ group: Int) -> Accumulator { accumulators[group] }
}

// MARK: RowExtreme

extension Optional where Wrapped: Comparable {
  /// Sets this to `number` if that is less, or greater, than the present number.
  @inline(__always)
  fileprivate mutating func take(_ number: Wrapped, isLeast: Bool) {
    guard let known = self, isLeast ? known <= number : known >= number else {
      self = number
      return
    }
  }
}

/// Finds the least or greatest integers.
struct IntegerExtreme: RowAggregate {
  let ordinal: Int
  let isLeast: Bool
  private var best: [Int64?] = []

  init(_ ordinal: Int, isLeast: Bool) {
    self.ordinal = ordinal
    self.isLeast = isLeast
  }

  mutating func grow(to count: Int) { best.grow(to: count, with: nil) }

  mutating func add(_ rows: GroupRows) {
    let view = rows.group.unsafeViews[ordinal]
    best.withUnsafeMutableBufferPointer { best in
      rows.forEachValue(of: ordinal) { code, row in
        best[code].take(view.unsafeInteger(row), isLeast: isLeast)
      }
    }
  }

  mutating func merge(_ theirs: Int, of other: Self, into ours: Int) {
    if let number = other.best[theirs] { best[ours].take(number, isLeast: isLeast) }
  }

  func accumulator(_ group: Int) -> Accumulator {
    .extreme(best[group].map(PropertyValue.integer) ?? .null, isLeast: isLeast)
  }
}

/// Finds the least or greatest floating-point numbers or dates. A NaN is neither.
struct DoubleExtreme: RowAggregate {
  let ordinal: Int
  let type: AttributeType
  let isLeast: Bool
  private var best: [Double?] = []

  init(_ ordinal: Int, _ type: AttributeType, isLeast: Bool) {
    self.ordinal = ordinal
    self.type = type
    self.isLeast = isLeast
  }

  mutating func grow(to count: Int) { best.grow(to: count, with: nil) }

  mutating func add(_ rows: GroupRows) {
    let view = rows.group.unsafeViews[ordinal]
    best.withUnsafeMutableBufferPointer { best in
      rows.forEachValue(of: ordinal) { code, row in
        let number = view.unsafeFloatingPoint(row)
        if !number.isNaN { best[code].take(number, isLeast: isLeast) }
      }
    }
  }

  mutating func merge(_ theirs: Int, of other: Self, into ours: Int) {
    if let number = other.best[theirs] { best[ours].take(number, isLeast: isLeast) }
  }

  func accumulator(_ group: Int) -> Accumulator {
    .extreme(best[group].map(value) ?? .null, isLeast: isLeast)
  }

  private func value(_ number: Double) -> PropertyValue {
    switch type {
    case .date: .date(Date(timeIntervalSinceReferenceDate: number))
    case .float: .float(Float(number))
    default: .double(number)
    }
  }
}

extension QueryRecords {
  /// Returns the type of aggregate that computes `plan` for rows.
  func aggregate(_ plan: CompiledAggregate) -> any RowAggregate {
    if plan.countsRecords { return RowCount(nil) }
    if let property = plan.operand.ownProperty, !property.isToMany, let aggregate = Self.aggregate(plan, property) {
      return aggregate
    }
    return EvaluatedAggregate(plan, self)
  }

  private static func aggregate(_ plan: CompiledAggregate, _ property: CompiledProperty) -> (any RowAggregate)? {
    let ordinal = property.ordinal
    switch (plan.function, property.attributeType) {
    case (.min, let type), (.max, let type): return extreme(ordinal, type, isLeast: plan.function == .min)
    case _ where plan.isDistinct: return nil
    case (.count, _): return RowCount(ordinal)
    case (.sum, let type?), (.average, let type?): return sum(ordinal, type, isAverage: plan.function == .average)
    default: return nil
    }
  }

  private static func sum(_ ordinal: Int, _ type: AttributeType, isAverage: Bool) -> (any RowAggregate)? {
    switch type {
    case .integer16, .integer32, .integer64, .boolean: IntegerSum(ordinal, isAverage: isAverage)
    case .double, .float: DoubleSum(ordinal, isAverage: isAverage)
    default: nil
    }
  }

  private static func extreme(_ ordinal: Int, _ type: AttributeType?, isLeast: Bool) -> (any RowAggregate)? {
    switch type {
    case .integer16, .integer32, .integer64: IntegerExtreme(ordinal, isLeast: isLeast)
    case .double?: DoubleExtreme(ordinal, .double, isLeast: isLeast)
    case .float?: DoubleExtreme(ordinal, .float, isLeast: isLeast)
    case .date?: DoubleExtreme(ordinal, .date, isLeast: isLeast)
    default: nil
    }
  }
}
