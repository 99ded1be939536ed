import CoreData
import Testing

@Suite struct FetchTests {
  private func filled(_ type: String) throws -> Stack {
    let stack = try Stack(type)
    try stack.context.performAndWait {
      for (index, memo) in ["Milk", "Bread", "Cheese", "milk powder"].enumerated() {
        stack.insert(memo, Int16(index), done: index % 2 == 1)
      }
      try stack.context.save()
    }
    return stack
  }

  @Test(arguments: Stack.types) func predicatesSortDescriptorsAndLimits(type: String) throws {
    let stack = try filled(type)
    try stack.context.performAndWait { () throws in
      let request = toDoRequest()
      request.predicate = NSPredicate(format: "memo CONTAINS[cd] %@ AND sortOrder >= %d", "milk", 1)
      #expect(try stack.context.fetch(request).map(\.memo) == ["milk powder"])
      request.predicate = NSPredicate(format: "%K IN %@", "memo", ["Milk", "Bread"])
      request.sortDescriptors = [NSSortDescriptor(key: "sortOrder", ascending: false)]
      #expect(try stack.context.fetch(request).map(\.memo) == ["Bread", "Milk"])
      request.predicate = nil
      request.sortDescriptors = [NSSortDescriptor(keyPath: \ToDo.memo, ascending: true)]
      request.fetchOffset = 1
      request.fetchLimit = 2
      #expect(try stack.context.fetch(request).map(\.memo) == ["Cheese", "Milk"])
      request.fetchLimit = 0
      #expect(try stack.context.fetch(request).count == 3)
      request.fetchOffset = 0
      request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [
        NSPredicate(format: "done == YES"), NSPredicate(value: true),
        NSCompoundPredicate(notPredicateWithSubpredicate: NSPredicate(format: "memo == %@", "Bread")),
      ])
      #expect(try stack.context.fetch(request).map(\.memo) == ["milk powder"])
      #expect(try stack.context.count(for: request) == 1)
    }
  }

  @Test func resultTypes() throws {
    let stack = try filled(NSSQLiteStoreType)
    try stack.context.performAndWait {
      let ids = NSFetchRequest<NSManagedObjectID>(entityName: "ToDo")
      ids.resultType = .managedObjectIDResultType
      let objects = try stack.context.fetch(toDoRequest())
      #expect(Set(try stack.context.fetch(ids)) == Set(objects.map(\.objectID)))

      let rows = NSFetchRequest<NSDictionary>(entityName: "ToDo")
      rows.resultType = .dictionaryResultType
      rows.propertiesToFetch = ["memo", "sortOrder"]
      rows.sortDescriptors = [NSSortDescriptor(key: "sortOrder", ascending: true)]
      let first = try #require(try stack.context.fetch(rows).first)
      #expect(first["memo"] as? String == "Milk" && first["sortOrder"] as? Int == 0)

      let number = NSFetchRequest<NSNumber>(entityName: "ToDo")
      number.resultType = .countResultType
      #expect(try stack.context.fetch(number) == [4])
    }
  }

  @Test func requestsOfClasses() throws {
    let stack = try filled(NSInMemoryStoreType)
    try stack.context.performAndWait { () throws in
      let request: NSFetchRequest<any NSFetchRequestResult> = ToDo.fetchRequest()
      #expect(try stack.context.fetch(request).count == 4)
      // What heartwood-coredata makes of `ToDo.fetchRequest() as! NSFetchRequest<ToDo>`.
      let typed = ToDo.fetchRequest().requesting(NSFetchRequest<ToDo>.self)
      typed.predicate = NSPredicate(format: "done == YES")
      #expect(try stack.context.fetch(typed).count == 2)
      #expect(ToDo.entity().name == "ToDo")
    }
  }

  @Test func predicatesWithObjects() throws {
    let stack = try filled(NSSQLiteStoreType)
    try stack.context.performAndWait {
      let list = List(context: stack.context)
      list.title = "Shopping"
      let toDo = try #require(try stack.context.fetch(toDoRequest()).first)
      toDo.list = list
      let request = toDoRequest()
      let predicate = NSPredicate(format: "list == %@", list)
      request.predicate = predicate
      #expect(try stack.context.fetch(request) == [toDo])
      try stack.context.save()
      // The object has another id now.
      #expect(try stack.context.fetch(request) == [toDo])
      request.predicate = NSPredicate(format: "list.title BEGINSWITH %@", "Sho")
      #expect(try stack.context.fetch(request) == [toDo])
      let lists = NSFetchRequest<List>(entityName: "List")
      lists.predicate = NSPredicate(format: "ANY items.memo == %@", toDo.memo ?? "")
      #expect(try stack.context.fetch(lists) == [list])
      request.predicate = NSPredicate(format: "list == nil")
      #expect(try stack.context.count(for: request) == 3)
    }
  }

  @Test func predicatesAreEvaluatedOnObjects() throws {
    let stack = try filled(NSInMemoryStoreType)
    try stack.context.performAndWait {
      let toDos = try stack.context.fetch(toDoRequest())
      let predicate = NSPredicate(format: "memo LIKE[c] %@", "m*")
      #expect(Set(toDos.filter { predicate.evaluate(with: $0) }.map(\.memo)) == ["Milk", "milk powder"])
      #expect((toDos as NSArray).filtered(using: predicate).count == 2)
      #expect(predicate.evaluate(with: ["memo": "Meat"]))
      #expect(!predicate.evaluate(with: ["memo": "Bread"]))
      #expect(NSPredicate(format: "SELF > 3").evaluate(with: 4))
      #expect(NSPredicate(format: "ANY SELF == 'b'").evaluate(with: ["a", "b"]))
      let template = NSPredicate(format: "sortOrder == $ORDER")
      #expect(
        toDos.filter { template.evaluate(with: $0, substitutionVariables: ["ORDER": 2]) }.map(\.memo) == ["Cheese"]
      )
      let bound = template.withSubstitutionVariables(["ORDER": 1])
      let request = toDoRequest()
      request.predicate = bound
      #expect(try stack.context.fetch(request).map(\.memo) == ["Bread"])
    }
  }

  @Test func sortDescriptorsCompareObjects() throws {
    let descriptor = NSSortDescriptor(key: "memo", ascending: false)
    #expect(descriptor.key == "memo" && !descriptor.ascending)
    #expect(descriptor.compare(["memo": "a"], to: ["memo": "b"]) == .orderedDescending)
    #expect((descriptor.reversedSortDescriptor as? NSSortDescriptor)?.ascending == true)
    #expect(NSSortDescriptor(keyPath: \ToDo.list?.title, ascending: true).key == "list.title")
  }

  @Test func sortDescriptorsWithComparatorsAreForArrays() throws {
    let byLength = NSSortDescriptor(key: "memo", ascending: false) { left, right in
      NSNumber(value: (left as? String)?.count ?? 0).compare(NSNumber(value: (right as? String)?.count ?? 0))
    }
    let rows: [[String: Any]] = [["memo": "a"], ["memo": "ccc"], ["memo": "bb"]]
    let sorted = NSArray(array: rows).sortedArray(using: [byLength])
    #expect(sorted.compactMap { ($0 as? [String: Any])?["memo"] as? String } == ["ccc", "bb", "a"])
    let stack = try filled(NSSQLiteStoreType)
    stack.context.performAndWait {
      let request = toDoRequest()
      request.sortDescriptors = [byLength]
      #expect(throws: CocoaError.self) { try stack.context.fetch(request) }
    }
  }

  @Test(arguments: Stack.types) func batchesChangeAndDeleteRecords(type: String) throws {
    let stack = try filled(type)
    try stack.context.performAndWait { () throws in
      let update = NSBatchUpdateRequest(entityName: "ToDo")
      update.predicate = NSPredicate(format: "done == NO")
      update.propertiesToUpdate = ["sortOrder": 9, "memo": "changed"]
      update.resultType = .updatedObjectsCountResultType
      let updated = try #require(try stack.context.execute(update) as? NSBatchUpdateResult)
      #expect(updated.result as? Int == 2)
      let delete = NSBatchDeleteRequest(fetchRequest: ToDo.fetchRequest())
      delete.resultType = .resultTypeObjectIDs
      let deleted = try #require(try stack.context.execute(delete) as? NSBatchDeleteResult)
      #expect((deleted.result as? [NSManagedObjectID])?.count == 4)
      #expect(try stack.context.count(for: toDoRequest()) == 0)
      #expect(throws: CocoaError.self) { try stack.context.execute(toDoRequest()) }
    }
  }

  @Test func whatNoStoreUnderstandsIsAnError() throws {
    let stack = try filled(NSSQLiteStoreType)
    stack.context.performAndWait {
      let request = toDoRequest()
      request.predicate = NSPredicate(block: { _, _ in true })
      #expect(throws: CocoaError.self) { try stack.context.fetch(request) }
      request.predicate = NSPredicate(format: "nonsense == 1")
      let error = #expect(throws: CocoaError.self) { try stack.context.fetch(request) }
      #expect(error?.code == .persistentStoreOperation)
      #expect(throws: CocoaError.self) { try stack.context.fetch(NSFetchRequest<ToDo>(entityName: "Nothing")) }
    }
  }

  @Test(arguments: Stack.types) func elementsOfTransformableAttributesAreInConditions(type: String) throws {
    let stack = try Stack(type)
    try stack.context.performAndWait {
      for (order, tags) in [["food", "cold"], ["food"], ["tool"], nil].enumerated() {
        stack.insert("\(order)", Int16(order)).tags = tags
      }
      try stack.context.save()
      // One is not saved yet.
      stack.insert("4", 4).tags = ["food", "new"]
      func memos(_ format: String, limit: Int = 0) throws -> [String?] {
        let request = toDoRequest()
        request.predicate = NSPredicate(format: format)
        request.sortDescriptors = [NSSortDescriptor(key: "sortOrder", ascending: false)]
        request.fetchLimit = limit
        let found = try stack.context.fetch(request)
        let count = try stack.context.count(for: request)
        #expect(found.count == count)
        return found.map(\.memo)
      }
      #expect(try memos("ANY tags == 'food'") == ["4", "1", "0"])
      #expect(try memos("ANY tags == 'food'", limit: 2) == ["4", "1"])
      #expect(try memos("ANY tags == 'food' AND sortOrder < 2") == ["1", "0"])
      #expect(try memos("tags CONTAINS 'tool' OR sortOrder == 0") == ["2", "0"])
      #expect(try memos("tags.@count == 2") == ["4", "0"])
      #expect(try memos("tags[LAST] == 'cold'") == ["0"])
      #expect(try memos("tags CONTAINS 'none'") == [])
    }
  }
}
