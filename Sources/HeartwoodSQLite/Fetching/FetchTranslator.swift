import GRDB
import HeartwoodModel
import HeartwoodStore

/// Makes SQL of a fetch. Every value is an argument, so that no text of a predicate is ever read as SQL.
///
/// A predicate has two answers, as SQL has three: where an answer may be unknown and counts, it is made false.
struct FetchTranslator {
  let schema: SQLiteSchema
  /// What becomes of rows of no entity.
  let strays: StrayRows.Handling
  private(set) var arguments: [DatabaseValue] = []
  private(set) var aliasCount = 0
  /// The rows that collections stand for, one at a time.
  var members: [PlanExpression: QueryScope] = [:]
  /// The rows that the variables of subqueries stand for.
  var variables: [Int: QueryScope] = [:]
  /// What the variables of a condition on groups stand for: the keys, then the aggregates. Nil is what SQL could not compare.
  var groupValues: [TranslatedValue?]?

  init(schema: SQLiteSchema, strays: StrayRows.Handling) {
    self.schema = schema
    self.strays = strays
  }

  mutating func alias() -> String {
    aliasCount += 1
    return "t\(aliasCount - 1)"
  }

  /// The place for a value.
  mutating func argument(_ value: any DatabaseValueConvertible) -> String {
    arguments.append(value.databaseValue)
    return "?"
  }
}

/// A statement and its arguments.
struct FetchStatement {
  /// A statement with so many arguments at most is kept by the connection. One with more has a list, and lists of another length make another
  /// statement: few are met again, and all would be kept.
  private static let greatestCountKept = 16

  let text: String
  let arguments: [DatabaseValue]

  /// The statement of a connection, with the arguments.
  func prepared(_ db: Database) throws -> Statement {
    let isKept = arguments.count <= Self.greatestCountKept
    let statement = try isKept ? db.cachedStatement(sql: text) : db.makeStatement(sql: text)
    try statement.setArguments(StatementArguments(arguments))
    return statement
  }
}

extension FetchTranslator {
  /// What finds the keys of the records, in their order; nil where SQL would not find just the same.
  static func keys(_ fetch: RecordFetch, in schema: SQLiteSchema) -> FetchStatement? {
    translated(fetch, in: schema) { translator, scope, condition throws(Untranslatable) in
      let order = try translator.order(fetch.sorts, scope)
      // Translate the order first: it may add joins that the FROM clause needs.
      var text = "SELECT \(scope.key) FROM \(scope.source) WHERE \(condition) ORDER BY \(order)"
      if fetch.limit != nil || fetch.offset > 0 {
        text += " LIMIT \(translator.argument(fetch.limit ?? -1)) OFFSET \(translator.argument(fetch.offset))"
      }
      return text
    }
  }

  /// What counts the records; nil where SQL would not find just the same.
  static func count(_ fetch: RecordFetch, in schema: SQLiteSchema) -> FetchStatement? {
    translated(fetch, in: schema) { _, scope, condition throws(Untranslatable) in
      "SELECT count(*) FROM \(scope.source) WHERE \(condition)"
    }
  }

  /// The conditions of a fetch that SQL can test, and its order where SQL has that; nil where it can test none of them.
  static func narrowed(_ fetch: RecordFetch, in schema: SQLiteSchema) -> NarrowedFetch? {
    var (tested, rest): ([PlanPredicate], [PlanPredicate]) = ([], [])
    for term in fetch.plan?.conjuncts ?? [] {
      let isTested = count(fetch.part(where: term, sortedBy: []), in: schema) != nil
      if isTested { tested.append(term) } else { rest.append(term) }
    }
    if tested.isEmpty { return nil }
    let isSorted = keys(fetch.part(where: nil, sortedBy: fetch.sorts), in: schema) != nil
    return NarrowedFetch(
      part: fetch.part(where: .and(tested), sortedBy: isSorted ? fetch.sorts : []),
      rest: rest.isEmpty ? nil : .and(rest),
      isSorted: isSorted
    )
  }

  private static func translated(
    _ fetch: RecordFetch,
    in schema: SQLiteSchema,
    _ text: (inout FetchTranslator, QueryScope, _ condition: String) throws(Untranslatable) -> String
  ) -> FetchStatement? {
    guard let placement = schema.placement(of: fetch.entity) else { return nil }
    var translator = FetchTranslator(schema: schema, strays: .found)
    let scope = QueryScope(placement, alias: translator.alias())
    do throws(Untranslatable) {
      let condition = try translator.condition(fetch.plan, ofRecordsIn: scope)
      let text = try text(&translator, scope, condition)
      return try translator.statement(text)
    } catch {
      return nil
    }
  }

  /// The terms of the order; the keys decide between records that it leaves alike.
  private mutating func order(_ sorts: [SortPlan], _ scope: QueryScope) throws(Untranslatable) -> String {
    var terms: [String] = []
    for sort in sorts {
      guard sort.expression.weight <= StatementSize.greatestWeight else { throw Untranslatable() }
      let value = try value(sort.expression, scope)
      if value.mayBeNaN { throw Untranslatable() }
      var term = value.text
      if case .text = value.kind {
        if sort.ordering.isLocalized {
          term += " COLLATE \(SQLiteFunctions.localizedOrder)"
        } else if !sort.ordering.folding.isNone {
          term = SQLiteFunctions.folded(term, sort.ordering.folding)
        }
      } else if case .record = value.kind {
        throw Untranslatable()
      }
      terms.append(term + (sort.isAscending ? "" : " DESC"))
    }
    return (terms + [scope.key]).joined(separator: ", ")
  }
}
