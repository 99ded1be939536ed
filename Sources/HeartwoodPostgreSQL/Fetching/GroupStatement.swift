import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// A statement that groups records, and how its columns are read.
struct GroupStatement {
  let query: FetchStatement
  fileprivate let keys: [GroupKey]
  fileprivate let aggregates: [GroupAggregate]

  /// Returns the groups of all rows; nil if two groups have the same keys, although SQL distinguishes them.
  func groups(_ result: PostgreSQLResult, _ fetch: GroupFetch) throws -> [RecordGroup]? {
    var groups: [RecordGroup] = []
    var seen: Set<[PropertyValue]> = []
    var areDistinct = true
    try result.forEachRow { row in
      var index = 0
      var values: [PropertyValue] = []
      for key in keys {
        values.append(try key.value(row, index, fetch))
        index += key.columns.count
      }
      var accumulators: [Accumulator] = []
      for aggregate in aggregates {
        accumulators.append(try aggregate.accumulator(row, index))
        index += aggregate.columns.count
      }
      areDistinct = seen.insert(values).inserted && areDistinct
      groups.append(RecordGroup(keys: values, accumulators: accumulators))
    }
    return areDistinct ? groups : nil
  }
}

// MARK: Keys

/// A key by which records are grouped, and how it is read.
private enum GroupKey {
  case attribute(String, AttributeType)
  /// A date, and the column with its exact seconds.
  case date(String, exact: String)
  /// The key of a record of an entity.
  case record(String, EntityDescription)

  var columns: [String] {
    switch self {
    case .attribute(let text, _), .record(let text, _): [text]
    case .date(let text, let exact): [text, exact]
    }
  }

  func value(_ row: PostgreSQLRow, _ index: Int, _ fetch: GroupFetch) throws -> PropertyValue {
    guard let bytes = row[index] else { return .null }
    switch self {
    case .attribute(_, let type): return try AttributeField.value(bytes, as: type)
    case .date: return try AttributeField.date(bytes, exact: row[index + 1])
    case .record(_, let entity):
      return .toOne(fetch.objectID(.uuid(try BinaryField.uuid(bytes)), of: entity))
    }
  }
}

// MARK: Aggregates

/// An aggregate in SQL, and how its accumulator is read from its columns.
private enum GroupAggregate {
  case count(String)
  /// The sum of integers, as the sum of their higher bits, which counts 2^32 times as much, and the sum of their lower
  /// bits: neither overflows.
  case integerSum(high: String, low: String, count: String, isAverage: Bool)
  case realSum(String, count: String, isAverage: Bool)
  case extreme(String, AttributeType, isLeast: Bool)
  case extremeDate(String, exact: String, isLeast: Bool)

  var columns: [String] {
    switch self {
    case .count(let text), .extreme(let text, _, _): [text]
    case .integerSum(let high, let low, let count, _): [high, low, count]
    case .realSum(let sum, let count, _): [sum, count]
    case .extremeDate(let date, let exact, _): [date, exact]
    }
  }

  /// Returns the accumulator in a row whose columns from `index` on belong to the aggregate.
  func accumulator(_ row: PostgreSQLRow, _ index: Int) throws -> Accumulator {
    switch self {
    case .count: return .count(try row.required(index, row.bigint))
    case .integerSum(_, _, _, let isAverage):
      var sum = NumberSum()
      sum.add(Int128(try row.bigint(index) ?? 0) << 32 + Int128(try row.bigint(index + 1) ?? 0))
      return isAverage ? .average(sum, count: try row.required(index + 2, row.bigint)) : .sum(sum)
    case .realSum(_, _, let isAverage):
      var sum = NumberSum()
      if let bytes = row[index] { sum.add(try BinaryField.double(bytes)) }
      return isAverage ? .average(sum, count: try row.required(index + 1, row.bigint)) : .sum(sum)
    case .extreme(_, let type, let isLeast):
      return .extreme(try row[index].map { try AttributeField.value($0, as: type) } ?? .null, isLeast: isLeast)
    case .extremeDate(_, _, let isLeast):
      let value = try row[index].map { try AttributeField.date($0, exact: row[index + 1]) }
      return .extreme(value ?? .null, isLeast: isLeast)
    }
  }
}

// MARK: Statements

extension FetchTranslator {
  /// Returns the statement that makes the groups, in the order of the first record key of each; nil if SQL would not
  /// make exactly the same groups. The framework applies conditions on groups.
  static func groups(_ fetch: GroupFetch, in schema: PostgreSQLSchema, of store: UUID?) -> GroupStatement? {
    var (keys, aggregates): ([GroupKey], [GroupAggregate]) = ([], [])
    do throws(Untranslatable) {
      let query = try statement(fetch.records, in: schema, of: store) {
        translator,
        row,
        condition throws(Untranslatable) in
        for key in fetch.grouping.keys { keys.append(try translator.key(key, row)) }
        for plan in fetch.grouping.aggregates {
          aggregates.append(try translator.aggregate(plan, row, isComplete: fetch.isComplete))
        }
        let columns = keys.flatMap(\.columns) + aggregates.flatMap(\.columns)
        let excluded = try translator.exclusion(fetch.excluded, row)
        var text =
          "SELECT \(columns.isEmpty ? "1" : columns.joined(separator: ", ")) FROM \(translator.source(row)) "
          + "WHERE \(condition)\(excluded)"
        if !keys.isEmpty {
          text += " GROUP BY \(keys.flatMap(\.columns).indices.map { "\($0 + 1)" }.joined(separator: ", "))"
          // Before version 18, PostgreSQL has no minimum of UUIDs.
          text += " ORDER BY min(\(row.key)::text COLLATE \"C\")"
        } else if columns.isEmpty {
          text += " LIMIT 1"
        }
        return text
      }
      return GroupStatement(query: query, keys: keys, aggregates: aggregates)
    } catch {
      return nil
    }
  }

  private mutating func exclusion(_ references: [ReferenceID], _ row: Row) throws(Untranslatable) -> String {
    if references.isEmpty { return "" }
    guard references.count <= Self.greatestElementCount else { throw Untranslatable() }
    var keys: [UUID] = []
    for case .uuid(let key) in references { keys.append(key) }
    return " AND \(row.key) <> ALL(\(parameter(.uuids(keys))))"
  }

  /// A property of the records, or of the records at the end of to-one relationships.
  private struct Property {
    let placement: PropertyPlacement
    let row: Row

    /// The column that shows whether there is a value.
    var column: String? {
      switch placement {
      case .attribute(let place): row.column(place.column)
      case .toOne(let place): row.column(place.column)
      case .toMany, .join: nil
      }
    }
  }

  private mutating func property(_ plan: CompiledExpression, _ start: Row) throws(Untranslatable) -> Property {
    guard case .property(let base, let property) = plan, !property.isToMany else { throw Untranslatable() }
    let row = try self.row(try names(base, start.placement.entity)[...], start)
    guard row.placement.properties.indices.contains(property.ordinal),
      let placement = row.placement.properties[property.ordinal]
    else { throw Untranslatable() }
    return Property(placement: placement, row: row)
  }

  /// Returns the names of the relationships from the record to the object that a plan stands for.
  private func names(_ plan: CompiledExpression, _ entity: EntityDescription) throws(Untranslatable) -> [String] {
    if case .subject = plan { return [] }
    guard case .property(let base, let property) = plan, !property.isToMany else { throw Untranslatable() }
    let names = try names(base, entity)
    let owner = try reached(base, entity)
    guard owner.properties.indices.contains(property.ordinal) else { throw Untranslatable() }
    return names + [owner.properties[property.ordinal].name]
  }

  private func reached(_ plan: CompiledExpression, _ entity: EntityDescription) throws(Untranslatable)
    -> EntityDescription
  {
    if case .subject = plan { return entity }
    guard case .property(_, let property) = plan, let ordinal = property.destination,
      schema.model.entities.indices.contains(ordinal)
    else { throw Untranslatable() }
    return schema.model.entities[ordinal]
  }

  private mutating func key(_ plan: CompiledExpression, _ start: Row) throws(Untranslatable) -> GroupKey {
    let property = try property(plan, start)
    switch property.placement {
    case .toOne(let place):
      guard let entity = place.destination.onlyEntity else { throw Untranslatable() }
      return .record(property.row.column(place.column), entity)
    case .attribute(let place):
      let column = property.row.column(place.column)
      if let exact = place.exactColumn { return .date(column, exact: property.row.column(exact)) }
      switch place.type {
      case .integer16, .integer32, .integer64, .boolean, .string, .uuid, .double, .float:
        return .attribute(column, place.type)
      case .decimal, .uri, .date, .binary, .transformable, .undefined: throw Untranslatable()
      }
    case .toMany, .join: throw Untranslatable()
    }
  }

  private mutating func aggregate(
    _ plan: CompiledAggregate,
    _ start: Row,
    isComplete: Bool
  ) throws(Untranslatable) -> GroupAggregate {
    if plan.countsRecords { return .count("count(*)") }
    if plan.function == .count, plan.isDistinct {
      // The count is too small if other records are added to it.
      guard isComplete, let column = try key(plan.operand, start).onlyColumn else { throw Untranslatable() }
      return .count("count(DISTINCT \(column))")
    }
    let property = try property(plan.operand, start)
    if plan.function == .count {
      guard let column = property.column else { throw Untranslatable() }
      return .count("count(\(column))")
    }
    guard case .attribute(let place) = property.placement else { throw Untranslatable() }
    switch plan.function {
    case .min, .max: return try Self.extreme(place, property.row, isLeast: plan.function == .min)
    case .sum where !plan.isDistinct, .average where !plan.isDistinct:
      return try Self.sum(place, property.row, isAverage: plan.function == .average)
    default: throw Untranslatable()
    }
  }

  /// NaN is never the minimum or the maximum.
  private static func extreme(
    _ place: AttributePlacement,
    _ row: Row,
    isLeast: Bool
  ) throws(Untranslatable) -> GroupAggregate {
    let column = row.column(place.column)
    let function = isLeast ? "min" : "max"
    if let exactColumn = place.exactColumn {
      let exact = row.column(exactColumn)
      let seconds = "coalesce(\(exact), (extract(epoch FROM \(column)) - 978307200)::float8)"
      let order = isLeast ? "\(column), \(seconds)" : "\(column) DESC, \(seconds) DESC"
      let filter = "FILTER (WHERE \(column) IS NOT NULL AND \(exact) IS DISTINCT FROM 'NaN')"
      return .extremeDate(
        "(array_agg(\(column) ORDER BY \(order)) \(filter))[1]",
        exact: "(array_agg(\(exact) ORDER BY \(order)) \(filter))[1]",
        isLeast: isLeast
      )
    }
    switch place.type {
    case .integer16, .integer32, .integer64, .string:
      return .extreme("\(function)(\(column))", place.type, isLeast: isLeast)
    case .double, .float:
      return .extreme("\(function)(\(column)) FILTER (WHERE \(column) <> 'NaN')", place.type, isLeast: isLeast)
    case .boolean: return .extreme("bool_\(isLeast ? "and" : "or")(\(column))", place.type, isLeast: isLeast)
    case .decimal, .date, .uuid, .uri, .binary, .transformable, .undefined: throw Untranslatable()
    }
  }

  private static func sum(
    _ place: AttributePlacement,
    _ row: Row,
    isAverage: Bool
  ) throws(Untranslatable) -> GroupAggregate {
    let column = row.column(place.column)
    let count = "count(\(column))"
    switch place.type {
    case .integer64:
      return .integerSum(
        high: "sum(\(column) >> 32)::bigint",
        low: "sum(\(column) & 4294967295)::bigint",
        count: count,
        isAverage: isAverage
      )
    case .integer16, .integer32:
      return .integerSum(high: "0::bigint", low: "sum(\(column))", count: count, isAverage: isAverage)
    case .boolean:
      return .integerSum(high: "0::bigint", low: "sum(\(column)::integer)", count: count, isAverage: isAverage)
    case .double, .float: return .realSum("sum(\(column)::float8)", count: count, isAverage: isAverage)
    case .decimal, .date, .string, .uuid, .uri, .binary, .transformable, .undefined: throw Untranslatable()
    }
  }
}

extension GroupKey {
  /// The column that contains the whole value; nil if there are several.
  fileprivate var onlyColumn: String? { columns.count == 1 ? columns.first : nil }
}
