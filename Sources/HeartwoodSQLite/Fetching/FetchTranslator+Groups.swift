import GRDB
import HeartwoodModel
import HeartwoodStore

// MARK: Statements

extension FetchTranslator {
  /// What makes the groups, in the order of the first key of each; nil where SQL would not make just the same.
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
      // A group of which nobody knows what it should be is not left out.
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
    // try?: what has no form in SQL is looked at in memory.
    guard let text = try? attempt.condition(plan, scope) else { return nil }
    self = attempt
    return text
  }
}

// MARK: Values of another kind

extension FetchTranslator {
  /// Whether a group has rows that are not read as SQL computes with them; nil if its columns are made of no values.
  private mutating func oddity(of grouping: SelectionPlan.Grouping, _ scope: QueryScope) -> String? {
    // Keys are looked at when they are read, unless a condition may leave out their groups.
    var operands = grouping.having == nil ? [] : grouping.keys.map { (operand: $0, isAdded: false) }
    operands += grouping.aggregates.filter { !$0.countsRecords }.map { aggregate in
      (aggregate.operand, !aggregate.isDistinct && (aggregate.function == .sum || aggregate.function == .average))
    }
    var anomalies: [String] = []
    for (operand, isAdded) in operands {
      // try?: what cannot be translated is not grouped in SQL.
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
  /// Whether the table has values of another kind, if nothing is asked for but the least or the greatest one of an attribute: an index finds that
  /// without looking at the rows in between, and so it is to stay.
  private func loneExtreme(of grouping: SelectionPlan.Grouping, _ scope: QueryScope) -> String? {
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
