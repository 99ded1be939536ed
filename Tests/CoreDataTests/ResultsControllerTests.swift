import CoreData
import Testing

@Suite struct ResultsControllerTests {
  @Test func aListOfNoSortDescriptorsIsOne() throws {
    let stack = try Stack(NSInMemoryStoreType)
    try stack.context.performAndWait {
      stack.insert("Milk")
      stack.insert("Bread")
      let request = toDoRequest()
      request.sortDescriptors = []
      let controller = NSFetchedResultsController(
        fetchRequest: request,
        managedObjectContext: stack.context,
        sectionNameKeyPath: nil,
        cacheName: nil
      )
      try controller.performFetch()
      #expect(controller.sections?.map(\.numberOfObjects) == [2])
    }
  }

  @Test func changesAreToldWithTheirPlaces() throws {
    let stack = try Stack(NSSQLiteStoreType)
    try stack.context.performAndWait { () throws in
      let milk = stack.insert("Milk", 1)
      let bread = stack.insert("Bread", 2, done: true)
      try stack.context.save()
      let request = toDoRequest()
      request.sortDescriptors = [
        NSSortDescriptor(key: "done", ascending: true), NSSortDescriptor(key: "sortOrder", ascending: true),
      ]
      let controller = NSFetchedResultsController(
        fetchRequest: request,
        managedObjectContext: stack.context,
        sectionNameKeyPath: "done",
        cacheName: nil
      )
      let delegate = Delegate()
      controller.delegate = delegate
      #expect(controller.fetchedObjects == nil)
      try controller.performFetch()
      #expect(controller.fetchedObjects == [milk, bread])
      #expect(controller.sections?.map(\.numberOfObjects) == [1, 1])
      #expect(controller.object(at: IndexPath(item: 0, section: 1)) === bread)
      #expect(controller.indexPath(forObject: bread) == IndexPath(row: 0, section: 1))

      stack.insert("Cheese", 0)
      stack.context.processPendingChanges()
      #expect(delegate.take() == ["will", "insert Cheese nil [0, 0]", "did"])
      milk.memo = "Oat milk"
      stack.context.processPendingChanges()
      #expect(delegate.take() == ["will", "update Oat milk [0, 1] [0, 1]", "did"])
      milk.sortOrder = -1
      stack.context.processPendingChanges()
      #expect(delegate.take() == ["will", "move Oat milk [0, 1] [0, 0]", "did"])
      stack.context.delete(bread)
      try stack.context.save()
      #expect(delegate.take() == ["will", "section delete 1", "delete Bread [1, 0] nil", "did"])
      #expect(controller.sections?.count == 1)
    }
  }

  @Test func setsChangeTheirRelationship() throws {
    let stack = try Stack(NSInMemoryStoreType)
    stack.context.performAndWait {
      let list = List(context: stack.context)
      let milk = stack.insert("Milk")
      let items = list.mutableSetValue(forKey: "items")
      items.add(milk)
      #expect(milk.list === list && items.count == 1 && items.contains(milk))
      items.remove(milk)
      #expect(milk.list == nil && items.count == 0 && list.items.isEmpty)
    }
  }
}

private final class Delegate: NSFetchedResultsControllerDelegate {
  private var heard: [String] = []

  func take() -> [String] {
    defer { heard = [] }
    return heard
  }

  func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
    heard.append("will")
  }

  func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
    heard.append("did")
  }

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo,
    atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType
  ) {
    heard.append("section \(type) \(sectionIndex)")
  }

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange anObject: Any,
    at indexPath: IndexPath?,
    for type: NSFetchedResultsChangeType,
    newIndexPath: IndexPath?
  ) {
    let memo = (anObject as? ToDo)?.memo ?? ""
    heard.append("\(type) \(memo) \(place(indexPath)) \(place(newIndexPath))")
  }

  private func place(_ indexPath: IndexPath?) -> String { indexPath.map { "\(Array($0))" } ?? "nil" }
}
