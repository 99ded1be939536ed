import HeartwoodModel
import HeartwoodTesting

// Indexes of several properties and of some records, and what they are asked for.

extension QueryFixture {
  static func compoundIndexes() throws -> [FetchIndexDescription] {
    let down = FetchIndexElementDescription(.property("i16"), isAscending: false)
    let up = ["dbl", "full"].map { FetchIndexElementDescription(.property($0)) }
    return [
      FetchIndexDescription(name: "flag, i32, str", properties: ["flag", "i32", "str"]),
      FetchIndexDescription(name: "list, date", properties: ["list", "date"]),
      FetchIndexDescription(name: "next, dec, data", properties: ["next", "dec", "data"]),
      FetchIndexDescription(name: "uuid, flt, i64, other, i32", properties: ["uuid", "flt", "i64", "other", "i32"]),
      FetchIndexDescription(name: "i16 down, dbl, full", elements: [down] + up),
      FetchIndexDescription(
        name: "full of the flagged",
        elements: [FetchIndexElementDescription(.property("full"))],
        partialIndexPredicate: try FetchPredicate(format: "flag == YES")
      ),
      FetchIndexDescription(
        name: "str, i64 of the positive",
        elements: ["str", "i64"].map { FetchIndexElementDescription(.property($0)) },
        partialIndexPredicate: try FetchPredicate(format: "full > 0 AND i32 != nil")
      ),
    ]
  }

  /// Conditions that an index of several properties or some records answers in part, and a sort that it may have the order of.
  mutating func indexedQuery() throws -> (predicate: FetchPredicate, sorts: [FetchSortDescriptor]) {
    let indexes = try Self.compoundIndexes()
    let index = indexes[number(0...(indexes.count - 1))]
    let names = index.elements.compactMap(\.propertyName)
    let pointCount = number(0...names.count)
    var terms = names.prefix(pointCount).map { FetchPredicate.comparison(point($0)) }
    if pointCount < names.count, number(0...1) == 0 { terms += range(names[pointCount]) }
    if let condition = index.partialIndexPredicate, number(0...5) > 0 { terms.append(condition) }
    if number(0...2) == 0 { terms.append(predicate(depth: 1)) }
    if number(0...2) == 0 { terms.reverse() }
    let isTurned = number(0...1) == 0
    let sorts = index.elements.dropFirst(number(0...1) == 0 ? pointCount : number(0...names.count))
      .compactMap { element -> FetchSortDescriptor? in
        guard let name = element.propertyName, let type = item.property(named: name)?.attribute?.type, type != .binary
        else { return nil }
        let isOdd = number(0...7) == 0
        return FetchSortDescriptor(name, ascending: (element.isAscending != isTurned) != isOdd)
      }
    return (.and(terms), sorts)
  }

  /// A property that is one value, or one of a few.
  private mutating func point(_ name: String) -> FetchComparison {
    let isSeveral = number(0...3) == 0
    let values = (0..<(isSeveral ? 3 : 1)).map { _ in operand(name) }
    return FetchComparison(.key(name), isSeveral ? .in : .equalTo, isSeveral ? .aggregate(values) : values[0])
  }

  private mutating func operand(_ name: String) -> FetchExpression {
    if number(0...6) == 0 { return .constant(.null) }
    guard let type = item.property(named: name)?.attribute?.type else { return .value(id(name)) }
    return .constant(value(of: type))
  }

  /// A property that lies between two values, or beyond one.
  private mutating func range(_ name: String) -> [FetchPredicate] {
    guard let type = item.property(named: name)?.attribute?.type, type != .binary, type != .boolean else { return [] }
    let comparators: [FetchComparison.Comparator] = [.greaterThan, .lessThanOrEqualTo]
    return comparators.prefix(number(1...2)).map { comparator in
      .comparison(FetchComparison(.key(name), comparator, .constant(value(of: type))))
    }
  }
}
