extension FetchExpression {
  /// The operator that is written as the function called `name`; nil where there is none, or where the arguments do not fit.
  package static func operation(named name: String, _ arguments: [FetchExpression]) -> FetchExpression? {
    operators[name].flatMap { $0(arguments) }
  }

  /// Functions that are operators by another name; nil where the arguments do not fit.
  private static let operators: [String: @Sendable ([FetchExpression]) -> FetchExpression?] = [
    "add:to:": { binary($0, .add) },
    "from:subtract:": { binary($0, .subtract) },
    "multiply:by:": { binary($0, .multiply) },
    "divide:by:": { binary($0, .divide) },
    "raise:toPower:": { binary($0, .power) },
    "objectFrom:withIndex:": { $0.count == 2 ? .element(of: $0[0], .at($0[1])) : nil },
    "castObject:toType:": { arguments in
      guard arguments.count == 2, case .constant(.string(let name)) = arguments[1] else { return nil }
      return FetchExpression.CastType(spelling: name).map { .cast(arguments[0], $0) }
    },
    "noindex:": { $0.count == 1 ? $0[0] : nil },
  ]

  private static func binary(
    _ arguments: [FetchExpression],
    _ symbol: FetchExpression.ArithmeticOperator
  ) -> FetchExpression? {
    arguments.count == 2 ? .arithmetic(arguments[0], symbol, arguments[1]) : nil
  }
}
