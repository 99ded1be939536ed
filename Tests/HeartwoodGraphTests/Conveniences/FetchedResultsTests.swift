import HeartwoodGraph
import HeartwoodModel
import Testing

/// Live results in one line.
@Suite struct FetchedResultsTests {
  private final class Delegate: FetchedResultsControllerDelegate {
    var count = 0

    func controllerDidChangeContent(_ controller: FetchedResultsController<Book>) { count += 1 }
  }

  @Test(arguments: TestStoreKind.allCases)
  func groupedAndSorted(_ kind: TestStoreKind) throws {
    let context = try TestStack(kind).context()
    for (title, shelf) in [("b", "B"), ("a", "B"), ("c", "A")] {
      let shelf = try context.fetchFirstOrInsert(Shelf.self, where: Shelf.titleKey, equals: shelf)
      _ = try context.book(title, on: shelf)
    }
    try context.save()
    let delegate = Delegate()
    let results = try context.fetchedResults(
      Book.self,
      where: Book.titleKey != "z",
      sortedBy: Book.titleKey.ascending,
      sectionedBy: .keyPath("shelf.title"),
      delegate: delegate
    )
    #expect(results.sections.map(\.name) == ["A", "B"])
    #expect(results.sections.map { $0.objects.map(\.title) } == [["c"], ["a", "b"]])
    _ = try context.book("d", on: try context.fetchFirst(Shelf.self, where: Shelf.titleKey == "A"))
    context.processPendingChanges()
    #expect(results.sections.map { $0.objects.map(\.title) } == [["c", "d"], ["a", "b"]])
    #expect(delegate.count == 1)
    let byName = try context.fetchedResults(FetchRequest<ManagedObject>(entityName: "Shelf"))
    #expect(byName.numberOfObjects == 2)
    #expect(throws: FetchPredicateError.self) {
      try context.fetchedResults(Book.self, sectionedBy: .keyPath("nothing"))
    }
  }
}
