import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

/// What applications see of the history of stores.
@Suite struct HistoryTests {
  private static var tracking: StoreOptions {
    var options = StoreOptions()
    options[.tracksPersistentHistory] = true
    return options
  }

  private func stack(_ kind: TestStoreKind) throws -> TestStack { try TestStack(kind, options: Self.tracking) }

  private func context(_ stack: TestStack, _ author: String? = nil, name: String? = nil) -> ManagedObjectContext {
    let context = stack.context()
    context.transactionAuthor = author
    context.name = name
    return context
  }

  private func code(_ body: () throws -> Void) -> PersistenceError.Code? { persistenceError(body)?.code }

  // MARK: Transactions

  @Test func transactionsAreMerged() throws {
    let stack = try stack(.inMemory)
    let reader = stack.context()
    let people = try ["Ann", "Bob"].map { try reader.person($0) }
    try reader.save()
    let token = try #require(try stack.coordinator.currentPersistentHistoryToken())
    let writer = context(stack, "writer", name: "import")
    try #require(try writer.existingObject(with: people[0].objectID) as? Person).name = "Anna"
    writer.delete(try writer.existingObject(with: people[1].objectID))
    let cid = try writer.person("Cid")
    try writer.save()
    let transaction = try #require(try reader.execute(.fetchHistory(after: token)).first)
    let changes = ContextChanges(transaction)
    #expect(changes.insertedObjectIDs == [cid.objectID])
    #expect(changes.updatedObjectIDs == [people[0].objectID])
    #expect(changes.deletedObjectIDs == [people[1].objectID])
    #expect(changes.transactionAuthor == "writer" && changes.contextName == "import")
    reader.mergeChanges(from: changes)
    #expect(people[0].name == "Anna")
    #expect(people[1].isDeleted)
  }

  @Test(arguments: TestStoreKind.withHistory)
  func eachSaveIsATransaction(_ kind: TestStoreKind) throws {
    let stack = try stack(kind)
    #expect(stack.store.tracksPersistentHistory)
    let start = try #require(try stack.coordinator.currentPersistentHistoryToken())
    #expect(try stack.context().execute(.fetchHistory(after: start)).isEmpty)
    let context = context(stack, "app", name: "main")
    let (ann, bob) = (try context.person("Ann"), try context.person("Bob"))
    try context.save()
    bob.spouse = ann
    try context.save()
    context.delete(bob)
    try context.save()
    try context.save()

    let transactions = try context.execute(.fetchHistory(after: start))
    #expect(transactions.map(\.transactionNumber) == [1, 2, 3])
    #expect(transactions.allSatisfy { $0.author == "app" && $0.contextName == "main" })
    #expect(transactions.map(\.storeID) == [UUID](repeating: stack.store.identifier, count: 3))
    #expect(transactions[0].objectIDs(of: .insert) == [ann.objectID, bob.objectID])
    #expect(Set(transactions[1].objectIDs(of: .update)) == [ann.objectID, bob.objectID])
    #expect(transactions[1].changes.allSatisfy { $0.updatedProperties == ["spouse"] })
    #expect(transactions[2].objectIDs(of: .delete) == [bob.objectID])
    #expect(transactions[2].objectIDs(of: .update) == [ann.objectID], "the inverse is gone")
    #expect(transactions[2].changes.map(\.changeID) == [1, 2])
    #expect(transactions[2].token == (try stack.coordinator.currentPersistentHistoryToken()))
    #expect(try context.execute(.fetchHistory(after: transactions[1])).map(\.transactionNumber) == [3])
    #expect(try context.count(for: .fetchHistory(after: start)) == 3)
  }

  @Test func aSaveThatFailsLeavesTheHistory() throws {
    let stack = try stack(.binary)
    let context = context(stack)
    _ = try context.person("Ann")
    try context.save()
    _ = try context.person("Bob")
    stack.files.restart()
    stack.files.failOperation(1)
    #expect(persistenceError { try context.save() } != nil)
    #expect(try context.count(for: .fetchHistory(after: nil)) == 1)
    try context.save()
    #expect(try context.execute(.fetchHistory(after: nil)).map(\.transactionNumber) == [1, 2])
  }

  // MARK: Filters

  @Test(arguments: TestStoreKind.withHistory)
  func requestsChooseAuthorsAndEntities(_ kind: TestStoreKind) throws {
    let stack = try stack(kind)
    for author in ["app", "sync", nil] as [String?] {
      let context = context(stack, author)
      let (person, book) = (try context.person("Ann"), try context.book("Emma"))
      try context.save()
      if author == "sync" {
        let employee = try context.insert(Employee.self)
        employee.name = "Bob"
        person.name = "Anna"
        try context.save()
        context.delete(book)
        try context.save()
      }
    }
    func numbers(_ change: (inout PersistentHistoryChangeRequest) -> Void) throws -> [Int64] {
      var request = PersistentHistoryChangeRequest.fetchHistory(after: nil)
      change(&request)
      let found = try stack.coordinator.execute(request)
      #expect(try stack.coordinator.count(for: request) == found.count)
      return found.map(\.transactionNumber)
    }
    #expect(try numbers { _ in } == [1, 2, 3, 4, 5])
    #expect(try numbers { $0.authors = ["sync"] } == [2, 3, 4])
    #expect(try numbers { $0.authors = [] } == [])
    #expect(try numbers { $0.excludedAuthors = ["sync"] } == [1, 5])
    #expect(try numbers { $0.entityName = "Book" } == [1, 2, 4, 5])
    #expect(try numbers { $0.entityName = "Employee" } == [3])
    #expect(try numbers { $0.entityName = "Person" } == [1, 2, 3, 5])
    var request = PersistentHistoryChangeRequest.fetchHistory(after: nil)
    request.entityName = "Person"
    let third = try #require(try stack.coordinator.execute(request).dropFirst(2).first)
    #expect(Set(third.changes.map(\.changedObjectID.entity.name)) == ["Person", "Employee"])
    request.entityName = "Nobody"
    #expect(code { _ = try stack.coordinator.execute(request) } == .entityUnknown)
    #expect(code { _ = try stack.coordinator.count(for: request) } == .entityUnknown)
  }

  @Test(arguments: TestStoreKind.withHistory)
  func requestsBeginAtADate(_ kind: TestStoreKind) throws {
    let stack = try stack(kind)
    let context = context(stack)
    for name in ["Ann", "Bob", "Cy"] {
      _ = try context.person(name)
      try context.save()
    }
    let dates = try context.execute(.fetchHistory(after: nil)).map(\.timestamp)
    #expect(dates == dates.sorted())
    for date in dates + [.distantPast, .distantFuture] {
      let expected = dates.filter { $0 > date }
      #expect(try context.execute(.fetchHistory(after: date)).map(\.timestamp) == expected)
      #expect(try context.count(for: .fetchHistory(after: date)) == expected.count)
    }
  }

  // MARK: Purging

  @Test(arguments: TestStoreKind.withHistory)
  func purgedHistoryIsGone(_ kind: TestStoreKind) throws {
    let stack = try stack(kind)
    let (context, coordinator) = (context(stack), stack.coordinator)
    for name in ["Ann", "Bob", "Cy", "Di"] {
      _ = try context.person(name)
      try context.save()
    }
    let all = try context.execute(.fetchHistory(after: nil))
    try coordinator.deleteHistory(before: all[1])
    #expect(try context.execute(.fetchHistory(after: nil)).map(\.transactionNumber) == [2, 3, 4])
    try coordinator.deleteHistory(before: all[2].token)
    #expect(try context.execute(.fetchHistory(after: nil)).map(\.transactionNumber) == [4])
    #expect(try context.execute(.fetchHistory(after: all[2])).map(\.transactionNumber) == [4])
    #expect(code { _ = try context.execute(.fetchHistory(after: all[1])) } == .historyTokenExpired)
    #expect(code { _ = try context.count(for: .fetchHistory(after: all[1].token)) } == .historyTokenExpired)
    try coordinator.deleteHistory(before: all[0].token)
    try coordinator.deleteHistory(before: PersistentHistoryToken([:]))
    #expect(try context.count(for: .fetchHistory(after: nil)) == 1)
    try coordinator.deleteHistory(before: .distantFuture)
    #expect(try context.count(for: .fetchHistory(after: nil)) == 0)
    #expect(try coordinator.currentPersistentHistoryToken() == all[3].token)
    let future = PersistentHistoryToken([stack.store.identifier: 5])
    #expect(code { _ = try context.execute(.fetchHistory(after: future)) } == .historyTokenExpired)
    #expect(try context.fetch(Person.self).count == 4, "the records stay")
  }

  @Test func purgingDoesNotDisturbContexts() throws {
    let stack = try stack(.binary)
    let context = context(stack)
    let ann = try context.person("Ann")
    try context.save()
    ann.name = "Anna"
    try stack.coordinator.deleteHistory(before: .distantFuture)
    try context.save()
    let reopened = try TestStack(.binary, files: stack.files, options: Self.tracking)
    #expect(try reopened.context().fetch(Person.self).map(\.name) == ["Anna"])
    #expect(try reopened.context().execute(.fetchHistory(after: nil)).map(\.transactionNumber) == [2])
  }

  // MARK: Stores

  @Test func severalStoresAreMergedByDate() throws {
    let coordinator = try TestStack.coordinator()
    let notes = try coordinator.addPersistentStore(
      type: .inMemory,
      configuration: "Notes",
      at: nil,
      options: Self.tracking
    )
    let rest = try coordinator.addPersistentStore(
      type: .inMemory,
      configuration: "Rest",
      at: nil,
      options: Self.tracking
    )
    let context = ManagedObjectContext(coordinator)
    for index in 0..<6 {
      if index % 2 == 0 { _ = try context.insert(Note.self) } else { _ = try context.person("Ann") }
      try context.save()
    }
    let all = try coordinator.execute(.fetchHistory(after: nil))
    #expect(all.map(\.transactionNumber) == [1, 1, 2, 2, 3, 3])
    #expect(Set(all.prefix(2).map(\.storeID)) == [notes.identifier, rest.identifier])
    let ofRest = try coordinator.execute(.fetchHistory(after: nil), in: [rest])
    #expect(ofRest.map(\.storeID) == [UUID](repeating: rest.identifier, count: 3))
    let token = try #require(try coordinator.currentPersistentHistoryToken())
    #expect(token == PersistentHistoryToken([notes.identifier: 3, rest.identifier: 3]))
    #expect(try coordinator.currentPersistentHistoryToken(fromStores: [notes])?.storeIdentifiers == [notes.identifier])
    #expect(try coordinator.execute(.fetchHistory(after: token)).isEmpty)
    #expect(
      try coordinator.execute(.fetchHistory(after: all[0].token)).count == 5,
      "the other store's are all asked for"
    )
    try coordinator.deleteHistory(before: all[2].token)
    #expect(try coordinator.count(for: .fetchHistory(after: nil)) == 4)
  }

  @Test func aStoreWithoutAHistorySaysWhy() throws {
    let stack = try TestStack(.inMemory)
    let context = context(stack, "app")
    _ = try context.person("Ann")
    try context.save()
    #expect(try stack.coordinator.currentPersistentHistoryToken() == nil)
    #expect(code { _ = try context.execute(.fetchHistory(after: nil)) } == .historyNotTracked)
    #expect(code { try stack.coordinator.deleteHistory(before: .distantFuture) } == .historyNotTracked)

    let memory = InMemoryFileSystem()
    let coordinator = try TestStack.coordinator(FaultInjectingFileSystem(wrapping: memory))
    let url = URL(filePath: "/folder/notes.csv")
    #expect(
      code { try coordinator.addPersistentStore(configuration: "Notes", at: url, options: Self.tracking) }
        == .capabilityMissing
    )
    #expect(memory.paths.isEmpty)
    #expect(try coordinator.execute(.fetchHistory(after: nil)).isEmpty, "there is no store to ask")
    #expect(code { _ = try coordinator.execute(.fetchHistory(after: nil), in: [stack.store]) } == .storeNotOpen)
  }

  @Test func aStoreWithAHistoryIsSavedWithItOnly() throws {
    let tracked = try stack(.binary)
    let before = self.context(tracked)
    _ = try before.person("Ann")
    try before.save()
    let stack = try TestStack(.binary, files: tracked.files)
    let context = stack.context()
    _ = try context.person("Bob")
    #expect(code { try context.save() } == .storeReadOnly)
    #expect(try context.count(for: .fetchHistory(after: nil)) == 1, "it can be read")
    let copy = URL(filePath: "/folder/copy.heartwood")
    context.reset()
    var options = StoreOptions()
    options[.tracksPersistentHistory] = false
    let free = try stack.coordinator.convert(stack.store, to: copy, options: options)
    _ = try context.person("Bob")
    try context.save()
    #expect(try stack.coordinator.currentPersistentHistoryToken(fromStores: [free]) == nil)
  }

  @Test func aConversionGoesOnWithTheHistory() throws {
    let stack = try stack(.inMemory)
    let context = context(stack)
    let ann = try context.person("Ann")
    try context.save()
    let store = try stack.coordinator.convert(stack.store, to: TestStack.url)
    #expect(store.tracksPersistentHistory)
    ann.name = "Anna"
    try context.save()
    let transactions = try context.execute(.fetchHistory(after: nil))
    #expect(transactions.map(\.transactionNumber) == [1, 2])
    #expect(transactions[1].objectIDs(of: .update) == [ann.objectID])
  }
}
