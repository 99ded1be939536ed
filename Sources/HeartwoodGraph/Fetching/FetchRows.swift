public import HeartwoodModel
import HeartwoodStore

/// Rows of values from a fetch, Core Data's array of dictionaries.
///
///     let rows = try context.fetchRows(request)
///     for row in rows { print(row.values) }
///
/// The values are in one array, the names of the columns are stored once, and their order is that of the request.
public struct FetchRows: Sendable, Hashable {
  /// The names of the columns.
  public let names: [String]
  /// The values of all rows, one row after the other.
  private let values: [PropertyValue]

  /// - Parameter values: as many for each row as there are names.
  init(names: [String], values: [PropertyValue]) {
    self.names = names
    self.values = values
  }
}

extension FetchRows: RandomAccessCollection {
  /// 0, the index of the first row.
  public var startIndex: Int { 0 }

  /// The number of rows.
  public var endIndex: Int { names.isEmpty ? 0 : values.count / names.count }

  /// The row at `position`. O(1).
  public subscript(position: Int) -> FetchRow {
    FetchRow(names: names, values: values[(position * names.count)..<((position + 1) * names.count)])
  }
}

/// One row of values.
public struct FetchRow: Sendable, Hashable {
  /// The names of the columns.
  public let names: [String]
  private let slice: ArraySlice<PropertyValue>

  init(names: [String], values: ArraySlice<PropertyValue>) {
    self.names = names
    self.slice = values
  }

  /// The values, in the order of the columns. An object is represented by its id.
  public var values: [PropertyValue] { Array(slice) }

  /// The value of the column at `index`.
  public subscript(index: Int) -> PropertyValue { slice[slice.startIndex + index] }

  /// The value of the column called `name`; nil if there is no such column, and ``PropertyValue/null`` if the column
  /// has no value.
  public subscript(name: String) -> PropertyValue? { names.firstIndex(of: name).map { self[$0] } }

  /// Returns the value of the column called `name` in a Swift type; nil if it has no value, or a value of another type.
  public func value<Value: AttributeValue>(_ name: String, as type: Value.Type = Value.self) -> Value? {
    self[name].flatMap { Value(propertyValue: $0) }
  }

  /// The value of the column for the attribute of `key`; nil if there is no such column, no value, or a value of
  /// another type.
  public subscript<Value: AttributeValue>(key: AttributeKey<Value>) -> Value? { value(key.name) }

  /// Returns the id of the object in the column called `name`; nil if it has none.
  public func objectID(_ name: String) -> ManagedObjectID? {
    if case .toOne(let id) = self[name] { id } else { nil }
  }

  /// The values by the names of their columns.
  public var dictionary: [String: PropertyValue] {
    Dictionary(zip(names, slice)) { first, _ in first }
  }
}

extension FetchRow: CustomStringConvertible {
  /// The names and the values, for a debugger or a test.
  public var description: String {
    zip(names, slice).map { "\($0): \($1)" }.joined(separator: ", ")
  }
}

// MARK: SelectionPass

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
  /// The expressions that are evaluated for each record.
  fileprivate var expressionsOfRecords: [CompiledExpression] {
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

  /// Returns the rows; nil if one of the matches is a changed object.
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
  /// The values of a group, and its sort keys.
  private struct GroupRow {
    let values: [PropertyValue]
    let keys: [PropertyValue]
  }

  private func groupRows(_ grouping: CompiledGrouping) throws -> [PropertyValue] {
    let isInOrder = selection.sorts.isEmpty && !selection.isDistinct
    if isInOrder, grouping.having == nil, let groups = try pass.groupsOfTable(by: grouping) {
      let start = min(pass.offset, groups.count)
      let count = min(pass.limit ?? .max, groups.count - start)
      return groups.values(of: selection.columns, in: start..<(start + count))
    }
    var groups = try pass.groups(by: grouping)
    if let having = grouping.having { groups = groups.filter { $0.values.matches(having) } }
    if isInOrder {
      // Rows outside the requested range need not be made.
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

// MARK: ManagedObjectContext: rows

extension ManagedObjectContext {
  /// Returns the values of a request's `propertiesToFetch`: a row for each record or, if the request has aggregates or
  /// groups, for each group. This creates objects only for records that this context has changed; its changes are
  /// considered.
  ///
  /// Columns are attributes, key paths through to-one relationships, and expressions with a name. Functions of
  /// collections, such as `sum(price)`, aggregate the records of a group if their operand is one value of each record;
  /// without groups, they aggregate all records that meet the predicate. Sort descriptors refer to columns or key
  /// paths; offset and limit count rows. Without sort descriptors, groups are in the order of their first records.
  ///
  /// - Throws: `FetchPredicateError` if an expression does not fit the entity, or a column differs within a group, with
  ///   the place; otherwise the errors of ``fetch(_:)-(FetchRequest<Object>)``.
  public func fetchRows<Object>(_ request: FetchRequest<Object>) throws -> FetchRows {
    try persistentStoreCoordinator.logging(.fetched, entity: request.entityName, count: \.count) {
      try SelectionPass(request, in: self).rows()
    }
  }

  /// Returns rows of values for objects of the entity of `objectClass`; see ``fetchRows(_:)``.
  public func fetchRows<Object: ManagedObject>(
    _ objectClass: Object.Type,
    _ properties: [ExpressionDescription],
    where predicate: FetchPredicate? = nil,
    groupedBy keys: [ExpressionDescription] = [],
    having condition: FetchPredicate? = nil,
    sortedBy sortDescriptors: [FetchSortDescriptor] = [],
    offset: Int = 0,
    limit: Int? = nil
  ) throws -> FetchRows {
    var request = FetchRequest<Object>(where: predicate, sortedBy: sortDescriptors, offset: offset, limit: limit)
    request.propertiesToFetch = properties
    request.propertiesToGroupBy = keys
    request.havingPredicate = condition
    return try fetchRows(request)
  }

  /// Returns one value computed from all objects of the entity of `objectClass` that meet a condition:
  /// `.sum(of: "price", as: "total")`, or an expression over them. It returns ``PropertyValue/null`` if there is no
  /// value, such as a maximum of no numbers.
  ///
  /// - Throws: the errors of ``fetchRows(_:)``.
  public func fetchValue<Object: ManagedObject>(
    _ property: ExpressionDescription,
    of objectClass: Object.Type,
    where predicate: FetchPredicate? = nil
  ) throws -> PropertyValue {
    try fetchValue(property, for: FetchRequest<Object>(where: predicate))
  }

  /// Returns one value computed from all objects that a request matches; see ``fetchValue(_:of:where:)``. The request's
  /// columns, groups, order and limits are ignored.
  public func fetchValue<Object>(
    _ property: ExpressionDescription,
    for request: FetchRequest<Object>
  ) throws -> PropertyValue {
    var request = request
    (request.propertiesToFetch, request.propertiesToGroupBy) = ([property], [])
    (request.havingPredicate, request.sortDescriptors, request.returnsDistinctResults) = (nil, [], false)
    (request.fetchOffset, request.fetchLimit) = (0, 1)
    return try fetchRows(request).first?[0] ?? .null
  }
}
