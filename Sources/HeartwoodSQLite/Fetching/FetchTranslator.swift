import GRDB
import HeartwoodModel
import HeartwoodStore

/// Translates a fetch to SQL. Every value is an argument, so that no text of a predicate is ever parsed as SQL.
///
/// A predicate has two results, but SQL has three: if a result may be unknown and the difference matters, it is made
/// false.
struct FetchTranslator {
  let schema: SQLiteSchema
  /// How rows of no entity are handled.
  let strays: StrayRows.Handling
  private(set) var arguments: [DatabaseValue] = []
  private(set) var aliasCount = 0
  /// The rows that stand for collections, one member at a time.
  var members: [CompiledExpression: QueryScope] = [:]
  /// The rows that the variables of subqueries refer to.
  var variables: [Int: QueryScope] = [:]
  /// The values that the variables of a condition on groups refer to: the keys, then the aggregates. An element is nil
  /// if SQL could not compare it.
  var groupValues: [TranslatedValue?]?

  init(schema: SQLiteSchema, strays: StrayRows.Handling) {
    self.schema = schema
    self.strays = strays
  }

  mutating func alias() -> String {
    aliasCount += 1
    return "t\(aliasCount - 1)"
  }

  /// Adds a value, and returns its placeholder.
  mutating func argument(_ value: any DatabaseValueConvertible) -> String {
    arguments.append(value.databaseValue)
    return "?"
  }
}

/// A statement and its arguments.
struct FetchStatement: Hashable, Sendable {
  /// The maximum number of arguments of a statement that the connection caches. A statement with more arguments
  /// contains a list, and a list of another length makes another statement: few of them are used again, but all would
  /// be kept.
  private static let greatestCountKept = 16

  let text: String
  let arguments: [DatabaseValue]

  /// Returns the prepared statement of a connection, with the arguments set.
  func prepared(_ db: Database) throws -> Statement {
    let isKept = arguments.count <= Self.greatestCountKept
    let statement = try isKept ? db.cachedStatement(sql: text) : db.makeStatement(sql: text)
    try statement.setArguments(StatementArguments(arguments))
    return statement
  }
}

extension FetchTranslator {
  /// The part of the found records that a statement returns.
  struct Page {
    /// The least key; nil for any.
    var start: Int64?
    /// The maximum number of records; nil for any.
    var limit: Int?
    /// The number of records before the first one, from ``start`` on.
    var offset = 0
  }

  /// Returns the statement that finds the keys of the records, in order; nil if SQL would not find exactly the same
  /// records.
  static func keys(_ fetch: RecordFetch, in schema: SQLiteSchema) -> FetchStatement? {
    keys(fetch, Page(limit: fetch.limit, offset: fetch.offset), in: schema)
  }

  /// Returns the statement that finds the keys of the records in a page of all that a fetch finds, whatever its own
  /// limit and offset are; nil if SQL would not find exactly the same records.
  static func keys(_ fetch: RecordFetch, _ page: Page, in schema: SQLiteSchema) -> FetchStatement? {
    translated(fetch, in: schema) { translator, scope, condition throws(Untranslatable) in
      let start = page.start.map { " AND \(scope.key) >= \(translator.argument($0))" } ?? ""
      let order = try translator.order(fetch.compiledSorts, scope)
      // Translate the order first: it may add joins that the FROM clause needs.
      var text = "SELECT \(scope.key) FROM \(scope.source) WHERE \(condition)\(start) ORDER BY \(order)"
      if page.limit != nil || page.offset > 0 {
        text += " LIMIT \(translator.argument(page.limit ?? -1)) OFFSET \(translator.argument(page.offset))"
      }
      return text
    }
  }

  /// Returns the statement that counts the records; nil if SQL would not find exactly the same records.
  static func count(_ fetch: RecordFetch, in schema: SQLiteSchema) -> FetchStatement? {
    translated(fetch, in: schema) { _, scope, condition throws(Untranslatable) in
      "SELECT count(*) FROM \(scope.source) WHERE \(condition)"
    }
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
      let condition = try translator.condition(fetch.compiledPredicate, ofRecordsIn: scope)
      let text = try text(&translator, scope, condition)
      return try translator.statement(text)
    } catch {
      return nil
    }
  }

  /// Returns the terms of the order; the keys decide between records that compare equal.
  private mutating func order(_ sorts: [CompiledSort], _ scope: QueryScope) throws(Untranslatable) -> String {
    var terms: [String] = []
    for sort in sorts {
      guard sort.expression.weight <= StatementSize.greatestWeight else { throw Untranslatable() }
      let value = try value(sort.expression, scope)
      if value.mayBeNaN { throw Untranslatable() }
      var term = value.text
      if case .text = value.kind {
        let folding = TextFolding(sort.comparison)
        if sort.comparison == .localizedStandard {
          term += " COLLATE \(SQLiteFunctions.localizedOrder)"
        } else if !folding.isNone {
          term = SQLiteFunctions.folded(term, folding)
        }
      } else if case .record = value.kind {
        throw Untranslatable()
      }
      terms.append(term + (sort.isAscending ? "" : " DESC"))
    }
    return (terms + [scope.key]).joined(separator: ", ")
  }
}

// MARK: QueryScope

/// The rows of one table in a query: those of the fetched entity, of a subquery, or at the end of relationships.
final class QueryScope {
  /// The alias of the table in the query.
  let alias: String
  let placement: EntityPlacement
  /// The tables at the end of to-one relationships, by the ordinal of the relationship.
  private var destinations: [Int: QueryScope] = [:]
  /// The joins that add these tables, in order.
  private(set) var joins: [String] = []

  init(_ placement: EntityPlacement, alias: String) {
    self.placement = placement
    self.alias = alias
  }

  /// The key of the row.
  var key: String { "\(alias).Z_PK" }

  func column(_ name: String) -> String { "\(alias).\(SQLiteName.quoted(name))" }

  /// The table and the tables joined to it, as they follow `FROM`.
  var source: String {
    (["\(SQLiteName.quoted(placement.tableName)) AS \(alias)"] + allJoins).joined(separator: " ")
  }

  /// All joins: those of the table, and those of the tables joined to it.
  var allJoins: [String] {
    destinations.isEmpty ? joins : joins + destinations.sorted { $0.key < $1.key }.flatMap { $0.value.allJoins }
  }

  /// Returns the table at the end of a to-one relationship, and joins it if that is not done yet.
  func destination(_ ordinal: Int, _ placement: EntityPlacement, column: String, alias: () -> String) -> QueryScope {
    if let known = destinations[ordinal] { return known }
    let scope = QueryScope(placement, alias: alias())
    destinations[ordinal] = scope
    joins.append(
      "LEFT JOIN \(SQLiteName.quoted(placement.tableName)) AS \(scope.alias) ON \(scope.key) = \(self.column(column))"
    )
    return scope
  }
}

// MARK: TranslatedValue

/// An expression in SQL, and the kind of its value.
struct TranslatedValue {
  /// Values of one kind can be compared with each other, and compare in SQL as they do in predicates.
  enum Kind: Equatable {
    case number, text, date, uuid
    /// The key of a record, of the root entity with this number.
    case record(root: Int)
  }

  let text: String
  let kind: Kind
  /// Whether the value may be NaN, which is NULL in SQL and a value in predicates.
  var mayBeNaN = false
}

extension TranslatedValue.Kind {
  /// Creates the kind of an attribute's values; nil if the stored form does not compare as the values do.
  init?(_ type: AttributeType) {
    switch type {
    case .integer16, .integer32, .integer64, .double, .float, .boolean: self = .number
    case .string: self = .text
    case .date: self = .date
    case .uuid: self = .uuid
    case .decimal, .uri, .binary, .transformable, .undefined: return nil
    }
  }
}

/// Thrown if a part of a fetch has no counterpart in SQL with exactly the same meaning.
struct Untranslatable: Error {}

// MARK: StatementSize

// SQLite's parser keeps at most 100 symbols at once, and an expression is at most 1,000 terms high. A larger predicate
// is not an error: it is tested in memory.

/// The limits for the size of a statement.
enum StatementSize {
  /// The maximum weight of a condition, as counted by ``HeartwoodModel/CompiledPredicate/weight``. The rest is for the
  /// statement around it and the expressions at its leaves.
  static let greatestWeight = 54
  /// The maximum number of comparisons: the time in which SQLite prepares a condition grows with the square of their
  /// number.
  static let greatestComparisonCount = 2_000
  /// The maximum number of arguments: SQLite numbers up to 32,766.
  static let greatestArgumentCount = 32_000
  /// The maximum number of tables: SQLite joins up to 64.
  static let greatestTableCount = 60
  /// The maximum length of a statement: SQLite reads up to 1,000,000 bytes.
  static let greatestLength = 900_000
  /// The maximum number of terms side by side; more terms are divided into groups.
  static let termsInGroup = 100
}

extension CompiledPredicate {
  /// The approximate number of symbols that the parser keeps within the innermost part. Each stands for at most 15
  /// terms of the expression's height.
  var weight: Int {
    switch self {
    case .literal: 0
    case .not(let term): 1 + term.weight
    case .and(let terms), .or(let terms): Self.weight(ofList: terms.count) + (terms.map(\.weight).max() ?? 0)
    case .comparison(let comparison): comparison.weight
    }
  }

  /// The number of comparisons, except for those in subqueries.
  fileprivate var comparisonCount: Int {
    switch self {
    case .literal: 0
    case .not(let term): term.comparisonCount
    case .and(let terms), .or(let terms): terms.reduce(0) { $0 + $1.comparisonCount }
    case .comparison: 1
    }
  }

  /// Whether SQLite accepts it as a condition.
  var isOfFitSize: Bool {
    weight <= StatementSize.greatestWeight && comparisonCount <= StatementSize.greatestComparisonCount
  }

  /// Returns the weight of a parenthesis, the left side, and the operator; twice that if there are groups.
  private static func weight(ofList count: Int) -> Int {
    count <= StatementSize.termsInGroup ? 3 + count / 10 : 16 + count / 1000
  }
}

extension CompiledComparison {
  fileprivate var weight: Int {
    (modifier == .direct ? 0 : CompiledExpression.queryWeight) + max(left.weight, right.weight)
  }
}

extension CompiledExpression {
  /// The weight of a query within the statement.
  fileprivate static let queryWeight = 12

  /// The weight, counted as for a predicate.
  var weight: Int {
    switch self {
    case .constant, .subject, .variable, .aggregate: 0
    case .property(let base, _): base.weight
    case .arithmetic(let left, _, let right): 3 + max(left.weight, right.weight)
    case .function(let function, let operands):
      (function.takesCollection ? Self.queryWeight : 8) + (operands.map(\.weight).max() ?? 0)
    case .cast(let operand, _): 8 + operand.weight
    case .conditional(let predicate, let first, let second): 6 + max(predicate.weight, first.weight, second.weight)
    case .collection(_, let operand), .element(let operand, _): Self.queryWeight + operand.weight
    case .subquery(let collection, _, let predicate): Self.queryWeight + max(collection.weight, predicate.weight)
    }
  }
}

extension FetchTranslator {
  /// Returns the statement if SQLite accepts its size.
  func statement(_ text: String) throws(Untranslatable) -> FetchStatement {
    guard arguments.count <= StatementSize.greatestArgumentCount, aliasCount <= StatementSize.greatestTableCount,
      text.utf8.count <= StatementSize.greatestLength
    else { throw Untranslatable() }
    return FetchStatement(text: text, arguments: arguments)
  }
}
