import GRDB
import HeartwoodModel
import HeartwoodStore

// MARK: Statements

extension FetchTranslator {
  /// What makes the groups, in the order of the first key of each; nil where SQL would not make just the same.
  static func groups(_ fetch: GroupFetch, in schema: SQLiteSchema) -> GroupStatement? {
    guard let placement = schema.placement(of: fetch.records.entity) else { return nil }
    var translator = FetchTranslator(schema: schema)
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
    let columns = keys.map(\.text) + aggregates.flatMap { $0.aggregate.columns }
    let condition = try condition(fetch, scope)
    let values = keys.map(\.known) + aggregates.map(\.known)
    let having = fetch.isComplete ? self.having(fetch.grouping, values, scope) : nil
    var text =
      "SELECT \(columns.isEmpty ? "1" : columns.joined(separator: ", ")) FROM \(scope.source) WHERE \(condition)"
    if !keys.isEmpty {
      text += " GROUP BY \(keys.indices.map { "\($0 + 1)" }.joined(separator: ", "))"
      if let having { text += " HAVING \(having)" }
      text += " ORDER BY min(\(scope.key))"
    } else if columns.isEmpty {
      text += " LIMIT 1"
    }
    return GroupStatement(
      query: try self.statement(text),
      keys: keys.map(\.value),
      aggregates: aggregates.map(\.aggregate),
      testsGroups: fetch.grouping.having == nil || having != nil
    )
  }

  private mutating func condition(_ fetch: GroupFetch, _ scope: QueryScope) throws(Untranslatable) -> String {
    let condition = try condition(fetch.records.plan, ofRecordsIn: scope)
    if fetch.excluded.isEmpty { return condition }
    guard fetch.excluded.count <= Self.greatestElementCount else { throw Untranslatable() }
    var places: [String] = []
    for case .integer(let key) in fetch.excluded { places.append(argument(key)) }
    return "\(condition) AND \(scope.key) NOT IN (\(places.joined(separator: ", ")))"
  }

  /// The condition on groups; nil where there is none, or none that SQL could test. Groups that are left out need not be read, that is all.
  ///
  /// - Parameter values: what the keys and the aggregates are in SQL, where that compares as they do.
  private mutating func having(
    _ grouping: SelectionPlan.Grouping,
    _ values: [TranslatedValue?],
    _ scope: QueryScope
  ) -> String? {
    guard let plan = grouping.having, !grouping.keys.isEmpty, plan.isOfFitSize else { return nil }
    var attempt = self
    attempt.groupValues = values
    guard let text = try? attempt.condition(plan, scope) else { return nil }
    self = attempt
    return text
  }
}

// MARK: Keys

extension FetchTranslator {
  /// What records are grouped by: its text, how it is read, and what it is where it is compared.
  private typealias Key = (text: String, value: GroupValue, known: TranslatedValue?)

  private mutating func key(_ plan: PlanExpression, _ scope: QueryScope) throws(Untranslatable) -> Key {
    guard case .property(let base, let property) = plan, !property.isToMany else { throw Untranslatable() }
    let row = try row(base, scope)
    let translated = try column(property, of: row)
    guard let type = property.attributeType else {
      return (translated.text, .record(try entity(property, of: row)), translated)
    }
    switch type {
    // A file may hold more digits than a value of single precision has.
    case .float: throw Untranslatable()
    case .boolean:
      // Whatever is not 0 is true.
      let text = "(\(translated.text) <> 0)"
      return (text, .attribute(type), TranslatedValue(text: text, kind: .number))
    default: return (translated.text, .attribute(type), translated)
    }
  }

  /// The entity of all records that a relationship leads to.
  private func entity(_ property: PlanProperty, of row: QueryScope) throws(Untranslatable) -> Int {
    guard case .toOne(let place) = row.placement.properties[property.ordinal], place.entityColumn == nil,
      let ordinal = property.destination, schema.model.entities[ordinal].subentityOrdinals.isEmpty
    else { throw Untranslatable() }
    return ordinal
  }
}

// MARK: Aggregates

extension FetchTranslator {
  /// An aggregate, and what it is where it is compared; nil for what SQL could not compare.
  private typealias Aggregate = (aggregate: GroupAggregate, known: TranslatedValue?)

  private mutating func aggregate(
    _ plan: AggregatePlan,
    _ scope: QueryScope,
    isComplete: Bool
  ) throws(Untranslatable) -> Aggregate {
    if plan.countsRecords { return Self.count("*") }
    guard case .property(let base, let property) = plan.operand, !property.isToMany else { throw Untranslatable() }
    let row = try row(base, scope)
    switch plan.function {
    case .count where plan.isDistinct:
      // How many there are is too little where others come to them.
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

  /// The column of any property, to look whether there is a value.
  private func storedText(_ property: PlanProperty, of row: QueryScope) throws(Untranslatable) -> String {
    switch row.placement.properties[property.ordinal] {
    // A URI without text is read as nothing.
    case .attribute(let place) where place.storage == .uri: return "nullif(\(row.column(place.column)), '')"
    case .attribute(let place): return row.column(place.column)
    case .toOne(let place): return row.column(place.column)
    case .toMany, .join, nil: throw Untranslatable()
    }
  }

  private func sum(_ property: PlanProperty, _ text: String, isAverage: Bool) throws(Untranslatable) -> Aggregate {
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
