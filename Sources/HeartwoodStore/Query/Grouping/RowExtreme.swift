import HeartwoodModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Optional where Wrapped: Comparable {
  /// Becomes `number` where that is less, or greater, than what is known.
  @inline(__always)
  fileprivate mutating func take(_ number: Wrapped, isLeast: Bool) {
    guard let known = self, isLeast ? known <= number : known >= number else {
      self = number
      return
    }
  }
}

/// The least or greatest integers.
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

/// The least or greatest floating-point numbers or dates. A NaN is neither.
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
  /// What makes the aggregate of rows.
  func aggregate(_ plan: AggregatePlan) -> any RowAggregate {
    if plan.countsRecords { return RowCount(nil) }
    if let property = plan.operand.ownProperty, !property.isToMany, let aggregate = Self.aggregate(plan, property) {
      return aggregate
    }
    return EvaluatedAggregate(plan, self)
  }

  private static func aggregate(_ plan: AggregatePlan, _ property: PlanProperty) -> (any RowAggregate)? {
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
