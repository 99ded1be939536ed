extension PredicateCompiler {
  /// Compiles an expression of one record, also in the midst of one over a group.
  mutating func compileOfRecord(_ expression: FetchExpression) throws(Fault) -> Compiled {
    let outer = groupScope
    groupScope = nil
    defer { groupScope = outer }
    return try compile(expression)
  }

  /// Compiles what an expression over a group reads from it; nil where it only computes with other parts.
  mutating func compileOfGroup(_ expression: FetchExpression) throws(Fault) -> Compiled? {
    if let known = groupScope?.value(of: expression) { return known }
    if let form = AggregateForm(expression), let aggregate = try compile(form, expression) { return aggregate }
    switch expression {
    case .variable(let name): return try compileColumn(name)
    case .selfObject, .keyPath, .subquery: throw try notGrouped(expression)
    default: return nil
    }
  }

  /// The aggregate; nil where its operand is a collection that every record has.
  private mutating func compile(_ form: AggregateForm, _ expression: FetchExpression) throws(Fault) -> Compiled? {
    let (plan, kind) = try compileOperand(form.operand, of: expression)
    if kind.element != nil { return nil }
    guard form.function.takes(kind) else {
      let needed = form.function.isExtreme ? "values that have an order" : "numbers"
      throw fault(.typeMismatch, "\(form.function.rawValue) is made of \(needed), and this is \(kind.title).", at: 0)
    }
    let aggregate = AggregatePlan(form.function, of: plan, isDistinct: form.isDistinct)
    return groupScope?.add(expression, aggregate, form.function.isExtreme ? kind : .number)
  }

  /// The place of a mistake in a function's argument is the argument's.
  private mutating func compileOperand(
    _ operand: FetchExpression,
    of expression: FetchExpression
  ) throws(Fault) -> Compiled {
    guard case .function(_, let arguments) = expression else { return try compileOfRecord(operand) }
    return try child(0) { compiler throws(Fault) in
      if arguments.first == operand { return try compiler.compileOfRecord(operand) }
      return try compiler.child(0) { inner throws(Fault) in try inner.compileOfRecord(operand) }
    }
  }

  private mutating func compileColumn(_ name: String) throws(Fault) -> Compiled? {
    guard let column = groupScope?.columns.removeValue(forKey: name) else {
      guard let names = groupScope?.columns.keys.sorted(), !names.isEmpty else { return nil }
      let advice = NameSuggestion.advice(for: name, among: names, listing: "There are")
      throw fault(.unboundVariable, "There is no column called \(name). \(advice)")
    }
    defer { groupScope?.columns[name] = column }
    return try compile(column)
  }

  /// - Throws: what is wrong with the expression for a single record, too.
  private mutating func notGrouped(_ expression: FetchExpression) throws(Fault) -> Fault {
    if case .keyPath(of: .selfObject, let keys) = expression, keys.count == 1, case .property(let name) = keys[0],
      let column = groupScope?.columns[name], column != expression
    {
      return fault(.unsupported, "This is a column, which is written $\(name) here.")
    }
    _ = try compileOfRecord(expression)
    let message =
      "This differs between the records of a group. Group by it as well, or take its min, max, sum or count."
    return fault(.unsupported, message)
  }

  /// Whether an expression has an aggregate in it, so that it is one of a group.
  mutating func isOfGroup(_ expression: FetchExpression) -> Bool {
    if let form = AggregateForm(expression) {
      // try?: what cannot be compiled so is compiled otherwise, or thrown there.
      let kind = try? compileOfRecord(form.operand).kind
      if let kind { return kind.element == nil }
    }
    for operand in expression.operands where isOfGroup(operand) { return true }
    return false
  }
}

extension FetchExpression {
  /// The expressions that this one computes with.
  fileprivate var operands: [FetchExpression] {
    switch self {
    case .constant, .object, .selfObject, .variable, .subquery: []
    case .keyPath(let base, _): [base]
    case .aggregate(let elements): elements
    case .arithmetic(let left, _, let right): [left, right]
    case .function(_, let arguments): arguments
    case .element(let collection, .at(let place)): [collection, place]
    case .element(let collection, _): [collection]
    case .cast(let operand, _): [operand]
    case .conditional(let predicate, let first, let second): predicate.operands + [first, second]
    }
  }
}

extension FetchPredicate {
  /// The expressions that are compared.
  fileprivate var operands: [FetchExpression] {
    switch self {
    case .literal: []
    case .comparison(let comparison): [comparison.left, comparison.right]
    case .not(let term): term.operands
    case .and(let terms), .or(let terms): terms.flatMap(\.operands)
    }
  }
}
