import GRDB
import GRDBSQLite
import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

// MARK: Statements

extension FetchTranslator {
  /// Returns the statement that makes the groups, in the order of the first record key of each; nil if SQL would not
  /// make exactly the same groups.
  static func groups(_ fetch: GroupFetch, in schema: SQLiteSchema) -> GroupStatement? {
    guard let placement = schema.placement(of: fetch.records.entity) else { return nil }
    var translator = FetchTranslator(schema: schema, strays: .refused)
    let scope = QueryScope(placement, alias: translator.alias())
    do throws(Untranslatable) {
      return try translator.statement(fetch, scope)
    } catch {
      return nil
    }
  }

  private mutating func statement(
    _ fetch: GroupFetch,
    _ scope: QueryScope
  ) throws(Untranslatable) -> GroupStatement {
    let keys = try fetch.grouping.keys.map { plan throws(Untranslatable) in try key(plan, scope) }
    let aggregates = try fetch.grouping.aggregates.map { plan throws(Untranslatable) in
      try aggregate(plan, scope, isComplete: fetch.isComplete)
    }
    let oddity = oddity(of: fetch.grouping, scope)
    let columns = keys.map(\.text) + aggregates.flatMap { $0.aggregate.columns } + (oddity.map { [$0] } ?? [])
    let condition = try condition(fetch, scope)
    let values = keys.map(\.known) + aggregates.map(\.known)
    let having = fetch.isComplete ? self.having(fetch.grouping, values, scope) : nil
    var text =
      "SELECT \(columns.isEmpty ? "1" : columns.joined(separator: ", ")) FROM \(scope.source) WHERE \(condition)"
    if !keys.isEmpty {
      text += " GROUP BY \(keys.indices.map { "\($0 + 1)" }.joined(separator: ", "))"
      // A group is kept if its correct values are unknown.
      if let having { text += " HAVING \(having)" + (oddity.map { " OR \($0)" } ?? "") }
      text += " ORDER BY min(\(scope.key))"
    } else if columns.isEmpty {
      text += " LIMIT 1"
    }
    return GroupStatement(
      query: try self.statement(text),
      keys: keys.map(\.value),
      aggregates: aggregates.map(\.aggregate),
      tellsOddities: oddity != nil,
      testsGroups: fetch.grouping.having == nil || having != nil
    )
  }

  private mutating func condition(_ fetch: GroupFetch, _ scope: QueryScope) throws(Untranslatable) -> String {
    let condition = try condition(fetch.records.compiledPredicate, ofRecordsIn: scope)
    if fetch.excluded.isEmpty { return condition }
    guard fetch.excluded.count <= Self.greatestElementCount else { throw Untranslatable() }
    var places: [String] = []
    for case .integer(let key) in fetch.excluded { places.append(argument(key)) }
    return "\(condition) AND \(scope.key) NOT IN (\(places.joined(separator: ", ")))"
  }

  /// Returns the condition on groups; nil if there is none, or if SQL could not test it. The condition only avoids
  /// reading groups that are left out.
  ///
  /// - Parameter values: the keys and the aggregates in SQL, if SQL compares them as predicates do.
  private mutating func having(
    _ grouping: CompiledGrouping,
    _ values: [TranslatedValue?],
    _ scope: QueryScope
  ) -> String? {
    guard let plan = grouping.having, !grouping.keys.isEmpty, plan.isOfFitSize else { return nil }
    var attempt = self
    attempt.groupValues = values
    // try?: a condition that has no form in SQL is tested in memory.
    guard let text = try? attempt.condition(plan, scope) else { return nil }
    self = attempt
    return text
  }
}

// MARK: Values of another kind

extension FetchTranslator {
  /// Returns an expression that reports whether a group has rows that SQL and reading interpret differently; nil if its
  /// columns are not computed from values.
  private mutating func oddity(of grouping: CompiledGrouping, _ scope: QueryScope) -> String? {
    // Keys are checked when they are read, unless a condition may leave out their groups.
    var operands = grouping.having == nil ? [] : grouping.keys.map { (operand: $0, isAdded: false) }
    operands += grouping.aggregates.filter { !$0.countsRecords }.map { aggregate in
      (aggregate.operand, !aggregate.isDistinct && (aggregate.function == .sum || aggregate.function == .average))
    }
    var anomalies: [String] = []
    for (operand, isAdded) in operands {
      // try?: an expression that cannot be translated is not grouped in SQL.
      guard case .property(let base, let property) = operand, let row = try? row(base, scope) else { continue }
      switch (row.placement.properties[property.ordinal], property.attributeType) {
      case (.attribute(let place), let type?):
        let condition = isAdded ? ValueAnomaly.conditionOfSum : ValueAnomaly.condition
        anomalies.append(condition(row.column(place.column), type, place.storage))
      case (.toOne(let place), _): anomalies.append(ValueAnomaly.condition(ofKeyIn: row.column(place.column)))
      default: break
      }
    }
    if anomalies.isEmpty { return nil }
    if let extreme = loneExtreme(of: grouping, scope) { return extreme }
    anomalies = anomalies.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    return "max(\(anomalies.map { "(\($0))" }.joined(separator: " OR ")))"
  }
}

extension FetchTranslator {
  /// Returns an expression that reports whether the table has values of another kind, if the statement only asks for
  /// the minimum or the maximum of an attribute: an index finds that without reading the rows in between, and the check
  /// must not change this.
  private func loneExtreme(of grouping: CompiledGrouping, _ scope: QueryScope) -> String? {
    guard grouping.keys.isEmpty, grouping.aggregates.count == 1, let aggregate = grouping.aggregates.first,
      aggregate.function == .min || aggregate.function == .max,
      case .property(.subject, let property) = aggregate.operand,
      case .attribute(let place) = scope.placement.properties[property.ordinal]
    else { return nil }
    let isOdd = ValueAnomaly.otherKind(SQLiteName.quoted(place.column), place.storage)
    return "EXISTS (SELECT 1 FROM \(SQLiteName.quoted(scope.placement.tableName)) WHERE \(isOdd))"
  }
}

// MARK: Keys

extension FetchTranslator {
  /// A key by which records are grouped: its text, how it is read, and its value for comparisons.
  private typealias Key = (text: String, value: GroupValue, known: TranslatedValue?)

  private mutating func key(_ plan: CompiledExpression, _ scope: QueryScope) throws(Untranslatable) -> Key {
    guard case .property(let base, let property) = plan, !property.isToMany else { throw Untranslatable() }
    let row = try row(base, scope)
    let translated = try column(property, of: row)
    guard let type = property.attributeType else {
      return (translated.text, .record(try entity(property, of: row)), translated)
    }
    switch type {
    // A file may contain more digits than a single-precision value has.
    case .float: throw Untranslatable()
    default: return (translated.text, .attribute(type), translated)
    }
  }

  /// Returns the entity of all records that a relationship refers to.
  private func entity(_ property: CompiledProperty, of row: QueryScope) throws(Untranslatable) -> EntityDescription {
    guard case .toOne(let place) = row.placement.properties[property.ordinal], place.entityColumn == nil,
      let entity = property.destination.map({ schema.model.entities[$0] }), entity.subentityOrdinals.isEmpty
    else { throw Untranslatable() }
    return entity
  }
}

// MARK: Aggregates

extension FetchTranslator {
  /// An aggregate, and its value for comparisons; nil if SQL could not compare it.
  private typealias Aggregate = (aggregate: GroupAggregate, known: TranslatedValue?)

  private mutating func aggregate(
    _ plan: CompiledAggregate,
    _ scope: QueryScope,
    isComplete: Bool
  ) throws(Untranslatable) -> Aggregate {
    if plan.countsRecords { return Self.count("*") }
    guard case .property(let base, let property) = plan.operand, !property.isToMany else { throw Untranslatable() }
    let row = try row(base, scope)
    switch plan.function {
    case .count where plan.isDistinct:
      // The count is too small if other records are added to it.
      guard isComplete else { throw Untranslatable() }
      return Self.count("DISTINCT \(try key(plan.operand, scope).text)")
    case .count: return Self.count(try storedText(property, of: row))
    case .min, .max:
      guard let type = property.attributeType else { throw Untranslatable() }
      let value = try column(property, of: row)
      let text = "\(plan.function == .min ? "min" : "max")(\(value.text))"
      return (
        .extreme(text, type, isLeast: plan.function == .min), TranslatedValue(text: text, kind: value.kind)
      )
    case .sum where !plan.isDistinct, .average where !plan.isDistinct:
      return try sum(property, try column(property, of: row).text, isAverage: plan.function == .average)
    default: throw Untranslatable()
    }
  }

  private static func count(_ operand: String) -> Aggregate {
    let text = "count(\(operand))"
    return (.count(text), TranslatedValue(text: text, kind: .number))
  }

  /// Returns the column of any property, to test whether there is a value.
  private func storedText(_ property: CompiledProperty, of row: QueryScope) throws(Untranslatable) -> String {
    switch row.placement.properties[property.ordinal] {
    // A URI with an empty text is read as nil.
    case .attribute(let place) where place.storage == .uri: return "nullif(\(row.column(place.column)), '')"
    case .attribute(let place): return row.column(place.column)
    case .toOne(let place): return row.column(place.column)
    case .toMany, .join, nil: throw Untranslatable()
    }
  }

  private func sum(_ property: CompiledProperty, _ text: String, isAverage: Bool) throws(Untranslatable) -> Aggregate {
    let count = "count(\(text))"
    switch property.attributeType {
    case .integer64:
      let (high, low) = ("sum(\(text) >> 32)", "sum(\(text) & 4294967295)")
      return (.integerSum(high: high, low: low, count: count, isAverage: isAverage), nil)
    case .integer16, .integer32, .boolean:
      let operand = property.attributeType == .boolean ? "\(text) <> 0" : text
      let sum = "sum(\(operand))"
      let known = isAverage ? "CAST(\(sum) AS REAL) / \(count)" : "ifnull(\(sum), 0)"
      return (
        .integerSum(high: "0", low: sum, count: count, isAverage: isAverage),
        TranslatedValue(text: known, kind: .number)
      )
    case .double, .float: return (.realSum("sum(\(text))", count: count, isAverage: isAverage), nil)
    default: throw Untranslatable()
    }
  }
}

// MARK: GroupStatement

/// A statement that groups records, and how its columns are read.
struct GroupStatement {
  let query: FetchStatement
  let keys: [GroupValue]
  let aggregates: [GroupAggregate]
  /// Whether the last column reports rows that SQL and reading interpret differently.
  let tellsOddities: Bool
  /// Whether the statement tests the condition on groups, if there is one.
  let testsGroups: Bool
}

/// Describes how a column of such a statement is converted to a value.
enum GroupValue {
  case attribute(AttributeType)
  /// The key of a record of an entity.
  case record(EntityDescription)

  /// Returns the value in the current row of the statement.
  func value(_ row: SQLiteStatement, _ index: CInt, _ fetch: GroupFetch) throws(Untranslatable) -> PropertyValue {
    if sqlite3_column_type(row, index) == SQLITE_NULL { return .null }
    switch self {
    case .record(let entity): return .toOne(fetch.objectID(.integer(try Self.integer(row, index)), of: entity))
    case .attribute(let type): return try Self.value(row, index, ofType: type)
    }
  }

  static func value(
    _ row: SQLiteStatement,
    _ index: CInt,
    ofType type: AttributeType
  ) throws(Untranslatable) -> PropertyValue {
    if sqlite3_column_type(row, index) == SQLITE_NULL { return .null }
    switch type {
    case .integer16, .integer32, .integer64: return .integer(try integer(row, index, type))
    case .boolean: return .boolean(try integer(row, index, type) != 0)
    case .double: return .double(try real(row, index))
    case .float: return .float(Float(try real(row, index)))
    case .date: return .date(Date(timeIntervalSinceReferenceDate: try real(row, index)))
    case .string: return .string(try text(row, index))
    case .uuid: return .uuid(try uuid(row, index))
    case .decimal, .uri, .binary, .transformable, .undefined: throw Untranslatable()
    }
  }

  /// Checks the form of a value: one in another form than its type's is another group in SQL, but may be read as the
  /// same value.
  private static func check(
    _ row: SQLiteStatement,
    _ index: CInt,
    isStoredAs form: CInt
  ) throws(Untranslatable) {
    guard sqlite3_column_type(row, index) == form else { throw Untranslatable() }
  }

  private static func integer(
    _ row: SQLiteStatement,
    _ index: CInt,
    _ type: AttributeType? = nil
  ) throws(Untranslatable) -> Int64 {
    try check(row, index, isStoredAs: SQLITE_INTEGER)
    let number = sqlite3_column_int64(row, index)
    // Booleans other than 0 and 1 are the same value, but different groups.
    if let range = type.flatMap(ValueAnomaly.range), !range.contains(number) { throw Untranslatable() }
    return number
  }

  /// Columns of dates contain whole numbers as integers.
  private static func real(_ row: SQLiteStatement, _ index: CInt) throws(Untranslatable) -> Double {
    if sqlite3_column_type(row, index) == SQLITE_INTEGER {
      guard let number = Double(exactly: sqlite3_column_int64(row, index)) else { throw Untranslatable() }
      return number
    }
    try check(row, index, isStoredAs: SQLITE_FLOAT)
    return sqlite3_column_double(row, index)
  }

  /// Invalid UTF-8 is reported, with its place, if all records are read.
  private static func text(_ row: SQLiteStatement, _ index: CInt) throws(Untranslatable) -> String {
    try check(row, index, isStoredAs: SQLITE_TEXT)
    let bytes = ColumnBytes.text(row, index)
    guard UTF8Validation.firstInvalidOffset(in: bytes.bytes) == nil else { throw Untranslatable() }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func uuid(_ row: SQLiteStatement, _ index: CInt) throws(Untranslatable) -> UUID {
    try check(row, index, isStoredAs: SQLITE_BLOB)
    let bytes = ColumnBytes.blob(row, index)
    guard bytes.count == MemoryLayout<uuid_t>.size else { throw Untranslatable() }
    return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
  }
}

/// An aggregate in SQL, and how its accumulator is read from its columns.
enum GroupAggregate {
  case count(String)
  /// The sum of integers, as the sum of their higher bits, which counts 2^32 times as much, and the sum of their lower
  /// bits: neither overflows.
  case integerSum(high: String, low: String, count: String, isAverage: Bool)
  case realSum(String, count: String, isAverage: Bool)
  case extreme(String, AttributeType, isLeast: Bool)

  var columns: [String] {
    switch self {
    case .count(let text), .extreme(let text, _, _): [text]
    case .integerSum(let high, let low, let count, _): [high, low, count]
    case .realSum(let sum, let count, _): [sum, count]
    }
  }

  /// Returns the accumulator in a row whose columns from `index` on belong to the aggregate.
  func accumulator(_ row: SQLiteStatement, _ index: CInt) throws(Untranslatable) -> Accumulator {
    switch self {
    case .count: return .count(sqlite3_column_int64(row, index))
    case .integerSum(_, _, _, let isAverage):
      // If there are other values among the integers, the sum is a real.
      guard sqlite3_column_type(row, index + 1) != SQLITE_FLOAT else { throw Untranslatable() }
      let (high, low) = (sqlite3_column_int64(row, index), sqlite3_column_int64(row, index + 1))
      var sum = NumberSum()
      sum.add(Int128(high) << 32 + Int128(low))
      return isAverage ? .average(sum, count: sqlite3_column_int64(row, index + 2)) : .sum(sum)
    case .realSum(_, _, let isAverage):
      let count = sqlite3_column_int64(row, index + 1)
      var sum = NumberSum()
      if count > 0 { sum.add(Self.real(row, index)) }
      return isAverage ? .average(sum, count: count) : .sum(sum)
    case .extreme(_, let type, let isLeast):
      return .extreme(try GroupValue.value(row, index, ofType: type), isLeast: isLeast)
    }
  }

  /// SQLite returns NULL for a sum that is NaN.
  private static func real(_ row: SQLiteStatement, _ index: CInt) -> Double {
    sqlite3_column_type(row, index) == SQLITE_NULL ? .nan : sqlite3_column_double(row, index)
  }
}

extension GroupStatement {
  /// Returns the group in the current row of the statement.
  func group(_ row: SQLiteStatement, _ fetch: GroupFetch) throws(Untranslatable) -> RecordGroup {
    var values: [PropertyValue] = []
    for (index, key) in keys.enumerated() { values.append(try key.value(row, CInt(index), fetch)) }
    var accumulators: [Accumulator] = []
    var index = CInt(keys.count)
    for aggregate in aggregates {
      accumulators.append(try aggregate.accumulator(row, index))
      index += CInt(aggregate.columns.count)
    }
    if tellsOddities, sqlite3_column_int(row, index) != 0 { throw Untranslatable() }
    return RecordGroup(keys: values, accumulators: accumulators)
  }
}
