import CoreData
import Testing

/// Requests that contexts execute: batch insertions, asynchronous fetches, histories.
@Suite struct RequestTests {
  @Test(arguments: Stack.types) func batchesInsertDictionaries(type: String) throws {
    let stack = try Stack(type)
    try stack.context.performAndWait {
      let list = List(context: stack.context)
      list.title = "Shop"
      try stack.context.save()
      let request = NSBatchInsertRequest(
        entityName: "ToDo",
        objects: [["memo": "Milk", "sortOrder": 1, "list": list.objectID], ["memo": "Bread", "done": true]]
      )
      request.resultType = .objectIDs
      let result = try #require(try stack.context.execute(request) as? NSBatchInsertResult)
      let ids = try #require(result.result as? [NSManagedObjectID])
      #expect(ids.count == 2 && !ids.contains { $0.isTemporaryID })
      let fetch = toDoRequest()
      fetch.sortDescriptors = [NSSortDescriptor(key: "memo", ascending: true)]
      let found = try stack.context.fetch(fetch)
      #expect(found.map(\.memo) == ["Bread", "Milk"] && found.map(\.done) == [true, false])
      #expect(found[1].list === list)
    }
  }

  @Test func batchesAskForTheNextRecord() throws {
    let stack = try Stack(NSSQLiteStoreType)
    let entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["ToDo"])
    try stack.context.performAndWait {
      var memos = ["a", "b"][...]
      let byDictionary = NSBatchInsertRequest(entity: entity) { (row: NSMutableDictionary) in
        guard let memo = memos.popFirst() else { return true }
        row["memo"] = memo
        return false
      }
      byDictionary.resultType = .count
      let result = try #require(try stack.context.execute(byDictionary) as? NSBatchInsertResult)
      #expect(result.result as? Int == 2)
      var number: Int16 = 0
      let byObject = NSBatchInsertRequest(entity: entity) { (object: NSManagedObject) in
        number += 1
        (object as? ToDo)?.memo = "c"
        (object as? ToDo)?.sortOrder = number
        return number > 3
      }
      try stack.context.execute(byObject)
      #expect(try stack.context.fetch(toDoRequest()).map(\.sortOrder).sorted() == [0, 0, 1, 2, 3])
    }
  }

  @Test func batchesWithUnknownPropertiesAreErrors() throws {
    let stack = try Stack(NSSQLiteStoreType)
    try stack.context.performAndWait {
      for row: [String: Any] in [["nothing": 1], ["memo": 1], ["list": "Shop"]] {
        let error = #expect(throws: CocoaError.self) {
          try stack.context.execute(NSBatchInsertRequest(entityName: "ToDo", objects: [row]))
        }
        #expect(error?.code == .persistentStoreOperation)
      }
      let count = try stack.context.count(for: toDoRequest())
      #expect(count == 0)
    }
  }

  @Test func fetchesGiveTheirResultsLater() async throws {
    let stack = try Stack(NSSQLiteStoreType)
    try stack.context.performAndWait {
      stack.insert("Milk")
      try stack.context.save()
    }
    let memos = await withCheckedContinuation { continuation in
      stack.context.performAndWait {
        let request = NSAsynchronousFetchRequest(fetchRequest: toDoRequest()) { result in
          continuation.resume(returning: result.finalResult?.map(\.memo))
        }
        // The block is not called before the result is there.
        let result = try? stack.context.execute(request) as? NSAsynchronousFetchResult<ToDo>
        #expect(result != nil && result?.finalResult == nil)
      }
    }
    #expect(memos == ["Milk"])
    let error = await withCheckedContinuation { continuation in
      stack.context.performAndWait {
        let request = NSAsynchronousFetchRequest(fetchRequest: toDoRequest()) { result in
          continuation.resume(returning: result.operationError as? CocoaError)
        }
        let result = try? stack.context.execute(request) as? NSPersistentStoreAsynchronousResult
        result?.cancel()
      }
    }
    #expect(error?.code == .userCancelled)
  }

  // MARK: History

  private static func tracking() throws -> (stack: Stack, coordinator: NSPersistentStoreCoordinator) {
    let stack = try Stack(NSInMemoryStoreType)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Models.toDos())
    let options = [
      NSPersistentHistoryTrackingKey: true as NSNumber,
      NSPersistentStoreRemoteChangeNotificationPostOptionKey: true as NSNumber,
    ]
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType,
      configurationName: nil,
      at: stack.url,
      options: options
    )
    return (stack, coordinator)
  }

  private static func history(
    _ request: NSPersistentHistoryChangeRequest,
    _ context: NSManagedObjectContext
  ) throws -> [NSPersistentHistoryTransaction] {
    let result = try context.execute(request) as? NSPersistentHistoryResult
    return try #require(result?.result as? [NSPersistentHistoryTransaction])
  }

  @Test func savesAreTransactionsOfTheHistory() throws {
    let (stack, coordinator) = try Self.tracking()
    let context = Stack.context(of: coordinator)
    try context.performAndWait {
      context.transactionAuthor = "app"
      context.name = "main"
      let toDo = ToDo(context: context)
      try context.save()
      let token = try #require(coordinator.currentPersistentHistoryToken(fromStores: nil))
      toDo.memo = "Milk"
      try context.save()
      context.transactionAuthor = "import"
      context.delete(toDo)
      try context.save()
      let all = try Self.history(.fetchHistory(after: nil as NSPersistentHistoryToken?), context)
      #expect(all.map(\.author) == ["app", "app", "import"] && all.map(\.contextName) == ["main", "main", "main"])
      #expect(all.map { $0.changes?.first?.changeType } == [.insert, .update, .delete])
      #expect(all[1].changes?.first?.updatedProperties?.map(\.name) == ["memo"])
      #expect(all[0].changes?.first?.changedObjectID == toDo.objectID && all[0].changes?.first?.transaction === all[0])
      #expect(all[0].token == token && all[0].storeID == coordinator.persistentStores[0].identifier)
      let later = try Self.history(.fetchHistory(after: token), context)
      #expect(later.map(\.transactionNumber) == [2, 3])
      #expect(try Self.history(.fetchHistory(after: later[0]), context).map(\.transactionNumber) == [3])
    }
    withExtendedLifetime(stack) {}
  }

  @Test func transactionsAreChosenByPredicateAndDeleted() throws {
    let (stack, coordinator) = try Self.tracking()
    let context = Stack.context(of: coordinator)
    try context.performAndWait {
      for author in ["app", "import", "app"] {
        context.transactionAuthor = author
        _ = ToDo(context: context)
        try context.save()
      }
      let fetch = try #require(NSPersistentHistoryTransaction.fetchRequest)
      fetch.predicate = NSPredicate(format: "author != %@", "import")
      let request = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: fetch)
      #expect(try Self.history(request, context).map(\.transactionNumber) == [1, 3])
      request.resultType = .count
      #expect((try context.execute(request) as? NSPersistentHistoryResult)?.result as? Int == 2)
      request.resultType = .objectIDs
      #expect(
        ((try context.execute(request) as? NSPersistentHistoryResult)?.result as? [NSManagedObjectID])?.count == 2
      )
      let all = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
      let third = try #require(try Self.history(all, context).last)
      try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: third))
      #expect(try Self.history(all, context).map(\.transactionNumber) == [3])
      try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: third.token))
      #expect(try Self.history(all, context).isEmpty)
    }
    withExtendedLifetime(stack) {}
  }

  @Test func tokensAreArchived() throws {
    let (stack, coordinator) = try Self.tracking()
    let context = Stack.context(of: coordinator)
    try context.performAndWait {
      _ = ToDo(context: context)
      try context.save()
    }
    let token = try #require(coordinator.currentPersistentHistoryToken(fromStores: coordinator.persistentStores))
    let data = try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
    let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: data)
    #expect(read == token)
    withExtendedLifetime(stack) {}
  }

  @Test func savesAreToldWithTheToken() async throws {
    let (stack, coordinator) = try Self.tracking()
    await confirmation { told in
      let center = NotificationCenter.default
      let observer = center.addObserver(forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil) {
        note in
        let token = note.userInfo?[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken
        if token != nil, note.userInfo?[NSStoreUUIDKey] is String { told() }
      }
      let context = Stack.context(of: coordinator)
      context.performAndWait {
        _ = ToDo(context: context)
        #expect(throws: Never.self) { try context.save() }
      }
      center.removeObserver(observer)
    }
    withExtendedLifetime(stack) {}
  }

  @Test func transactionsAreMergedIntoOtherContexts() throws {
    let (stack, coordinator) = try Self.tracking()
    let (writer, reader) = (Stack.context(of: coordinator), Stack.context(of: coordinator))
    let id = try writer.performAndWait {
      let toDo = ToDo(context: writer)
      toDo.memo = "Milk"
      try writer.save()
      return toDo.objectID
    }
    try reader.performAndWait {
      let seen = try #require(try reader.existingObject(with: id) as? ToDo)
      #expect(seen.memo == "Milk")
      try Stack.changeFirst(in: writer, to: "Bread")
      let last = try #require(
        try Self.history(.fetchHistory(after: nil as NSPersistentHistoryToken?), reader).last
      )
      reader.mergeChanges(fromContextDidSave: last.objectIDNotification())
      #expect(seen.memo == "Bread")
    }
    withExtendedLifetime(stack) {}
  }

  @Test func aStoreWithoutHistorySaysSo() throws {
    let stack = try Stack(NSSQLiteStoreType)
    #expect(stack.coordinator.currentPersistentHistoryToken(fromStores: nil) == nil)
    #expect(throws: CocoaError.self) {
      try stack.context.performAndWait {
        try stack.context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast))
      }
    }
  }
}
