import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

/// The code of the articles on fetching, indexes, derived attributes and live results: they say what is here, word for word.
@Suite struct FetchingGuideTests {
  @Test func objectsAreFetched() throws {
    let context = try ToDoStack().context
    let open = try context.fetch(
      ToDo.self,
      where: ToDo.doneKey == false && ToDo.memoKey.contains("milk", options: .caseInsensitive),
      sortedBy: ToDo.sortOrderKey.ascending,
      limit: 100
    )
    #expect(open.map(\.memo) == ["Milk"])
  }

  @MainActor
  @Test func requestsSayMore() async throws {
    let context = try ToDoStack().context
    var request = FetchRequest<ToDo>(where: ToDo.doneKey == false, sortedBy: [ToDo.sortOrderKey.ascending], limit: 20)
    request.includesPendingChanges = false
    request.returnsObjectsAsFaults = false
    let saved = try context.fetch(request)
    #expect(!saved.isEmpty && saved.allSatisfy { !$0.isFault })
    let progress = FetchProgress()
    let found = try await context.fetchAsynchronously(request, progress: progress)
    #expect(found == saved)
  }

  @Test func predicatesAreText() throws {
    let context = try ToDoStack().context
    let tag = try context.insert(entityName: "Tag")
    try tag.setValue("food", forKey: "name")
    try context.fetch(ToDo.self, where: ToDo.memoKey == "Milk").first?.setValue([tag], forKey: "tags")
    let (text, names) = ("MÏLK", ["food", "drink"])
    let predicate = try FetchPredicate(
      format: "done == NO AND memo CONTAINS[cd] %@ AND ANY tags.name IN %@",
      text,
      names
    )
    #expect(try context.fetch(ToDo.self, where: predicate).map(\.memo) == ["Milk"])
    #expect(try FetchPredicate(format: predicate.description) == predicate)
  }

  @Test func macrosSayTheSame() throws {
    let context = try ToDoStack().context
    let least = 1
    let open = try context.fetch(ToDo.self, where: #Predicate<ToDo> { !$0.done && $0.sortOrder >= least })
    #expect(open.map(\.memo) == ["Bread"])
  }

  @Test func mistakesShowTheirPlace() throws {
    let context = try ToDoStack().context
    let error = #expect(throws: FetchPredicateError.self) {
      try context.fetch(ToDo.self, where: try FetchPredicate(format: #"done == NO AND meno CONTAINS "…""#))
    }
    #expect(
      try #require(error).description == """
        ToDo has no property “meno”. Did you mean memo?
          done == NO AND meno CONTAINS "…"
                         ^~~~
        """
    )
  }

  @Test func rowsOfValuesAreFetched() throws {
    let context = try ToDoStack().context
    let rows = try context.fetchRows(
      ToDo.self,
      ["list.name", .count(), ExpressionDescription(format: "sum(price * 2) AS total")],
      where: ToDo.doneKey == false,
      groupedBy: ["list.name"],
      having: FetchPredicate(format: "$total > 10"),
      sortedBy: [FetchSortDescriptor("total", ascending: false)]
    )
    for row in rows { print(row.value("list.name", as: String.self) ?? "", row.value("total", as: Int.self) ?? 0) }
    #expect(rows.map(\.values) == [[.string("Shopping"), .integer(2), .integer(18)]])
  }

  @Test func recordsAreChangedByBatches() throws {
    let context = try ToDoStack().context
    var lines = ["Tea", "Salt"].makeIterator()
    try context.execute(
      BatchUpdateRequest(
        entityName: "ToDo",
        where: ToDo.doneKey == true,
        propertiesToUpdate: ["priority": try FetchExpression(format: "priority + 1"), "memo": "done"]
      )
    )
    try context.execute(BatchDeleteRequest(entityName: "ToDo", where: ToDo.doneKey == true))
    try context.execute(
      BatchInsertRequest(entityName: "ToDo") { row in
        guard let line = lines.next() else { return false }
        row[ToDo.memoKey] = line
        return true
      }
    )
    #expect(
      try context.fetchRows(ToDo.self, ["memo"]).map { $0[0] } == ["Milk", "Bread", "Tea", "Salt"].map { .string($0) }
    )
  }

  @Test func theModelHasRequests() throws {
    let stack = try ToDoStack()
    let (context, list) = (stack.context, stack.list)
    let toDo = try #require(try context.fetch(ToDo.self, where: ToDo.memoKey == "Milk").first)
    let request = try context.fetchRequest(fromTemplate: "OfList", as: ToDo.self, substituting: ["LIST": list])
    let similar = try toDo.fetchedValue(forKey: "similar", as: ToDo.self)
    #expect(try context.count(for: request) == 2)
    #expect(similar.map(\.memo) == ["Bread"])
  }
}

// MARK: Indexes and derived attributes

extension FetchingGuideTests {
  @Test func indexesAreNamed() throws {
    var toDo = try ToDoStack.toDo()
    toDo.fetchIndexes = [FetchIndexDescription(name: "byDue", properties: ["due"])]
    toDo.fetchIndexes.append(FetchIndexDescription(name: "byDoneAndDue", properties: ["done", "due"]))
    let open = FetchIndexDescription(
      name: "openByDue",
      elements: [FetchIndexElementDescription(.property("due"))],
      partialIndexPredicate: try FetchPredicate(format: "done == NO")
    )
    func index(_ format: String) throws -> String? {
      let coordinator = try PersistentStoreCoordinator(managedObjectModel: try ToDoStack.model(toDo))
      try coordinator.addPersistentStore(type: .inMemory, at: nil)
      let request = FetchRequest<ManagedObject>(entityName: "ToDo", where: try FetchPredicate(format: format))
      return try ManagedObjectContext(coordinator).queryPlan(for: request).steps.first?.indexName
    }
    #expect(try index("due < now()") == "byDue")
    #expect(try index("done == NO AND due < now()") == "byDoneAndDue")
    toDo.fetchIndexes = [open]
    #expect(try index("done == NO AND due < now()") == "openByDue")
    #expect(try index("due < now()") == nil)
  }

  @Test func attributesAreDerived() throws {
    let total = PropertyDescription.attribute(
      AttributeDescription(
        name: "total",
        type: .double,
        derivationExpression: try FetchExpression(format: "items.@sum.price")
      )
    )
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: try ToDoStack.model(items: [total]))
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = ManagedObjectContext(coordinator)
    let (list, toDo) = (try context.insert(entityName: "ToDoList"), try context.insert(entityName: "ToDo"))
    try toDo.setValue(list, forKey: "list")
    try toDo.setValue(7, forKey: "price")
    try context.save()
    #expect(try list.propertyValue(forKey: "total") == .double(7))
  }
}

// MARK: Live results

extension FetchingGuideTests {
  @MainActor @Test func resultsAreLive() async throws {
    let context = try ToDoStack().context
    let controller = FetchedResultsController<ToDo>(
      FetchRequest(where: ToDo.doneKey == false, sortedBy: [ToDo.sortOrderKey.ascending]),
      in: context,
      sectionedBy: .sorted(by: FetchSortDescriptor("list.position"), name: "list.name")
    )
    try controller.performFetch()
    for section in controller.sections { print(section.name, section.numberOfObjects) }
    #expect(controller.sections.map(\.name) == ["Shopping"])
    let screen = Screen(controller)
    await Task { await screen.follow() }.value
    #expect(screen.shown == [2])
  }

  /// Shows results until there have been some.
  @MainActor private final class Screen {
    private let controller: FetchedResultsController<ToDo>
    private(set) var shown: [Int] = []

    init(_ controller: FetchedResultsController<ToDo>) {
      self.controller = controller
    }

    func follow() async {
      for await snapshot in controller.snapshots {
        show(snapshot.sections, reloading: snapshot.updatedObjectIDs)
      }
    }

    private func show(_ sections: [FetchedResultsSnapshot.Section], reloading ids: Set<ManagedObjectID>) {
      shown.append(sections.reduce(0) { $0 + $1.objectIDs.count })
      withUnsafeCurrentTask { $0?.cancel() }
    }
  }
}
