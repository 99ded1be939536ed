/// Learns what becomes of live results, in the isolation of their context, when an event ends.
///
/// All functions have a default that does nothing. An object that is changed in one of them is part of the next event.
public protocol FetchedResultsControllerDelegate<Object>: AnyObject {
  /// The class of the objects.
  associatedtype Object: ManagedObject

  /// The results are about to change. They are still what they were.
  func controllerWillChangeContent(_ controller: FetchedResultsController<Object>)

  /// A section has come or gone. The results are what they are after the event.
  func controller(
    _ controller: FetchedResultsController<Object>,
    didChangeSection change: FetchedResultsSectionChange
  )

  /// An object has come, gone, moved or changed. The results are what they are after the event.
  func controller(
    _ controller: FetchedResultsController<Object>,
    didChangeObject change: FetchedResultsObjectChange<Object>
  )

  /// All that has changed, at once: what the single calls have told, and the same as a difference of ids.
  func controller(
    _ controller: FetchedResultsController<Object>,
    didChangeContent changes: FetchedResultsChanges<Object>
  )

  /// All has been told.
  func controllerDidChangeContent(_ controller: FetchedResultsController<Object>)

  /// What an event has done to the results cannot be told, since something could not be read. They are what they were before it, and what they
  /// should be after the next event that can be told, or a ``FetchedResultsController/performFetch()``.
  func controller(_ controller: FetchedResultsController<Object>, didFailToUpdateWith error: any Error)
}

extension FetchedResultsControllerDelegate {
  /// Does nothing.
  public func controllerWillChangeContent(_ controller: FetchedResultsController<Object>) {}

  /// Does nothing.
  public func controller(
    _ controller: FetchedResultsController<Object>,
    didChangeSection change: FetchedResultsSectionChange
  ) {}

  /// Does nothing.
  public func controller(
    _ controller: FetchedResultsController<Object>,
    didChangeObject change: FetchedResultsObjectChange<Object>
  ) {}

  /// Does nothing.
  public func controller(
    _ controller: FetchedResultsController<Object>,
    didChangeContent changes: FetchedResultsChanges<Object>
  ) {}

  /// Does nothing.
  public func controllerDidChangeContent(_ controller: FetchedResultsController<Object>) {}

  /// Does nothing.
  public func controller(_ controller: FetchedResultsController<Object>, didFailToUpdateWith error: any Error) {}
}
