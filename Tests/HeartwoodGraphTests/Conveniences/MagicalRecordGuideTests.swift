import Heartwood
import HeartwoodGraph
import HeartwoodModel
import Testing

/// The code of the article for those who come from MagicalRecord.
@Suite struct MagicalRecordGuideTests {
  @Test func functionsOfTheContext() throws {
    let context = try ToDoStack().context
    let open = try context.fetch(ToDo.self, where: ToDo.doneKey == false, sortedBy: ToDo.sortOrderKey.ascending)
    let list = try context.fetchFirstOrInsert(ToDoList.self, where: \.name, equals: "Shopping")
    let count = try context.count(ToDo.self, where: ToDo.doneKey == true)
    let total = try context.sum(of: \ToDo.sortOrder)
    #expect(open.map(\.memo) == ["Milk", "Bread"] && open[0].list === list)
    #expect(count == 1 && total == 3)
  }

  @Test func liveResults() throws {
    let context = try ToDoStack().context
    let results = try context.fetchedResults(
      ToDo.self,
      where: ToDo.doneKey == false,
      sortedBy: ToDo.sortOrderKey.ascending,
      sectionedBy: .keyPath("list.name")
    )
    #expect(results.sections.map(\.name) == ["Shopping"])
  }

  /// What the table names, so that it has the names that there are.
  @Test func whatTheTableNames() throws {
    let context = try ToDoStack().context
    _ = try ManagedObjectModel(merging: [try ToDoStack.model()])
    let object = try context.insert(ToDo.self)
    #expect(try context.fetch(ToDo.self, where: ToDo.memoKey == "Milk").count == 1)
    #expect(try context.fetchFirst(ToDo.self)?.memo == "Milk")
    #expect(try context.fetchFirst(ToDo.self, where: ToDo.memoKey == "Bread")?.memo == "Bread")
    #expect(try context.fetchFirst(ToDo.self, sortedBy: ToDo.memoKey.descending)?.memo == "Milk")
    #expect(try context.fetchFirstOrInsert(ToDo.self, where: \.memo, equals: "Milk").memo == "Milk")
    #expect(try context.fetch(ToDo.fetchRequest()).count == 4)
    #expect(try context.hasAny(ToDo.self) && context.count(ToDo.self) == 4)
    #expect(try context.minimum(of: \ToDo.sortOrder) == 0 && context.maximum(of: \ToDo.sortOrder) == 2)
    #expect(try context.average(of: \ToDo.sortOrder, where: ToDo.sortOrderKey > 0) == 1.5)
    #expect(try context.existingObject(with: object.objectID) === object)
    context.delete(object)
    #expect(try context.deleteAll(ToDo.self, where: ToDo.doneKey == true) == 1)
    #expect(try context.deleteAll(ToDo.self) == 2)
    try context.saveToPersistentStore()
    #expect(try context.truncate(ToDo.self) == 0)
  }
}
