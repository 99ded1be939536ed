import CoreData
import Testing

@Suite struct ObjectTests {
  @Test func anObjectWithoutItsContextKeepsItsValues() throws {
    func make() throws -> ToDo {
      let stack = try Stack(NSInMemoryStoreType)
      return stack.context.performAndWait { stack.insert("Milk", 3) }
    }
    let toDo = try make()
    #expect(toDo.managedObjectContext == nil)
    toDo.memo = "Bread"
    #expect(toDo.memo == "Bread" && toDo.sortOrder == 3)
    toDo.setValue(4, forKey: "sortOrder")
    #expect(toDo.sortOrder == 4)
  }

  @Test(arguments: Stack.types) func valuesAreSavedAndReadAgain(type: String) throws {
    let stack = try Stack(type)
    try stack.context.performAndWait {
      let toDo = stack.insert("Milk", 7, done: true)
      toDo.price = NSDecimalNumber(string: "1.25")
      toDo.tags = ["a", "b"]
      toDo.kind = .urgent
      toDo.setValue(Date(timeIntervalSinceReferenceDate: 100), forKey: "created")
      let list = List(context: stack.context)
      list.title = "Shopping"
      toDo.list = list
      let identifier = toDo.identifier
      try stack.context.save()

      let other = Stack.context(of: stack.coordinator)
      try other.performAndWait {
        let found = try #require(try other.fetch(toDoRequest()).first)
        #expect(found.memo == "Milk")
        #expect(found.sortOrder == 7)
        #expect(found.done)
        #expect(found.price == NSDecimalNumber(string: "1.25"))
        #expect(found.identifier == identifier && identifier != nil)
        #expect(found.tags == ["a", "b"])
        #expect(found.kind == .urgent)
        #expect(found.value(forKey: "created") as? Date == Date(timeIntervalSinceReferenceDate: 100))
        #expect(found.list?.title == "Shopping")
        #expect(found.list?.items == [found])
        #expect(found.list?.wasMadeByOwnInitializer == true)
      }
    }
  }

  @Test func aContextHasOneObjectForEachRecord() throws {
    let stack = try Stack(NSSQLiteStoreType)
    try stack.context.performAndWait {
      let toDo = stack.insert("Milk")
      try stack.context.save()
      let found = try stack.context.fetch(toDoRequest())
      #expect(found.count == 1 && found[0] === toDo)
      #expect(stack.context.object(with: toDo.objectID) === toDo)
      #expect(try stack.context.existingObject(with: toDo.objectID) === toDo)
      #expect(stack.context.registeredObject(for: toDo.objectID) === toDo)
      #expect(stack.context.registeredObjects.contains(toDo))
    }
  }

  @Test func statesFollowTheLifeOfAnObject() throws {
    let stack = try Stack(NSInMemoryStoreType)
    try stack.context.performAndWait {
      let toDo = stack.insert("Milk")
      #expect(toDo.isInserted && toDo.hasChanges && !toDo.isUpdated && !toDo.isDeleted)
      #expect(toDo.objectID.isTemporaryID)
      #expect(stack.context.insertedObjects == [toDo])
      try stack.context.save()
      #expect(!toDo.isInserted && !toDo.hasChanges)
      #expect(!toDo.objectID.isTemporaryID)
      toDo.memo = "Bread"
      #expect(toDo.isUpdated && stack.context.updatedObjects == [toDo])
      #expect(toDo.changedValues()["memo"] as? String == "Bread")
      #expect(toDo.committedValues(forKeys: ["memo"])["memo"] as? String == "Milk")
      toDo.memo = nil
      #expect(toDo.changedValues()["memo"] is NSNull)
      stack.context.delete(toDo)
      #expect(toDo.isDeleted && stack.context.deletedObjects == [toDo])
      try stack.context.save()
      // As in Core Data, and other than in Heartwood, an object does not count as deleted once that is saved.
      #expect(!toDo.isDeleted)
      #expect(toDo.managedObjectContext == nil)
    }
  }

  @Test func hooksAreCalledInTheirOrder() throws {
    let stack = try Stack(NSSQLiteStoreType)
    try stack.context.performAndWait {
      let toDo = stack.insert("Milk")
      try stack.context.save()
      #expect(toDo.events == ["awakeFromInsert", "willSave", "didSave"])
      let other = Stack.context(of: stack.coordinator)
      try other.performAndWait {
        let found = try #require(try other.fetch(toDoRequest()).first)
        #expect(found.isFault && found.events.isEmpty)
        _ = found.memo
        #expect(!found.isFault && found.events == ["awakeFromFetch"])
        other.delete(found)
        try other.save()
        #expect(found.events == ["awakeFromFetch", "prepareForDeletion", "willSave", "didSave"])
      }
    }
  }

  @Test func objectsOnTheirOwnKeepTheirValuesWhenTheyAreInserted() throws {
    let stack = try Stack(NSInMemoryStoreType)
    try stack.context.performAndWait {
      let entity = try #require(NSEntityDescription.entity(forEntityName: "ToDo", in: stack.context))
      let toDo = ToDo(entity: entity, insertInto: nil)
      #expect(toDo.managedObjectContext == nil && !toDo.done)
      toDo.memo = "Milk"
      toDo.sortOrder = 3
      stack.context.insert(toDo)
      #expect(toDo.memo == "Milk" && toDo.sortOrder == 3 && toDo.identifier != nil)
      try stack.context.save()
      #expect(try stack.context.fetch(toDoRequest()) == [toDo])
    }
  }

  @Test func keyValueCodingGivesObjectsOfFoundation() throws {
    let stack = try Stack(NSInMemoryStoreType)
    stack.context.performAndWait {
      let toDo = NSEntityDescription.insertNewObject(forEntityName: "ToDo", into: stack.context)
      #expect(toDo is ToDo)
      toDo.setValue(12, forKey: "sortOrder")
      toDo.setValue(NSNumber(value: true), forKey: "done")
      toDo.setValue("Milk" as NSString, forKey: "memo")
      #expect((toDo.value(forKey: "sortOrder") as? NSNumber)?.intValue == 12)
      #expect(toDo.value(forKey: "sortOrder") as? Int16 == 12)
      #expect(toDo.value(forKey: "done") as? Bool == true)
      toDo.setValue(NSNull(), forKey: "memo")
      #expect(toDo.value(forKey: "memo") == nil)

      let list = List(context: stack.context)
      list.setValue(Set([toDo]), forKey: "items")
      #expect((list.value(forKey: "items") as? NSSet)?.contains(toDo) == true)
      #expect(toDo.value(forKey: "list") as? List === list)
      toDo.setValue("Shopping", forKeyPath: "list.title")
      #expect(toDo.value(forKeyPath: "list.title") as? String == "Shopping")
      #expect(list.value(forKeyPath: "items.@count") as? Int == 1)
      #expect(list.value(forKeyPath: "items.@sum.sortOrder") as? Int == 12)
      list.setValuesForKeys(["title": "Other", "items": NSSet()])
      #expect(toDo.value(forKey: "list") == nil)
      #expect(list.dictionaryWithValues(forKeys: ["title"])["title"] as? String == "Other")
    }
  }

  @Test func relationshipsHaveTwoEnds() throws {
    let stack = try Stack(NSSQLiteStoreType)
    try stack.context.performAndWait {
      let list = List(context: stack.context)
      list.title = "Shopping"
      let milk = stack.insert("Milk")
      let bread = stack.insert("Bread")
      list.addToItems(milk)
      list.addToItems(bread)
      #expect(milk.list === list && list.items == [milk, bread])
      list.removeFromItems(bread)
      #expect(bread.list == nil)
      try stack.context.save()
      #expect(milk.objectIDs(forRelationshipNamed: "list") == [list.objectID])
      stack.context.delete(list)
      try stack.context.save()
      // The delete rule is cascade.
      #expect(try stack.context.fetch(toDoRequest()) == [bread])
    }
  }

  @Test func validationErrorsHaveCoreDataCodes() throws {
    let stack = try Stack(NSSQLiteStoreType)
    stack.context.performAndWait {
      let list = List(context: stack.context)
      let error = #expect(throws: CocoaError.self) { try stack.context.save() }
      #expect(error?.code == .validationMissingMandatoryProperty)
      #expect((error as NSError?)?.code == NSValidationMissingMandatoryPropertyError)
      #expect((error as NSError?)?.domain == NSCocoaErrorDomain)
      #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "title")
      #expect(error?.userInfo[NSValidationObjectErrorKey] as? List === list)
      _ = List(context: stack.context)
      let errors = #expect(throws: CocoaError.self) { try stack.context.save() }
      #expect(errors?.code == .validationMultipleErrors)
      #expect((errors?.userInfo[NSDetailedErrorsKey] as? [NSError])?.count == 2)
      stack.context.rollback()
      #expect(!stack.context.hasChanges)
      stack.insert("forbidden")
      let own = #expect(throws: NSError.self) { try stack.context.save() }
      #expect(own?.domain == "ToDo" && own?.code == 42)
    }
  }

  @Test func idsAreEqualForTheSameRecordAndOutliveTheContext() throws {
    let stack = try Stack(NSSQLiteStoreType)
    try stack.context.performAndWait {
      let toDo = stack.insert("Milk")
      try stack.context.obtainPermanentIDs(for: [toDo])
      let id = toDo.objectID
      #expect(!id.isTemporaryID)
      try stack.context.save()
      #expect(toDo.objectID == id && toDo.objectID.hash == id.hash)
      let uri = id.uriRepresentation()
      #expect(uri.absoluteString.hasPrefix("x-coredata://") && uri.lastPathComponent.hasPrefix("p"))
      #expect(stack.coordinator.managedObjectID(forURIRepresentation: uri) == id)
      #expect(id.persistentStore === stack.coordinator.persistentStores.first)
      #expect(id.entity.name == "ToDo")
    }
  }

  @Test func refreshingTakesTheNewestValues() throws {
    let stack = try Stack(NSSQLiteStoreType)
    let other = Stack.context(of: stack.coordinator)
    try stack.context.performAndWait {
      let toDo = stack.insert("Milk")
      try stack.context.save()
      try Stack.changeFirst(in: other, to: "Bread")
      #expect(toDo.memo == "Milk")
      stack.context.refresh(toDo, mergeChanges: false)
      #expect(toDo.isFault && toDo.faultingState != 0)
      #expect(toDo.memo == "Bread")
    }
  }

  @Test func mergePoliciesResolveConflicts() throws {
    let stack = try Stack(NSSQLiteStoreType)
    let other = Stack.context(of: stack.coordinator)
    try stack.context.performAndWait {
      let toDo = stack.insert("Milk")
      try stack.context.save()
      try Stack.changeFirst(in: other, to: "Bread")
      toDo.memo = "Cheese"
      let error = #expect(throws: CocoaError.self) { try stack.context.save() }
      #expect(error?.code == .managedObjectMerge)
      stack.context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
      try stack.context.save()
      other.performAndWait { other.reset() }
      #expect(try other.performAndWait { try other.fetch(toDoRequest()).first?.memo } == "Cheese")
    }
  }
}
