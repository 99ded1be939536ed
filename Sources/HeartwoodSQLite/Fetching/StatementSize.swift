import HeartwoodModel

// SQLite's parser keeps at most 100 symbols at once, and an expression is at most 1,000 terms high. What is larger is no mistake of the
// predicate: it is tested in memory.

/// How large a statement may be.
enum StatementSize {
  /// What a condition may weigh, as ``HeartwoodModel/PlanPredicate/weight`` counts. What stands around it and at its ends has the rest.
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

extension PlanPredicate {
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

extension PlanComparison {
  fileprivate var weight: Int {
    (modifier == .direct ? 0 : PlanExpression.queryWeight) + max(left.weight, right.weight)
  }
}

extension PlanExpression {
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
