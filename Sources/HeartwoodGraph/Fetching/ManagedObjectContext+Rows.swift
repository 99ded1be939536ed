public import HeartwoodModel
import HeartwoodStore

extension ManagedObjectContext {
  /// The values that a request asks for in its `propertiesToFetch`, a row for each record or, where there are aggregates or groups, for
  /// each group. No object is made but of what this context has changed, whose changes count.
  ///
  /// Columns are attributes, key paths through to-one relationships, and expressions with a name. Functions of collections, such as
  /// `sum(price)`, are taken over the records of a group where their operand is one value of each record; without anything to group by,
  /// over all records that the predicate lets pass. Sort descriptors name columns or key paths; offset and limit count rows. Without an
  /// order, groups come as the first record of each does.
  ///
  /// - Throws: `FetchPredicateError` where an expression does not fit the entity, or a column differs within a group, with the place;
  ///   otherwise what ``fetch(_:)-(FetchRequest<Object>)`` throws.
  public func fetchRows<Object>(_ request: FetchRequest<Object>) throws -> FetchRows {
    let log = persistentStoreCoordinator.log(.fetched)
    let rows = try SelectionPass(request, in: self).rows()
    log?.tell(entity: request.entityName, count: rows.count)
    return rows
  }

  /// Values of objects of the entity of `objectClass`; see ``fetchRows(_:)``.
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

  /// One value made of all objects of the entity of `objectClass` that meet a condition: `.sum(of: "price", as: "total")`, or an
  /// expression over them. Nothing where there is none, such as the greatest of no numbers.
  public func fetchValue<Object: ManagedObject>(
    _ property: ExpressionDescription,
    of objectClass: Object.Type,
    where predicate: FetchPredicate? = nil
  ) throws -> PropertyValue {
    try fetchValue(property, for: FetchRequest<Object>(where: predicate))
  }

  /// One value made of all objects that a request asks for; see ``fetchValue(_:of:where:)``. What the request says of columns, groups,
  /// order and limits does not count.
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
