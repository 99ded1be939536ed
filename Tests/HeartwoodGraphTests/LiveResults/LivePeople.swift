import HeartwoodGraph
import HeartwoodModel

extension ManagedObjectContext {
  /// People by name, those whose names have a `b` left out, and a copy that learns what becomes of them.
  func livePeople(
    _ sections: FetchedResultsSectionKey<Person>? = nil
  ) throws -> (FetchedResultsController<Person>, LiveMirror<Person>) {
    let request = FetchRequest<Person>(
      where: try FetchPredicate(format: "NOT name CONTAINS 'b'"),
      sortedBy: [Person.nameKey.ascending]
    )
    let controller = FetchedResultsController(request, in: self, sectionedBy: sections)
    try controller.performFetch()
    return (controller, LiveMirror(controller))
  }
}

extension FetchedResultsController<Person> {
  var names: [String] { fetchedObjects?.map(\.name) ?? [] }
}
