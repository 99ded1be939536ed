package import HeartwoodFoundation

/// The rows that a fetch returns instead of objects, checked against an entity.
package struct SelectionPlan: Sendable {
  package let names: [String]
  /// The values of a record. If there are groups, the expressions read variables with a group's keys and then its
  /// aggregates.
  package let columns: [CompiledExpression]
  package let grouping: CompiledGrouping?
  /// The sort descriptors, over the same variables as the columns.
  package let sorts: [CompiledSort]
  /// Whether equal rows are returned once. Records without groups are grouped for that.
  package let isDistinct: Bool
}

/// The rows that a fetch must return instead of objects.
package struct Selection: Sendable {
  var columns: [ExpressionDescription]
  var groupKeys: [ExpressionDescription]
  var having: FetchPredicate?
  var sorts: [FetchSortDescriptor]
  var isDistinct: Bool

  package init(
    columns: [ExpressionDescription],
    groupKeys: [ExpressionDescription] = [],
    having: FetchPredicate? = nil,
    sorts: [FetchSortDescriptor] = [],
    isDistinct: Bool = false
  ) {
    self.columns = columns
    self.groupKeys = groupKeys
    self.having = having
    self.sorts = sorts
    self.isDistinct = isDistinct
  }
}

extension SelectionPlan {
  /// Compiles `selection` for records of `entity`.
  ///
  /// Without columns, it selects those by which the records are grouped, or all attributes.
  ///
  /// - Throws: ``FetchPredicateError`` with the place of the mistake in the expression as text.
  package init(
    _ selection: Selection,
    for entity: EntityDescription,
    in model: ManagedObjectModel,
    now: Date = Date()
  ) throws(FetchPredicateError) {
    var selection = selection
    if selection.columns.isEmpty { selection.columns = selection.groupKeys }
    if selection.columns.isEmpty { selection.columns = Self.attributes(of: entity) }
    try Self.checkNames(selection.columns)
    var compiler = SelectionCompiler(entity, model, now: now)
    self = try compiler.compile(selection)
  }

  fileprivate init(
    _ columns: [ExpressionDescription],
    _ plans: [CompiledExpression],
    _ grouping: CompiledGrouping?,
    _ sorts: [CompiledSort],
    isDistinct: Bool
  ) {
    self.names = columns.map(\.name)
    self.columns = plans
    self.grouping = grouping
    self.sorts = sorts
    self.isDistinct = isDistinct
  }

  private static func attributes(of entity: EntityDescription) -> [ExpressionDescription] {
    entity.attributes.filter { !$0.isTransient }.map {
      ExpressionDescription(name: $0.name, expression: .key($0.name))
    }
  }

  /// Throws an error if two columns have the same name.
  package static func checkNames(_ columns: [ExpressionDescription]) throws(FetchPredicateError) {
    var names: Set<String> = []
    for column in columns where !names.insert(column.name).inserted {
      let message = "Two columns have this name. Give one another with AS, or leave it out."
      throw FetchPredicateError(.argument, message, in: column.name, at: 0..<column.name.utf8.count)
    }
  }
}

/// Compiles the parts of a selection, one after the other.
private struct SelectionCompiler {
  private var compiler: PredicateCompiler

  init(_ entity: EntityDescription, _ model: ManagedObjectModel, now: Date) {
    compiler = PredicateCompiler(entity, model, now: now)
  }

  mutating func compile(_ selection: Selection) throws(FetchPredicateError) -> SelectionPlan {
    let isGrouped =
      !selection.groupKeys.isEmpty || selection.having != nil
      || selection.columns.contains { compiler.isOfGroup($0.expression) }
    if isGrouped || selection.isDistinct {
      // Equal rows are a group of records with the same values.
      try beginGroups(by: isGrouped ? selection.groupKeys : selection.columns, selection.columns)
    }
    let columns = try selection.columns.map { column throws(FetchPredicateError) in
      let (plan, kind) = try compile(column.expression)
      if kind.element == nil { return plan }
      throw singleValueNeeded(column.expression)
    }
    let having = try selection.having.map { predicate throws(FetchPredicateError) in try compile(predicate) }
    let sorts = try selection.sorts.map { sort throws(FetchPredicateError) in try compile(sort, selection) }
    let grouping = compiler.groupScope.map { scope in
      CompiledGrouping(keys: scope.keys.map(\.plan), aggregates: scope.aggregates.map(\.plan), having: having)
    }
    return SelectionPlan(
      selection.columns,
      columns,
      grouping,
      sorts,
      isDistinct: selection.isDistinct && isGrouped
    )
  }

  private mutating func beginGroups(
    by keys: [ExpressionDescription],
    _ columns: [ExpressionDescription]
  ) throws(FetchPredicateError) {
    var scope = GroupScope()
    for key in keys {
      let compiled = try compile(key.expression)
      if compiled.kind.element != nil { throw singleValueNeeded(key.expression) }
      scope.addKey(key.expression, compiled)
    }
    for column in columns { scope.columns[column.name] = column.expression }
    compiler.groupScope = scope
  }

  /// Compiles a sort descriptor, whose key is the name of a column or a key path.
  private mutating func compile(
    _ sort: FetchSortDescriptor,
    _ selection: Selection
  ) throws(FetchPredicateError) -> CompiledSort {
    let column = selection.columns.first { $0.name == sort.keyPath }
    let expression = column?.expression ?? FetchExpression(keyPath: sort.keyPath)
    let (plan, kind) = try compile(expression)
    if kind.isOrdered { return CompiledSort(sort, by: plan) }
    throw mistake(.typeMismatch, "This is \(kind.title), which has no order to sort by.", in: expression)
  }

  private mutating func compile(
    _ expression: FetchExpression
  ) throws(FetchPredicateError) -> PredicateCompiler.Compiled {
    do throws(PredicateCompiler.Fault) {
      return try compiler.compile(expression)
    } catch {
      throw FetchPredicateError(error) { $0.write(expression) }
    }
  }

  private mutating func compile(_ predicate: FetchPredicate) throws(FetchPredicateError) -> CompiledPredicate {
    do throws(PredicateCompiler.Fault) {
      return try compiler.compile(predicate)
    } catch {
      throw FetchPredicateError(error) { $0.write(predicate) }
    }
  }

  private func singleValueNeeded(_ expression: FetchExpression) -> FetchPredicateError {
    let message =
      "This is a collection, and a column has one value in each row. Count it with @count, or make a sum of it."
    return mistake(.collection, message, in: expression)
  }

  private func mistake(
    _ kind: FetchPredicateError.Kind,
    _ message: String,
    in expression: FetchExpression
  ) -> FetchPredicateError {
    let text = expression.description
    return FetchPredicateError(kind, message, in: text, at: 0..<text.utf8.count)
  }
}

// MARK: GroupScope

/// The known parts of a group of records while expressions over it are compiled.
///
/// A compiled expression reads the group's values as variables: first the keys of the group, then the aggregates.
struct GroupScope {
  /// The expressions by which the records are grouped.
  private(set) var keys: [(expression: FetchExpression, plan: CompiledExpression, kind: ExpressionKind)] = []
  /// The aggregates that are used, without repetitions.
  private(set) var aggregates: [(expression: FetchExpression, plan: CompiledAggregate, kind: ExpressionKind)] = []
  /// The columns that variables can name.
  var columns: [String: FetchExpression] = [:]

  mutating func addKey(_ expression: FetchExpression, _ compiled: PredicateCompiler.Compiled) {
    keys.append((expression, compiled.plan, compiled.kind))
  }

  /// Returns the value of `expression` for the group, if it is known already.
  func value(of expression: FetchExpression) -> PredicateCompiler.Compiled? {
    if let place = keys.firstIndex(where: { $0.expression == expression }) {
      return (.variable(place), keys[place].kind)
    }
    guard let place = aggregates.firstIndex(where: { $0.expression == expression }) else { return nil }
    return (.variable(keys.count + place), aggregates[place].kind)
  }

  /// Adds an aggregate. All keys must be known.
  mutating func add(_ expression: FetchExpression, _ plan: CompiledAggregate, _ kind: ExpressionKind)
    -> PredicateCompiler.Compiled
  {
    aggregates.append((expression, plan, kind))
    return (.variable(keys.count + aggregates.count - 1), kind)
  }
}

/// An aggregate as it is written: a function, its operand, and whether only different values count.
struct AggregateForm {
  let function: FetchFunction
  let operand: FetchExpression
  let isDistinct: Bool

  /// Returns nil if `expression` does not have this form. Whether it is an aggregate depends on the operand, which may
  /// be a collection of its own.
  init?(_ expression: FetchExpression) {
    switch expression {
    case .function(let function, let arguments) where function.takesCollection && function != .distinct:
      guard let argument = arguments.first, arguments.count == 1 else { return nil }
      self.init(function, of: argument)
    case .keyPath(of: .selfObject, let keys): self.init(keys)
    default: return nil
    }
  }

  private init(_ function: FetchFunction, of argument: FetchExpression) {
    switch argument {
    case .function(.distinct, let arguments) where arguments.count == 1:
      self.init(function, arguments[0], isDistinct: true)
    case .keyPath(of: .selfObject, let keys) where keys.first == .collection(.distinctUnion) && keys.count > 1:
      self.init(function, .keyPath(of: .selfObject, Array(keys.dropFirst())), isDistinct: true)
    default: self.init(function, argument, isDistinct: false)
    }
  }

  private init(_ function: FetchFunction, _ operand: FetchExpression, isDistinct: Bool) {
    self.function = function
    self.operand = operand
    self.isDistinct = isDistinct
  }

  /// Parses `@sum.price`, and `@distinctUnionOfObjects.name.@count`.
  private init?(_ keys: [FetchKey]) {
    guard case .collection(let symbol) = keys.first else { return nil }
    let rest = Array(keys.dropFirst())
    if let function = symbol.aggregate {
      self.init(function, of: rest.isEmpty ? .selfObject : .keyPath(of: .selfObject, rest))
      return
    }
    guard case .collection(let last) = rest.last, let function = last.aggregate, rest.count > 1 else { return nil }
    self.init(function, .keyPath(of: .selfObject, rest.dropLast()), isDistinct: symbol == .distinctUnion)
  }
}

extension CollectionOperator {
  /// The function with the same result for a collection; nil if the result is a collection.
  public var aggregate: FetchFunction? {
    switch self {
    case .count: .count
    case .sum: .sum
    case .min: .min
    case .max: .max
    case .average: .average
    case .union, .distinctUnion: nil
    }
  }
}

// MARK: PredicateCompiler: groups

extension PredicateCompiler {
  /// Compiles an expression over one record, even inside of one over a group.
  mutating func compileOfRecord(_ expression: FetchExpression) throws(Fault) -> Compiled {
    let outer = groupScope
    groupScope = nil
    defer { groupScope = outer }
    return try compile(expression)
  }

  /// Compiles the part of an expression that reads a group; nil if it only computes with other parts.
  mutating func compileOfGroup(_ expression: FetchExpression) throws(Fault) -> Compiled? {
    if let known = groupScope?.value(of: expression) { return known }
    if let form = AggregateForm(expression), let aggregate = try compile(form, expression) { return aggregate }
    switch expression {
    case .variable(let name): return try compileColumn(name)
    case .selfObject, .keyPath, .subquery: throw try notGrouped(expression)
    default: return nil
    }
  }

  /// Compiles the aggregate; nil if its operand is a collection that every record has.
  private mutating func compile(_ form: AggregateForm, _ expression: FetchExpression) throws(Fault) -> Compiled? {
    let (plan, kind) = try compileOperand(form.operand, of: expression)
    if kind.element != nil { return nil }
    guard form.function.takes(kind) else {
      let needed = form.function.isExtreme ? "values that have an order" : "numbers"
      throw fault(.typeMismatch, "\(form.function.rawValue) is made of \(needed), and this is \(kind.title).", at: 0)
    }
    let aggregate = CompiledAggregate(form.function, of: plan, isDistinct: form.isDistinct)
    return groupScope?.add(expression, aggregate, form.function.isExtreme ? kind : .number)
  }

  /// Compiles the operand of an aggregate. A mistake in it has the place of the function's argument.
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

  /// Returns the fault of an expression that is neither grouped by nor an aggregate.
  ///
  /// - Throws: the fault of the expression for a single record, if it has one.
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

  /// Returns whether an expression contains an aggregate, so that it applies to a group.
  mutating func isOfGroup(_ expression: FetchExpression) -> Bool {
    if let form = AggregateForm(expression) {
      // try?: an expression that cannot be compiled here is compiled in another way, or its error is thrown there.
      let kind = try? compileOfRecord(form.operand).kind
      if let kind { return kind.element == nil }
    }
    for operand in expression.operands where isOfGroup(operand) { return true }
    return false
  }
}

extension FetchExpression {
  /// The expressions with which this one computes.
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
  /// The compared expressions.
  fileprivate var operands: [FetchExpression] {
    switch self {
    case .literal: []
    case .comparison(let comparison): [comparison.left, comparison.right]
    case .not(let term): term.operands
    case .and(let terms), .or(let terms): terms.flatMap(\.operands)
    }
  }
}
