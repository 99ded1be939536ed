public import HeartwoodModel

extension ManagedObjectContext {
  /// What a request asks for, fetched, and kept up with this context from then on.
  ///
  /// - Parameters:
  ///   - sectionKey: what makes the sections; nil where all objects are in one.
  ///   - delegate: who learns what becomes of them. It is not held.
  /// - Throws: as ``FetchedResultsController/performFetch()``.
  public func fetchedResults<Object>(
    _ request: FetchRequest<Object>,
    sectionedBy sectionKey: FetchedResultsSectionKey<Object>? = nil,
    delegate: (any FetchedResultsControllerDelegate<Object>)? = nil
  ) throws -> FetchedResultsController<Object> {
    let controller = FetchedResultsController(request, in: self, sectionedBy: sectionKey)
    controller.delegate = delegate
    try controller.performFetch()
    return controller
  }

  /// The objects of the entity of `objectClass` that meet a condition, in an order and in sections, kept up with this context:
  ///
  ///     let open = try context.fetchedResults(
  ///       ToDo.self,
  ///       where: ToDo.doneKey == false,
  ///       sortedBy: ToDo.dueKey.ascending,
  ///       sectionedBy: .keyPath("list.name")
  ///     )
  ///
  /// See ``fetchedResults(_:sectionedBy:delegate:)``.
  public func fetchedResults<Object: ManagedObject>(
    _ objectClass: Object.Type,
    where predicate: FetchPredicate? = nil,
    sortedBy sortDescriptors: FetchSortDescriptor...,
    sectionedBy sectionKey: FetchedResultsSectionKey<Object>? = nil,
    delegate: (any FetchedResultsControllerDelegate<Object>)? = nil
  ) throws -> FetchedResultsController<Object> {
    let request = FetchRequest<Object>(where: predicate, sortedBy: sortDescriptors)
    return try fetchedResults(request, sectionedBy: sectionKey, delegate: delegate)
  }
}
