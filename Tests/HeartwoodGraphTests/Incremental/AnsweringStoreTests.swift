import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Synchronization
import Testing

/// A store that does itself what it can: the results are those of one that leaves it to the framework.
@Suite struct AnsweringStoreTests {
  let database = RecordDatabase()
  let context: ManagedObjectContext

  init() throws {
    let model = try ToDoStack.model()
    func context(_ database: RecordDatabase) throws -> ManagedObjectContext {
      var options = StoreOptions()
      options[.recordDatabase] = database
      let coordinator = try PersistentStoreCoordinator(
        managedObjectModel: model,
        registry: TestStack.registry,
        objectClasses: [ToDo.self, ToDoList.self]
      )
      try coordinator.addPersistentStore(type: RecordStore.typeDescription.type, at: nil, options: options)
      return ManagedObjectContext(coordinator)
    }
    let writer = try context(database)
    for number in 0..<40 {
      let toDo = try writer.insert(ToDo.self)
      (toDo.memo, toDo.sortOrder, toDo.done) = ("Memo \(number)", number, number % 4 == 0)
      try toDo.setValue(number % 5, forKey: "priority")
    }
    try writer.save()
    database.answers.withLock { $0 = true }
    self.context = try context(database)
  }

  private var readCount: Int { database.readCount.withLock { $0 } }
  private var loadCount: Int { database.loadCount.withLock { $0 } }
  private var answerCount: Int { database.answerCount.withLock { $0 } }

  private func memos(_ format: String, limit: Int? = nil, sortedBy key: String? = nil) throws -> [String?] {
    var request = FetchRequest<ToDo>(where: try FetchPredicate(format: format))
    request.fetchLimit = limit
    if let key { request.sortDescriptors = [FetchSortDescriptor(key, ascending: false)] }
    return try context.fetch(request).map(\.memo)
  }

  @Test func whatItFindsIsAllThatIsRead() throws {
    let loads = loadCount
    #expect(try memos("priority == 2 AND done == YES") == ["Memo 12", "Memo 32"])
    #expect(readCount == 2)
    #expect(loadCount == loads)
  }

  @Test func limitsAreItsOwn() throws {
    #expect(try memos("done == YES", limit: 3) == ["Memo 0", "Memo 4", "Memo 8"])
    #expect(readCount == 3)
  }

  @Test func conditionsThatItCannotTestAreTestedOnWhatItFinds() throws {
    let loads = loadCount
    #expect(
      try memos("priority == 2 AND memo ENDSWITH '7'", sortedBy: "memo") == ["Memo 7", "Memo 37", "Memo 27", "Memo 17"]
    )
    #expect(readCount == 8)
    #expect(loadCount == loads)
  }

  @Test func whatItCannotFindAtAllIsFoundAmongAll() throws {
    #expect(try memos("memo == 'Memo 7'") == ["Memo 7"])
    #expect(answerCount == 0)
  }

  @Test func groupsAreMadeWithoutReadingRecords() throws {
    let rows = try context.fetchRows(
      ToDo.self,
      ["priority", .count()],
      where: ToDo.doneKey == true,
      groupedBy: ["priority"],
      having: FetchPredicate(format: "count(SELF) >= 2 AND priority > 0")
    )
    #expect(rows.map(\.values) == [4, 3, 2, 1].map { [.integer($0), .integer(2)] })
    #expect(answerCount == 1)
    #expect(readCount == 0)
  }

  @Test func unsavedChangesAreMergedWithItsGroups() throws {
    let toDo = try #require(try context.fetch(FetchRequest<ToDo>(where: ToDo.sortOrderKey == 12)).first)
    try toDo.setValue(3, forKey: "priority")
    let rows = try context.fetchRows(
      ToDo.self,
      ["priority", .count()],
      where: ToDo.doneKey == true,
      groupedBy: ["priority"]
    )
    let counts = Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[1]) })
    #expect(counts[.integer(2)] == .integer(1))
    #expect(counts[.integer(3)] == .integer(3))
  }

  @Test func batchesAreDoneWithoutReadingRecords() throws {
    let result = try context.execute(
      BatchUpdateRequest(entityName: "ToDo", where: ToDo.doneKey == true, propertiesToUpdate: ["memo": "done"])
    )
    #expect(result.count == 10)
    #expect(readCount == 0)
    let records = try #require(database.current.records["ToDo"])
    #expect(records.values.count { $0.values["memo"] == .attribute(.string("done")) && $0.version == 2 } == 10)
  }

  @Test func batchesThatItDeclinesAreDoneByTheFramework() throws {
    let result = try context.execute(
      BatchUpdateRequest(
        entityName: "ToDo",
        where: ToDo.doneKey == true,
        propertiesToUpdate: ["priority": try FetchExpression(format: "priority + 1")]
      )
    )
    #expect(result.count == 10)
    try context.execute(BatchDeleteRequest(entityName: "ToDo", where: ToDo.doneKey == false))
    #expect(database.current.records["ToDo"]?.count == 10)
  }
}
