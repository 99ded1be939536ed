import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Thrown if a part of a fetch has no counterpart in SQL with exactly the same meaning.
struct Untranslatable: Error {}

/// A statement and its parameters.
struct FetchStatement {
  let text: String
  let parameters: [PostgreSQLParameter]
}

/// Translates a fetch to SQL. Every value is a parameter, so that no text of a predicate is ever parsed as SQL.
///
/// A predicate has two results, but SQL has three: if a result may be unknown and the difference matters, it is made
/// false.
struct FetchTranslator {
  let schema: PostgreSQLSchema
  /// The identifier of the store; records of other stores are not in it.
  private let storeIdentifier: UUID?
  private var parameters: [PostgreSQLParameter] = []
  /// The tables at the end of to-one relationships, by the key paths of the relationships.
  private var joins: [[String]: Row] = [:]
  private var joinTexts: [String] = []

  /// The rows of one table in a statement.
  struct Row {
    let alias: String
    let placement: EntityPlacement

    func column(_ name: String) -> String { "\(alias).\(PostgreSQLName.quoted(name))" }
    var key: String { "\(alias).\(placement.keyColumn)" }
  }

  fileprivate init(_ schema: PostgreSQLSchema, _ storeIdentifier: UUID?) {
    self.schema = schema
    self.storeIdentifier = storeIdentifier
  }

  mutating func parameter(_ parameter: PostgreSQLParameter) -> String {
    parameters.append(parameter)
    return "$\(parameters.count)"
  }
}

extension FetchTranslator {
  /// The maximum number of terms in a statement: a larger one takes longer to plan than a search in memory takes.
  private static let greatestTermCount = 1000
  static let greatestElementCount = 10_000
  /// The maximum number of dates that are searched for in a list: each is a condition on two columns.
  private static let greatestDateCount = 50
  private static let greatestHeight = 64
  /// The number of microseconds that is exact in a number of seconds: 285 years.
  private static let greatestMoment: Int64 = 1 << 53

  /// Returns the statement that finds the keys of the records, in order; nil if SQL would not find exactly the same
  /// records.
  static func keys(_ fetch: RecordFetch, in schema: PostgreSQLSchema, of store: UUID?)
    -> FetchStatement?
  {
    translated(fetch, in: schema, of: store) { translator, row, condition throws(Untranslatable) in
      let order = try translator.order(fetch.sortDescriptors, row)
      var text = "SELECT \(row.key) FROM \(translator.source(row)) WHERE \(condition) ORDER BY \(order)"
      if let limit = fetch.limit {
        text += " LIMIT \(translator.parameter(.bigint(Int64(clamping: limit))))"
      }
      if fetch.offset > 0 {
        text += " OFFSET \(translator.parameter(.bigint(Int64(clamping: fetch.offset))))"
      }
      return text
    }
  }

  /// Returns the statement that counts the records; nil if SQL would not find exactly the same records. The limits of
  /// the fetch are ignored.
  static func count(_ fetch: RecordFetch, in schema: PostgreSQLSchema, of store: UUID?)
    -> FetchStatement?
  {
    translated(fetch, in: schema, of: store) { translator, row, condition throws(Untranslatable) in
      "SELECT count(*) FROM \(translator.source(row)) WHERE \(condition)"
    }
  }

  private static func translated(
    _ fetch: RecordFetch,
    in schema: PostgreSQLSchema,
    of store: UUID?,
    _ text: (inout FetchTranslator, Row, _ condition: String) throws(Untranslatable) -> String
  ) -> FetchStatement? {
    do throws(Untranslatable) {
      return try statement(fetch, in: schema, of: store, text)
    } catch {
      return nil
    }
  }

  /// Returns a statement about the records of a fetch, which are the rows of the table called `r`.
  ///
  /// - Parameter text: makes the statement from the condition, and may add joins before it asks for the ``source(_:)``.
  static func statement(
    _ fetch: RecordFetch,
    in schema: PostgreSQLSchema,
    of store: UUID?,
    _ text: (inout FetchTranslator, Row, _ condition: String) throws(Untranslatable) -> String
  ) throws(Untranslatable) -> FetchStatement {
    // A predicate without a compiled plan, or the reverse, cannot be translated.
    guard (fetch.predicate == nil) == (fetch.compiledPredicate == nil) else { throw Untranslatable() }
    var translator = FetchTranslator(schema, store)
    guard let placement = translator.placement(fetch.entity) else { throw Untranslatable() }
    let row = Row(alias: "r", placement: placement)
    var conditions: [String] = []
    if !placement.isAlone {
      conditions.append("r.entity = \(translator.parameter(.text(fetch.entity.name)))")
    }
    if let predicate = fetch.predicate {
      conditions.append(try translator.condition(predicate, row, isExact: false, height: 0))
    }
    let condition = conditions.isEmpty ? "true" : conditions.joined(separator: " AND ")
    let statement = try text(&translator, row, condition)
    return FetchStatement(text: statement, parameters: translator.parameters)
  }

  private func placement(_ entity: EntityDescription) -> EntityPlacement? {
    // try?: SQL cannot find records of an entity that the store does not keep.
    try? schema.placement(of: entity)
  }

  func source(_ row: Row) -> String {
    "\(schema.source(row.placement.table)) AS \(row.alias)\(joinTexts.joined())"
  }

  /// Whether other tables are joined to the rows.
  var hasJoins: Bool { !joinTexts.isEmpty }

  /// Returns the terms of the order; the keys decide between records that compare equal.
  private mutating func order(_ descriptors: [FetchSortDescriptor], _ row: Row)
    throws(Untranslatable) -> String
  {
    var terms: [String] = []
    for descriptor in descriptors {
      let names = descriptor.keyPath.split(separator: ".", omittingEmptySubsequences: false).map(
        String.init
      )
      let columns: [String]
      switch try value(names, row) {
      case .attribute(let column, let exact, let type):
        if type == .string, descriptor.comparison != .value { throw Untranslatable() }
        if type == .uri { throw Untranslatable() }
        columns = [column] + (exact.map { [$0] } ?? [])
      case .record: throw Untranslatable()
      }
      terms += columns.map { $0 + (descriptor.isAscending ? " NULLS FIRST" : " DESC NULLS LAST") }
    }
    return (terms + [row.key + row.placement.key.collation]).joined(separator: ", ")
  }
}

// MARK: Values

extension FetchTranslator {
  /// The left side of a comparison.
  private enum Value {
    case attribute(column: String, exactColumn: String?, type: AttributeType)
    /// The key of a record that belongs to one of several entities.
    case record(key: String, RecordKey, entities: [String: EntityDescription])
  }

  /// Returns the value that a key path refers to. The path may cross to-one relationships.
  private mutating func value(_ names: [String], _ start: Row) throws(Untranslatable) -> Value {
    guard let last = names.last else { throw Untranslatable() }
    let row = try self.row(names.dropLast(), start)
    guard let ordinal = row.placement.entity.ordinal(ofProperty: last) else {
      throw Untranslatable()
    }
    switch row.placement.properties[ordinal] {
    case .attribute(let place):
      guard place.columnType != .bytea else { throw Untranslatable() }
      return .attribute(
        column: row.column(place.column),
        exactColumn: place.exactColumn.map(row.column),
        type: place.type
      )
    case .toOne(let place):
      let destination = place.destination
      return .record(key: row.column(place.column), destination.key, entities: destination.entities)
    case .toMany, .join, nil: throw Untranslatable()
    }
  }

  /// Returns the row at the end of to-one relationships.
  mutating func row(_ names: ArraySlice<String>, _ start: Row) throws(Untranslatable) -> Row {
    var row = start
    var path: [String] = []
    for name in names {
      path.append(name)
      if let known = joins[path] {
        row = known
        continue
      }
      guard let ordinal = row.placement.entity.ordinal(ofProperty: name),
        case .toOne(let place) = row.placement.properties[ordinal],
        let target = row.placement.entity.relationshipTargets[ordinal],
        let destination = placement(schema.model.entities[target.entityOrdinal])
      else { throw Untranslatable() }
      let next = Row(alias: "t\(joins.count)", placement: destination)
      joinTexts.append(
        " LEFT JOIN \(schema.source(destination.table)) AS \(next.alias) ON \(next.key) = \(row.column(place.column))"
      )
      joins[path] = next
      row = next
    }
    return row
  }

  private mutating func value(_ expression: FetchExpression, _ row: Row) throws(Untranslatable)
    -> Value
  {
    switch expression {
    case .selfObject:
      let entity = row.placement.entity
      return .record(key: row.key, row.placement.key, entities: [entity.name: entity])
    case .keyPath(of: .selfObject, let keys):
      var names: [String] = []
      for key in keys {
        guard case .property(let name) = key else { throw Untranslatable() }
        names.append(name)
      }
      return try value(names, row)
    default: throw Untranslatable()
    }
  }
}

// MARK: Conditions

extension FetchTranslator {
  /// Returns a condition in SQL.
  ///
  /// - Parameter isExact: whether the condition has to be false if it is not true; otherwise it may be unknown.
  private mutating func condition(
    _ predicate: FetchPredicate,
    _ row: Row,
    isExact: Bool,
    height: Int
  ) throws(Untranslatable) -> String {
    guard height <= Self.greatestHeight, parameters.count <= Self.greatestTermCount else {
      throw Untranslatable()
    }
    switch predicate {
    case .literal(let flag): return flag ? "true" : "false"
    case .not(let term): return "NOT \(try condition(term, row, isExact: true, height: height + 1))"
    case .and(let terms): return try joined(terms, " AND ", row, isExact, height)
    case .or(let terms): return try joined(terms, " OR ", row, isExact, height)
    case .comparison(let comparison):
      let text = try condition(comparison, row)
      return isExact ? "coalesce(\(text), false)" : "(\(text))"
    }
  }

  private mutating func joined(
    _ terms: [FetchPredicate],
    _ separator: String,
    _ row: Row,
    _ isExact: Bool,
    _ height: Int
  ) throws(Untranslatable) -> String {
    if terms.isEmpty { return separator == " AND " ? "true" : "false" }
    var texts: [String] = []
    for term in terms {
      texts.append(try condition(term, row, isExact: isExact, height: height + 1))
    }
    return "(\(texts.joined(separator: separator)))"
  }

  private mutating func condition(_ comparison: FetchComparison, _ row: Row) throws(Untranslatable)
    -> String
  {
    guard comparison.modifier == .direct, comparison.options.isSubset(of: .normalized) else {
      throw Untranslatable()
    }
    if comparison.left.isConstant, let mirrored = comparison.mirrored {
      return try condition(mirrored, row)
    }
    switch try value(comparison.left, row) {
    case .attribute(let column, let exact?, _): return try dates(column, exact, comparison)
    case .attribute(let column, nil, let type): return try scalars(column, type, comparison)
    case .record(let key, let kind, let entities): return try records(key, kind, entities, comparison)
    }
  }

  private mutating func scalars(
    _ column: String,
    _ type: AttributeType,
    _ comparison: FetchComparison
  ) throws(Untranslatable) -> String {
    switch comparison.comparator {
    case .equalTo, .notEqualTo:
      let isEqual = comparison.comparator == .equalTo
      let constant = try comparison.right.scalar
      if constant.isNull { return "\(column) IS \(isEqual ? "" : "NOT ")NULL" }
      let place = try self.constant(constant, type)
      // An index helps to find equal values, but not to find values that are not distinct.
      return isEqual ? "\(column) = \(place)" : "\(column) IS DISTINCT FROM \(place)"
    case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
      guard type != .uri else { throw Untranslatable() }
      let constant = try comparison.right.scalar
      guard !constant.isNotANumber else { throw Untranslatable() }
      let text = "\(column) \(comparison.comparator.rawValue) \(try self.constant(constant, type))"
      let isGreater =
        comparison.comparator == .greaterThan || comparison.comparator == .greaterThanOrEqualTo
      return isGreater ? text + withoutNaN(column, type) : text
    case .between:
      guard type != .uri else { throw Untranslatable() }
      let bounds = try comparison.right.elements
      guard bounds.count == 2, !bounds[0].isNotANumber, !bounds[1].isNotANumber else {
        throw Untranslatable()
      }
      return
        "\(column) BETWEEN \(try constant(bounds[0], type)) AND \(try constant(bounds[1], type))"
    case .in:
      guard case .aggregate = comparison.right else { throw Untranslatable() }
      return try isOne(of: try comparison.right.elements, column, type)
    case .contains, .beginsWith, .endsWith: return try matched(column, type, comparison)
    case .like, .matches: throw Untranslatable()
    }
  }

  /// PostgreSQL orders NaN above all numbers; in predicates it has no order.
  private func withoutNaN(_ column: String, _ type: AttributeType) -> String {
    switch type {
    case .double, .float, .decimal: " AND \(column) <> 'NaN'"
    default: ""
    }
  }

  private mutating func isOne(
    of elements: [PropertyValue],
    _ column: String,
    _ type: AttributeType
  ) throws(Untranslatable) -> String {
    guard elements.count <= Self.greatestElementCount else { throw Untranslatable() }
    var array = PostgreSQLParameter.ArrayBuilder(try Constant.type(type), capacity: elements.count)
    for element in elements where !element.isNull {
      let field = try Constant.field(element, type)
      array.append { $0.appendField(field) }
    }
    let text = "\(column) = ANY(\(parameter(array.parameter)))"
    return elements.contains(where: \.isNull) ? "\(text) OR \(column) IS NULL" : text
  }

  private mutating func matched(
    _ column: String,
    _ type: AttributeType,
    _ comparison: FetchComparison
  ) throws(Untranslatable) -> String {
    guard type == .string, case .string(let part) = try comparison.right.scalar else {
      throw Untranslatable()
    }
    let place = try constant(.string(part), type)
    switch comparison.comparator {
    case .contains: return "strpos(\(column), \(place)) > 0"
    case .beginsWith: return "left(\(column), \(part.unicodeScalars.count)) = \(place)"
    default: return "right(\(column), \(part.unicodeScalars.count)) = \(place)"
    }
  }

  private mutating func constant(_ value: PropertyValue, _ type: AttributeType)
    throws(Untranslatable) -> String
  {
    parameter(PostgreSQLParameter(try Constant.type(type), try Constant.field(value, type)))
  }
}

// MARK: Dates and records

extension FetchTranslator {
  /// Returns a comparison of a date: a timestamp in microseconds and, for dates with the same timestamp, the exact
  /// seconds.
  private mutating func dates(
    _ column: String,
    _ exactColumn: String,
    _ comparison: FetchComparison
  ) throws(Untranslatable) -> String {
    switch comparison.comparator {
    case .equalTo, .notEqualTo:
      let isEqual = comparison.comparator == .equalTo
      let constant = try comparison.right.scalar
      if constant.isNull { return "\(column) IS \(isEqual ? "" : "NOT ")NULL" }
      let text = try compared(column, exactColumn, "=", constant)
      return isEqual ? text : "NOT coalesce(\(text), false)"
    case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
      return try compared(
        column,
        exactColumn,
        comparison.comparator.rawValue,
        try comparison.right.scalar
      )
    case .between:
      let bounds = try comparison.right.elements
      guard bounds.count == 2 else { throw Untranslatable() }
      let lower = try compared(column, exactColumn, ">=", bounds[0])
      return "\(lower) AND \(try compared(column, exactColumn, "<=", bounds[1]))"
    case .in:
      let elements = try comparison.right.elements
      guard elements.count <= Self.greatestDateCount else { throw Untranslatable() }
      var terms: [String] = []
      for element in elements {
        terms.append(
          element.isNull ? "\(column) IS NULL" : try compared(column, exactColumn, "=", element)
        )
      }
      return terms.isEmpty ? "false" : terms.joined(separator: " OR ")
    default: throw Untranslatable()
    }
  }

  private mutating func compared(
    _ column: String,
    _ exactColumn: String,
    _ symbol: String,
    _ constant: PropertyValue
  ) throws(Untranslatable) -> String {
    guard case .date(let date) = constant, !date.timeIntervalSinceReferenceDate.isNaN else {
      throw Untranslatable()
    }
    let moment = Timestamp(date)
    // All dates that PostgreSQL cannot represent have the same timestamp, and for others far away the seconds cannot
    // distinguish the timestamps.
    guard (-Self.greatestMoment...Self.greatestMoment).contains(moment.microseconds) else { throw Untranslatable() }
    let place = parameter(PostgreSQLParameter(.timestamptz, moment.microseconds.bigEndianBytes))
    let exact = parameter(.double(date.timeIntervalSinceReferenceDate))
    let rounded = parameter(.double(moment.date.timeIntervalSinceReferenceDate))
    let seconds = "coalesce(\(exactColumn), \(rounded))"
    let isSame = "(\(column) = \(place) AND \(seconds) \(symbol) \(exact))"
    if symbol == "=" { return isSame }
    let strict = String(symbol.prefix(1))
    let text = "(\(column) \(strict) \(place) OR \(isSame))"
    return strict == ">" ? "\(text) AND coalesce(\(exactColumn), 0) <> 'NaN'" : text
  }

  private mutating func records(
    _ key: String,
    _ kind: RecordKey,
    _ entities: [String: EntityDescription],
    _ comparison: FetchComparison
  ) throws(Untranslatable) -> String {
    switch comparison.comparator {
    case .equalTo, .notEqualTo:
      let isEqual = comparison.comparator == .equalTo
      if try comparison.right.isNullConstant { return "\(key) IS \(isEqual ? "" : "NOT ")NULL" }
      guard let bytes = try self.key(comparison.right, kind, entities) else {
        return isEqual ? "false" : "true"
      }
      let place = parameter(PostgreSQLParameter(kind.type, bytes))
      return isEqual ? "\(key) = \(place)" : "\(key) IS DISTINCT FROM \(place)"
    case .in:
      guard case .aggregate(let elements) = comparison.right,
        elements.count <= Self.greatestElementCount
      else {
        throw Untranslatable()
      }
      var keys = PostgreSQLParameter.ArrayBuilder(kind.type, capacity: elements.count)
      var hasNull = false
      for element in elements {
        if try element.isNullConstant {
          hasNull = true
        } else if let bytes = try self.key(element, kind, entities) {
          keys.append { $0.appendField(bytes) }
        }
      }
      let text = "\(key) = ANY(\(parameter(keys.parameter)))"
      return hasNull ? "\(text) OR \(key) IS NULL" : text
    default: throw Untranslatable()
    }
  }

  /// Returns the key of a record; nil for a record of another store, which equals no record of this one.
  private func key(
    _ expression: FetchExpression,
    _ kind: RecordKey,
    _ entities: [String: EntityDescription]
  ) throws(Untranslatable) -> [UInt8]? {
    let (store, name, reference): (UUID?, String, ReferenceID)
    switch expression {
    case .object(let uri):
      (store, name, reference) = (uri.storeIdentifier, uri.entityName, uri.reference)
    case .constant(.toOne(let id)):
      (store, name, reference) = (id.storeIdentifier, id.entity.name, id.reference)
    default: throw Untranslatable()
    }
    guard let store, let storeIdentifier else { throw Untranslatable() }
    if store != storeIdentifier { return nil }
    guard let bytes = kind.bytes(reference), entities[name] != nil else { throw Untranslatable() }
    return bytes
  }
}
