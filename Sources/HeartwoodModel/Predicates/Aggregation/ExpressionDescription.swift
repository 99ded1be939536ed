/// A column of a result: a name, and the expression for its values.
///
///     let columns: [ExpressionDescription] = [
///       "list.name",
///       .count(),
///       .sum(of: "price", as: "total"),
///       try ExpressionDescription(format: "average(price) * %@ AS gross", 1.19),
///     ]
///
/// A string literal is a key path, which is also the name of the column.
public struct ExpressionDescription: Sendable, Hashable {
  /// The name of the column in the result.
  public var name: String
  /// The expression for the values. A function of one value for each record, such as `sum(price)`, is computed over the
  /// records of a group, or over all records. A function of a collection that each record has is computed over that
  /// collection.
  public var expression: FetchExpression

  /// Makes a column without checking it.
  public init(name: String, expression: FetchExpression) {
    self.name = name
    self.expression = expression
  }

  /// Makes a column of the values at `keyPath`, which is also its name. The key path may follow a to-many relationship
  /// only with a collection operator.
  public init(_ keyPath: String) {
    self.init(name: keyPath, expression: FetchExpression(keyPath: keyPath))
  }

  /// Parses a column: `price * 2`, `sum(price) AS total`, `count(distinct(list))`. Without `AS`, the format string is
  /// also the name of the column.
  ///
  /// - Throws: ``FetchPredicateError``, which shows the place of the mistake.
  public init(format: String, _ arguments: any FetchArgument...) throws(FetchPredicateError) {
    var parser = try PredicateParser(format, arguments.map(\.fetchExpression))
    let (expression, name) = try parser.parseWholeColumn()
    self.init(name: name ?? format, expression: expression)
  }
}

extension ExpressionDescription: ExpressibleByStringLiteral {
  /// Makes a column of the values at a key path, which is also its name.
  public init(stringLiteral keyPath: String) {
    self.init(keyPath)
  }
}

extension ExpressionDescription {
  /// Returns a column with the number of records in each group.
  public static func count(as name: String = "count") -> ExpressionDescription {
    ExpressionDescription(name: name, expression: .keyPath(of: .selfObject, [.collection(.count)]))
  }

  /// Returns a column with the number of different values at `keyPath` in each group. `nil` is not counted.
  public static func distinctCount(of keyPath: String, as name: String) -> ExpressionDescription {
    aggregate(.count, .function(.distinct, [FetchExpression(keyPath: keyPath)]), name)
  }

  /// Returns a column with the sum of the numbers at `keyPath` in each group; 0 if there are none.
  public static func sum(of keyPath: String, as name: String) -> ExpressionDescription {
    aggregate(.sum, FetchExpression(keyPath: keyPath), name)
  }

  /// Returns a column with the average of the numbers at `keyPath` in each group; null if there are none.
  public static func average(of keyPath: String, as name: String) -> ExpressionDescription {
    aggregate(.average, FetchExpression(keyPath: keyPath), name)
  }

  /// Returns a column with the least value at `keyPath` in each group; null if there are none.
  public static func minimum(of keyPath: String, as name: String) -> ExpressionDescription {
    aggregate(.min, FetchExpression(keyPath: keyPath), name)
  }

  /// Returns a column with the greatest value at `keyPath` in each group; null if there are none.
  public static func maximum(of keyPath: String, as name: String) -> ExpressionDescription {
    aggregate(.max, FetchExpression(keyPath: keyPath), name)
  }

  private static func aggregate(
    _ function: FetchFunction,
    _ operand: FetchExpression,
    _ name: String
  ) -> ExpressionDescription {
    ExpressionDescription(name: name, expression: .function(function, [operand]))
  }
}

extension FetchExpression {
  /// Makes a key path from text with dots between the keys: `list.name`, `tags.@count`. Nothing is checked here.
  public init(keyPath text: String) {
    let keys = text.split(separator: ".", omittingEmptySubsequences: false).map { part in
      CollectionOperator(rawValue: String(part)).map(FetchKey.collection) ?? .property(String(part))
    }
    self = .keyPath(of: .selfObject, keys)
  }
}
