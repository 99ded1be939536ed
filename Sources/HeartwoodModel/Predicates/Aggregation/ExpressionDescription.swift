/// A column of a result: a name, and the expression that gives its values.
///
/// A string literal is a key path, called by itself: `"list.name"`.
public struct ExpressionDescription: Sendable, Hashable {
  /// What the column is called in the result.
  public var name: String
  /// What its values are. A function of one value for each record, such as `sum(price)`, is taken over the records of a group, or
  /// over all; of a collection that a record has, it is taken over that.
  public var expression: FetchExpression

  /// A column called `name`.
  public init(name: String, expression: FetchExpression) {
    self.name = name
    self.expression = expression
  }

  /// The value that `keyPath` leads to, called as the key path is. It leads through no to-many relationship but by a collection
  /// operator.
  public init(_ keyPath: String) {
    self.init(name: keyPath, expression: FetchExpression(keyPath: keyPath))
  }

  /// The column that a format string describes: `price * 2`, `sum(price) AS total`, `count(distinct(list))`. Without `AS` it is called
  /// as the format string itself.
  ///
  /// - Throws: ``FetchPredicateError``, which shows the place of the mistake.
  public init(format: String, _ arguments: any FetchArgument...) throws(FetchPredicateError) {
    var parser = try PredicateParser(format, arguments.map(\.fetchExpression))
    let (expression, name) = try parser.parseWholeColumn()
    self.init(name: name ?? format, expression: expression)
  }
}

extension ExpressionDescription: ExpressibleByStringLiteral {
  /// The value that a key path leads to, called as the key path is.
  public init(stringLiteral keyPath: String) {
    self.init(keyPath)
  }
}

extension ExpressionDescription {
  /// How many records a group has.
  public static func count(as name: String = "count") -> ExpressionDescription {
    ExpressionDescription(name: name, expression: .keyPath(of: .selfObject, [.collection(.count)]))
  }

  /// How many different values `keyPath` leads to in a group. `nil` does not count.
  public static func distinctCount(of keyPath: String, as name: String) -> ExpressionDescription {
    aggregate(.count, .function(.distinct, [FetchExpression(keyPath: keyPath)]), name)
  }

  /// The sum of the numbers that `keyPath` leads to in a group; 0 where there are none.
  public static func sum(of keyPath: String, as name: String) -> ExpressionDescription {
    aggregate(.sum, FetchExpression(keyPath: keyPath), name)
  }

  /// The average of the numbers that `keyPath` leads to in a group; nothing where there are none.
  public static func average(of keyPath: String, as name: String) -> ExpressionDescription {
    aggregate(.average, FetchExpression(keyPath: keyPath), name)
  }

  /// The least value that `keyPath` leads to in a group; nothing where there are none.
  public static func minimum(of keyPath: String, as name: String) -> ExpressionDescription {
    aggregate(.min, FetchExpression(keyPath: keyPath), name)
  }

  /// The greatest value that `keyPath` leads to in a group; nothing where there are none.
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
  /// The key path that `text` spells, with dots between the keys: `list.name`, `tags.@count`.
  public init(keyPath text: String) {
    let keys = text.split(separator: ".", omittingEmptySubsequences: false).map { part in
      CollectionOperator(rawValue: String(part)).map(FetchKey.collection) ?? .property(String(part))
    }
    self = .keyPath(of: .selfObject, keys)
  }
}
