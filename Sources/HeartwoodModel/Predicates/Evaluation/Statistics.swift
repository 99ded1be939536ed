/// What is made of a collection of numbers. `nil` is left out, but counted by a count.
package enum Statistics {
  static func apply(_ symbol: CollectionOperator, _ values: [PropertyValue]) -> PropertyValue {
    switch symbol {
    case .count: .integer(Int64(values.count))
    case .sum: apply(FetchFunction.sum, values)
    case .min: apply(FetchFunction.min, values)
    case .max: apply(FetchFunction.max, values)
    case .average: apply(FetchFunction.average, values)
    case .union, .distinctUnion: .null
    }
  }

  package static func apply(_ function: FetchFunction, _ values: [PropertyValue]) -> PropertyValue {
    switch function {
    case .count: return .integer(Int64(values.count))
    case .min: return extreme(values) { $0 < 0 }
    case .max: return extreme(values) { $0 > 0 }
    default: break
    }
    let numbers = values.compactMap { NumericValue($0) }
    if function == .sum { return sum(numbers).propertyValue }
    guard !numbers.isEmpty else { return .null }
    switch function {
    case .average: return average(numbers)
    case .median: return median(numbers)
    case .mode: return mode(numbers)
    case .standardDeviation: return .double(standardDeviation(numbers))
    default: return .null
    }
  }

  /// The sum, which is 0 where there are no numbers.
  static func sum(_ numbers: [NumericValue]) -> NumericValue {
    var sum = NumberSum()
    for number in numbers { sum.add(number) }
    return sum.value
  }

  private static func average(_ numbers: [NumericValue]) -> PropertyValue {
    average(sum(numbers), Int64(numbers.count))
  }

  /// The average of `count` numbers whose sum is `total`; nothing where there are none.
  static func average(_ total: NumericValue, _ count: Int64) -> PropertyValue {
    if count == 0 { return .null }
    guard case .decimal = total else { return .double(total.double / Double(count)) }
    return NumericValue.apply(.divide, total, .integer(count))?.propertyValue ?? .null
  }

  private static func median(_ numbers: [NumericValue]) -> PropertyValue {
    let sorted = numbers.filter { !$0.isNaN }.sorted { NumericValue.compare($0, $1) ?? 0 < 0 }
    guard !sorted.isEmpty else { return .null }
    let middle = sorted.count / 2
    if !sorted.count.isMultiple(of: 2) { return sorted[middle].propertyValue }
    return average([sorted[middle - 1], sorted[middle]])
  }

  private static func mode(_ numbers: [NumericValue]) -> PropertyValue {
    var counts: [PropertyValue: Int] = [:]
    for number in numbers { counts[number.propertyValue, default: 0] += 1 }
    let most = counts.values.max() ?? 0
    return extreme(counts.filter { $0.value == most }.map(\.key)) { $0 < 0 }
  }

  private static func standardDeviation(_ numbers: [NumericValue]) -> Double {
    let mean = numbers.reduce(0) { $0 + $1.double } / Double(numbers.count)
    let squares = numbers.reduce(0) { $0 + ($1.double - mean) * ($1.double - mean) }
    return (squares / Double(numbers.count)).squareRoot()
  }

  /// The value that comes before, or after, all others; nothing where there is none. A NaN is left out.
  private static func extreme(_ values: [PropertyValue], _ isBetter: (Int) -> Bool) -> PropertyValue {
    let comparison = ScalarComparison([])
    var best = PropertyValue.null
    for value in values where !value.isNull && !value.isNaN {
      if best.isNull || comparison.order(value, best).map(isBetter) ?? false { best = value }
    }
    return best
  }
}
