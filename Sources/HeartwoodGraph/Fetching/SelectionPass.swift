import HeartwoodModel
import HeartwoodStore

/// A fetch of rows of values instead of objects.
struct SelectionPass {
  private let pass: FetchPass
  private let selection: SelectionPlan

  init<Object>(_ request: FetchRequest<Object>, in context: ManagedObjectContext) throws {
    let model = context.persistentStoreCoordinator.managedObjectModel
    let entity = try context.entity(named: request.entityName)
    let selection = Selection(
      columns: request.propertiesToFetch,
      groupKeys: request.propertiesToGroupBy,
      having: request.havingPredicate,
      sorts: request.sortDescriptors,
      isDistinct: request.returnsDistinctResults
    )
    self.selection = try SelectionPlan(selection, for: entity, in: model)
    pass = try FetchPass(
      request,
      for: entity,
      sortedBy: self.selection.grouping == nil ? self.selection.sorts : [],
      evaluating: self.selection.expressionsOfRecords,
      in: context
    )
  }

  func rows() throws -> FetchRows {
    let values = try selection.grouping.map(groupRows) ?? recordRows()
    return FetchRows(names: selection.names, values: values)
  }

  func queryPlan() throws -> QueryPlan {
    try selection.grouping.map { try pass.queryPlan(of: $0) } ?? pass.queryPlan()
  }
}

extension SelectionPlan {
  /// What is evaluated for each record.
  fileprivate var expressionsOfRecords: [PlanExpression] {
    grouping?.expressions ?? columns
  }
}

// MARK: A row for each record

extension SelectionPass {
  private func recordRows() throws -> [PropertyValue] {
    let matches = try pass.matches()
    if pass.parts.count == 1, let rows = Self.rows(matches) {
      return try pass.parts[0].values(selection.columns, of: rows)
    }
    let evaluator = PredicateEvaluator(ContextSource(context: pass.context))
    let parts = Dictionary(uniqueKeysWithValues: pass.parts.map { (ObjectIdentifier($0.binding), $0) })
    return try pass.context.reading {
      try matches.flatMap { match in
        switch match {
        case .row(let binding, let row):
          return try parts[ObjectIdentifier(binding)]?.values(selection.columns, of: [row]) ?? []
        case .changed(let object):
          try object.checkReadable(selection.columns.compactMap(\.ownProperty?.ordinal))
          return selection.columns.map { evaluator.value($0, object).scalar }
        }
      }
    }
  }

  /// The rows, where no object has been changed.
  private static func rows(_ matches: [FetchPass.Match]) -> [RowID]? {
    var rows: [RowID] = []
    rows.reserveCapacity(matches.count)
    for match in matches {
      guard case .row(_, let row) = match else { return nil }
      rows.append(row)
    }
    return rows
  }
}

// MARK: A row for each group

extension SelectionPass {
  /// The values of a group, and those that it is sorted by.
  private struct GroupRow {
    let values: [PropertyValue]
    let keys: [PropertyValue]
  }

  private func groupRows(_ grouping: SelectionPlan.Grouping) throws -> [PropertyValue] {
    var groups = try pass.groups(by: grouping)
    if let having = grouping.having { groups = groups.filter { $0.values.matches(having) } }
    if selection.sorts.isEmpty, !selection.isDistinct {
      // The rows that are not wanted need not be made.
      groups = Array(groups.dropFirst(pass.offset).prefix(pass.limit ?? .max))
      return groups.flatMap { $0.values(of: selection.columns) }
    }
    var rows = groups.map { group in
      GroupRow(
        values: group.values(of: selection.columns),
        keys: group.values(of: selection.sorts.map(\.expression))
      )
    }
    if !selection.sorts.isEmpty { rows.sort { selection.sorts.comes($0.keys, before: $1.keys) } }
    if selection.isDistinct {
      var seen: Set<[PropertyValue]> = []
      rows = rows.filter { seen.insert($0.values).inserted }
    }
    return rows.dropFirst(pass.offset).prefix(pass.limit ?? .max).flatMap(\.values)
  }
}
