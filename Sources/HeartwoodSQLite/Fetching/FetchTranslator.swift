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
  var members: [CompiledExpression: QueryScope] = [:]
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
      let order = try translator.order(fetch.compiledSorts, scope)
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

  /// The terms of the order; the keys decide between records that it leaves alike.
  private mutating func order(_ sorts: [CompiledSort], _ scope: QueryScope) throws(Untranslatable) -> String {
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

// MARK: QueryScope

/// The rows of one table in a query: those of the entity that is fetched, of a subquery, or at the end of relationships.
final class QueryScope {
  /// What the table is called in the query.
  let alias: String
  let placement: EntityPlacement
  /// The tables at the end of to-one relationships, by the ordinal of the relationship.
  private var destinations: [Int: QueryScope] = [:]
  /// The joins that lead to them, in order.
  private(set) var joins: [String] = []

  init(_ placement: EntityPlacement, alias: String) {
    self.placement = placement
    self.alias = alias
  }

  /// The key of the row.
  var key: String { "\(alias).Z_PK" }

  func column(_ name: String) -> String { "\(alias).\(SQLiteName.quoted(name))" }

  /// The table and what is joined to it, as it stands behind `FROM`.
  var source: String {
    (["\(SQLiteName.quoted(placement.tableName)) AS \(alias)"] + allJoins).joined(separator: " ")
  }

  /// What is joined to the table, by itself and by what is joined.
  var allJoins: [String] {
    destinations.isEmpty ? joins : joins + destinations.sorted { $0.key < $1.key }.flatMap { $0.value.allJoins }
  }

  /// The table at the end of a to-one relationship, joined where it has not been yet.
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

/// An expression in SQL, and what it gives.
struct TranslatedValue {
  /// What values of one kind have in common: they can be compared, and compare in SQL as they do in predicates.
  enum Kind: Equatable {
    case number, text, date, uuid
    /// The key of a record, of the topmost entity with this number.
    case record(root: Int)
  }

  let text: String
  let kind: Kind
  /// Whether it may be no number, which is NULL in SQL and a value in predicates.
  var mayBeNaN = false
}

extension TranslatedValue.Kind {
  /// The kind of an attribute's values; nil for those that a file holds otherwise than they compare.
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

/// Where something in a fetch has no counterpart in SQL that means just the same.
struct Untranslatable: Error {}

// MARK: StatementSize

// SQLite's parser keeps at most 100 symbols at once, and an expression is at most 1,000 terms high. What is larger is no mistake of the
// predicate: it is tested in memory.

/// How large a statement may be.
enum StatementSize {
  /// What a condition may weigh, as ``HeartwoodModel/CompiledPredicate/weight`` counts. What stands around it and at its ends has the rest.
  static let greatestWeight = 54
  /// How long SQLite thinks about a condition grows with the square of its comparisons.
  static let greatestComparisonCount = 2_000
  /// SQLite numbers arguments up to 32,766.
  static let greatestArgumentCount = 32_000
  /// SQLite joins 64 tables.
  static let greatestTableCount = 60
  /// SQLite reads 1,000,000 bytes.
  static let greatestLength = 900_000
  /// So many terms stand side by side; of more, groups are made.
  static let termsInGroup = 100
}

extension CompiledPredicate {
  /// About how many symbols the parser keeps while it is within the innermost part. Each stands for 15 terms of the expression's height
  /// at most.
  var weight: Int {
    switch self {
    case .literal: 0
    case .not(let term): 1 + term.weight
    case .and(let terms), .or(let terms): Self.weight(ofList: terms.count) + (terms.map(\.weight).max() ?? 0)
    case .comparison(let comparison): comparison.weight
    }
  }

  /// How many comparisons there are, but for those in subqueries.
  fileprivate var comparisonCount: Int {
    switch self {
    case .literal: 0
    case .not(let term): term.comparisonCount
    case .and(let terms), .or(let terms): terms.reduce(0) { $0 + $1.comparisonCount }
    case .comparison: 1
    }
  }

  /// Whether SQLite takes it as a condition.
  var isOfFitSize: Bool {
    weight <= StatementSize.greatestWeight && comparisonCount <= StatementSize.greatestComparisonCount
  }

  /// A parenthesis, what stands to the left, and the operator; twice where there are groups.
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
  /// That of a query within the statement.
  fileprivate static let queryWeight = 12

  /// As that of a predicate.
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
  /// A statement that SQLite takes as it is.
  func statement(_ text: String) throws(Untranslatable) -> FetchStatement {
    guard arguments.count <= StatementSize.greatestArgumentCount, aliasCount <= StatementSize.greatestTableCount,
      text.utf8.count <= StatementSize.greatestLength
    else { throw Untranslatable() }
    return FetchStatement(text: text, arguments: arguments)
  }
}
