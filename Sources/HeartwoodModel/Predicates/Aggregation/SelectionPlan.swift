#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// What a fetch gives instead of objects, checked against an entity.
package struct SelectionPlan: Sendable {
  /// How records become groups.
  package struct Grouping: Sendable {
    /// By what; without any there is one group of all, also where there are no records.
    package let keys: [PlanExpression]
    package let aggregates: [AggregatePlan]
    /// Which groups count, as a condition on the values of the keys and then the aggregates.
    package let having: PlanPredicate?

    package init(keys: [PlanExpression], aggregates: [AggregatePlan], having: PlanPredicate? = nil) {
      self.keys = keys
      self.aggregates = aggregates
      self.having = having
    }
  }

  package let names: [String]
  /// The values of a record; where there are groups, of the variables that hold a group's keys and then its aggregates.
  package let columns: [PlanExpression]
  package let grouping: Grouping?
  /// In the same terms as the columns.
  package let sorts: [SortPlan]
  /// Whether of rows that are the same only the first is given. Records without groups are made groups for that.
  package let isDistinct: Bool
}

/// What a fetch is to give instead of objects.
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
  /// The plan of `selection` for records of `entity`.
  ///
  /// Without columns there are those that the records are grouped by, or all attributes.
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
    _ plans: [PlanExpression],
    _ grouping: Grouping?,
    _ sorts: [SortPlan],
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

  /// Refuses columns of which two have one name.
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
      // Rows that are the same are a group of records that have the same values.
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
      SelectionPlan.Grouping(keys: scope.keys.map(\.plan), aggregates: scope.aggregates.map(\.plan), having: having)
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

  /// A sort descriptor names a column, or a key path.
  private mutating func compile(
    _ sort: FetchSortDescriptor,
    _ selection: Selection
  ) throws(FetchPredicateError) -> SortPlan {
    let column = selection.columns.first { $0.name == sort.keyPath }
    let expression = column?.expression ?? FetchExpression(keyPath: sort.keyPath)
    let (plan, kind) = try compile(expression)
    if kind.isOrdered { return SortPlan(sort, by: plan) }
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

  private mutating func compile(_ predicate: FetchPredicate) throws(FetchPredicateError) -> PlanPredicate {
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
