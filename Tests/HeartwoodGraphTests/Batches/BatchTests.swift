import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

/// Inserts, updates and deletions of many records without objects.
@Suite struct BatchTests {
  private func names(_ context: ManagedObjectContext) throws -> [String] {
    try context.fetch(Person.self, sortedBy: Person.nameKey.ascending).map(\.name)
  }

  // MARK: Insertions

  @Test(arguments: TestStoreKind.allCases)
  func insertsDictionaries(_ kind: TestStoreKind) throws {
    let stack = try TestStack(kind)
    let rows: [[String: PropertyValue]] = [["name": .string("Bob"), "salary": .integer(3)], ["name": .string("Ann")]]
    var request = BatchInsertRequest(entityName: "Employee", rows: rows)
    request.resultType = .objectIDs
    let result = try stack.context().execute(request)
    #expect(result.count == 2 && result.objectIDs.count == 2)
    let context = stack.context()
    #expect(try names(context) == ["Ann", "Bob"])
    #expect(try context.fetch(Employee.self, where: Person.nameKey == "Bob").map(\.salary) == [3])
    #expect(try Set(context.fetchObjectIDs(FetchRequest<Employee>())) == result.objectIDs)
  }

  @Test func insertsWhatAClosureFills() throws {
    let stack = try TestStack(.binary)
    var number = 0
    let request = BatchInsertRequest(entityName: "Passport") { row in
      number += 1
      if number.isMultiple(of: 2) { row[Passport.numberKey] = number }
      return number <= 70_000
    }
    #expect(try stack.coordinator.execute(request).count == 70_000)
    let context = try TestStack(.binary, files: stack.files).context()
    #expect(try context.count(entityName: "Passport") == 70_000)
    // What is not set has the default value.
    #expect(try context.count(Passport.self, where: Passport.numberKey == 1) == 35_000)
    #expect(try context.count(Passport.self, where: Passport.numberKey == 69_998) == 1)
    let id = try #require(try context.fetchObjectIDs(FetchRequest<Passport>(where: Passport.numberKey == 69_998)).first)
    #expect(try context.existingObject(with: id).propertyValue(forKey: "number") == .integer(69_998))
  }

  @Test func inversesFollow() throws {
    let stack = try TestStack()
    let context = stack.context()
    let shelf = try context.insert(Shelf.self)
    let first = try context.book("first", on: shelf)
    try context.save()
    let rows = ["second", "third"].map { title -> [String: PropertyValue] in
      ["title": .string(title), "shelf": .toOne(shelf.objectID)]
    }
    var request = BatchInsertRequest(entityName: "Book", rows: rows)
    request.resultType = .objectIDs
    let result = try context.execute(request)
    #expect(result.changes.updatedObjectIDs == [shelf.objectID])
    #expect(shelf.books == [first])
    context.mergeChanges(from: result.changes)
    #expect(shelf.books.map(\.title) == ["first", "second", "third"])
    try expectBothEndsAgree(stack.context())
  }

  @Test func mistakesOfInsertionsSaveNothing() throws {
    let stack = try TestStack()
    let context = stack.context()
    let note = try context.insert(Note.self)
    let passport = try context.insert(Passport.self)
    let unsaved = try context.insert(Note.self)
    try context.save()
    func code(_ entity: String, _ rows: [[String: PropertyValue]]) -> PersistenceError.Code? {
      persistenceError { try context.execute(BatchInsertRequest(entityName: entity, rows: rows)) }?.code
    }
    let new = ManagedObjectContext(stack.coordinator)
    let temporary = try new.insert(Note.self).objectID
    #expect(code("Person", [["name": .string("Ann")], [:]]) == .validationFailed)
    #expect(code("Person", [["name": .string("Ann"), "nme": .null]]) == .propertyUnknown)
    #expect(code("Person", [["name": .integer(3)]]) == .valueTypeMismatch)
    #expect(code("Person", [["name": .string("Ann"), "friends": .toMany([])]]) == .valueUnsupported)
    #expect(code("Person", [["name": .string("Ann"), "passport": .toOne(passport.objectID)]]) == .valueUnsupported)
    #expect(code("Person", [["name": .string("Ann"), "mentor": .toOne(note.objectID)]]) == .valueTypeMismatch)
    #expect(code("Note", [["about": .toOne(temporary)]]) == .danglingReference)
    #expect(code("Nobody", []) == .entityUnknown)
    #expect(try context.count(entityName: "Person") == 0)
    context.delete(unsaved)
    try context.save()
    #expect(code("Note", [["about": .toOne(unsaved.objectID)]]) == .danglingReference)
    #expect(code("Note", [["about": .toOne(note.objectID), "text": .string("x")]]) == nil)
    struct Stop: Error {}
    #expect(throws: Stop.self) { try context.execute(BatchInsertRequest(entityName: "Note") { _ in throw Stop() }) }
    #expect(try context.count(entityName: "Note") == 2)
  }

  // MARK: Updates

  @Test(arguments: TestStoreKind.allCases)
  func updatesWithValuesAndExpressions(_ kind: TestStoreKind) throws {
    let stack = try TestStack(kind)
    let context = stack.context()
    for (name, salary) in [("Ann", Int32(1)), ("Bob", 2), ("Cid", 3)] {
      let employee = try context.insert(Employee.self)
      (employee.name, employee.salary) = (name, salary)
    }
    _ = try context.person("Zoe")
    try context.save()
    var request = BatchUpdateRequest(
      entityName: "Employee",
      where: Employee.salaryKey > 1,
      propertiesToUpdate: [
        "salary": try FetchExpression(format: "salary * 10.0"), "name": try FetchExpression(format: "uppercase(name)"),
      ]
    )
    request.resultType = .objectIDs
    let result = try context.execute(request)
    #expect(result.count == 2 && result.objectIDs.count == 2)
    let fresh = stack.context()
    #expect(try names(fresh) == ["Ann", "BOB", "CID", "Zoe"])
    #expect(try fresh.fetch(Employee.self, sortedBy: Person.nameKey.ascending).map(\.salary) == [1, 20, 30])
    let all = BatchUpdateRequest(entityName: "Person", propertiesToUpdate: ["name": "Same"])
    #expect(try context.execute(all).count == 4)
    #expect(try stack.context().count(Person.self, where: Person.nameKey == "Same") == 4)
    var own = BatchUpdateRequest(entityName: "Person", propertiesToUpdate: ["name": "Own"])
    own.includesSubentities = false
    #expect(try context.execute(own).count == 1)
    own.affectedStores = []
    #expect(try context.execute(own).count == 0)
  }

  @Test func objectsMeetAConflictOrTakeTheChanges() throws {
    let stack = try TestStack()
    let context = stack.context()
    let (ann, bob) = (try context.person("Ann"), try context.person("Bob"))
    try context.save()
    let follower = stack.context()
    follower.automaticallyMergesChangesFromParent = true
    let followed = try follower.fetch(Person.self, where: Person.nameKey == "Ann")
    #expect(followed.map(\.name) == ["Ann"])
    ann.name = "mine"
    var request = BatchUpdateRequest(entityName: "Person", propertiesToUpdate: ["name": "theirs"])
    request.resultType = .objectIDs
    let result = try context.execute(request)
    #expect(bob.name == "Bob")
    #expect(persistenceError { try context.save() }?.code == .saveConflict)
    context.mergeChanges(from: result.changes)
    #expect((ann.name, bob.name) == ("mine", "theirs"))
    try context.save()
    #expect(try follower.count(Person.self, where: Person.nameKey == "theirs") == 1)
    #expect(followed.map(\.name) == ["mine"])
  }

  @Test func mistakesOfUpdatesSaveNothing() throws {
    let context = try TestStack().context()
    let employee = try context.insert(Employee.self)
    (employee.name, employee.salary) = ("Ann", 3)
    try context.save()
    func code(_ values: [String: any FetchArgument]) -> PersistenceError.Code? {
      persistenceError { try context.execute(BatchUpdateRequest(entityName: "Employee", propertiesToUpdate: values)) }?
        .code
    }
    #expect(code(["name": String?.none]) == .validationFailed)
    #expect(code(["salary": 3.5]) == .validationFailed)
    #expect(code(["salary": Int64.max]) == .validationFailed)
    #expect(code(["mentor": employee]) == .valueUnsupported)
    #expect(code(["pay": 3]) == .propertyUnknown)
    #expect(throws: FetchPredicateError.self) {
      try context.execute(BatchUpdateRequest(entityName: "Employee", propertiesToUpdate: ["salary": "much"]))
    }
    #expect(try context.execute(BatchUpdateRequest(entityName: "Employee", propertiesToUpdate: [:])).count == 0)
    #expect(try context.fetchRows(Employee.self, ["name", "salary"]).map(\.values) == [[.string("Ann"), .integer(3)]])
  }

  // MARK: Deletions

  @Test(arguments: TestStoreKind.allCases)
  func deletesByAConditionAndByIDs(_ kind: TestStoreKind) throws {
    let stack = try TestStack(kind)
    let context = stack.context()
    let people = try ["Ann", "Bob", "Cid", "Dan"].map { try context.person($0) }
    people[0].friends = [people[1], people[2]]
    people[1].passport = try context.insert(Passport.self)
    try context.save()
    var request = BatchDeleteRequest(entityName: "Person", where: Person.nameKey.isIn(["Bob", "Dan"]))
    request.resultType = .objectIDs
    let result = try context.execute(request)
    // The passport goes with its owner.
    #expect(result.count == 3 && result.objectIDs.count == 3)
    #expect(result.changes.updatedObjectIDs == [people[0].objectID])
    context.mergeChanges(from: result.changes)
    #expect(people[1].isDeleted && people[3].isDeleted && people[0].friends == [people[2]])
    #expect(try names(stack.context()) == ["Ann", "Cid"])
    #expect(try stack.context().count(entityName: "Passport") == 0)
    let ids = BatchDeleteRequest(objectIDs: people.map(\.objectID))
    #expect(try context.execute(ids).count == 2)
    #expect(try context.execute(ids).count == 0)
    #expect(try stack.context().count(entityName: "Person") == 0)
  }

  @Test func deletionsDoWhatThoseOfObjectsDo() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("seed \(seed)")
    let stack = try TestStack()
    let context = stack.context()
    var library = RandomLibrary(context, seed: seed)
    var denied = 0
    for _ in 0..<40 {
      for _ in 0..<25 { try library.step() }
      try context.save()
      var objects: [ManagedObject] = try [
        library.one(of: Person.self), library.one(of: Shelf.self), library.one(of: Book.self),
      ]
      .compactMap(\.self)
      if let passport = try library.one(of: Passport.self) { objects.append(passport) }
      let ids = objects.map(\.objectID)
      objects.forEach(context.delete)
      let expected = try state(context)
      do {
        let batch = BatchDeleteRequest(objectIDs: ids)
        let count = try stack.context().execute(batch).count
        #expect(try state(stack.context()) == expected)
        #expect(count >= ids.count)
        context.reset()
        try expectBothEndsAgree(context)
      } catch let error as PersistenceError where error.code == .validationFailed {
        denied += 1
        #expect(persistenceError { try context.save() }?.code == .validationFailed)
        context.rollback()
      }
    }
    #expect(denied < 40)
  }

  @Test func whatADeletionWouldLeaveAloneIsToldInOrder() throws {
    let model = try ManagedObjectModel(entities: [
      .entity("List", .toMany("items", "Item", inverse: "list")),
      .entity("Item", .toOne("list", "List", inverse: "items", optional: false)),
    ])
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = ManagedObjectContext(coordinator)
    let list = try context.insert(entityName: "List")
    let items = try (0..<40).map { _ in
      let item = try context.insert(entityName: "Item")
      try item.setValue(list, forKey: "list")
      return item
    }
    try context.save()
    let error = persistenceError { try coordinator.execute(BatchDeleteRequest(entityName: "List")) }
    #expect(error?.context.validationFaults.map(\.objectID) == items.map(\.objectID))
  }

  /// The values of all objects that are there, without links to others.
  private func state(_ context: ManagedObjectContext) throws -> [ManagedObjectID: [String: Set<String>]] {
    let objects = try ["Person", "Shelf", "Book", "Tag", "Passport"].flatMap { try context.fetch(entityName: $0) }
    let ids = Set(objects.map(\.objectID))
    var state: [ManagedObjectID: [String: Set<String>]] = [:]
    for object in objects {
      for property in object.entity.properties where !property.isTransient {
        let value = try object.propertyValue(forKey: property.name)
        switch value {
        case .toOne(let id):
          state[object.objectID, default: [:]][property.name] = ids.contains(id) ? [id.description] : []
        case .toMany(let others):
          state[object.objectID, default: [:]][property.name] = Set(others.filter(ids.contains).map(\.description))
        case .null: state[object.objectID, default: [:]][property.name] = []
        default: state[object.objectID, default: [:]][property.name] = ["\(value)"]
        }
      }
    }
    return state
  }

  // MARK: The rest of a save

  @Test func historyHasTheBatches() throws {
    var options = StoreOptions()
    options[.tracksPersistentHistory] = true
    let stack = try TestStack(.binary, options: options)
    let context = stack.context()
    context.transactionAuthor = "importer"
    try context.execute(BatchInsertRequest(entityName: "Tag", rows: [["name": .string("a")], ["name": .string("b")]]))
    try context.execute(BatchUpdateRequest(entityName: "Tag", propertiesToUpdate: ["name": "c"]))
    try stack.coordinator.execute(BatchDeleteRequest(entityName: "Tag"), author: "cleaner")
    let nothingSeen: PersistentHistoryToken? = nil
    let history = try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: nothingSeen))
    #expect(history.map(\.author) == ["importer", "importer", "cleaner"])
    #expect(
      history.map { $0.changes.map(\.changeType) } == [[.insert, .insert], [.update, .update], [.delete, .delete]]
    )
  }

  @Test func uniqueValuesStayUnique() throws {
    let model = try ManagedObjectModel(entities: [
      EntityDefinition(
        name: "Item",
        properties: [.attribute("code", .string), .attribute("note", .string, optional: true)],
        uniquenessConstraints: [["code"]]
      )
    ])
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    func code(_ body: () throws -> Void) -> PersistenceError.Code? { persistenceError(body)?.code }
    let rows: [[String: PropertyValue]] = [["code": .string("a")], ["code": .string("b")]]
    #expect(code { try coordinator.execute(BatchInsertRequest(entityName: "Item", rows: rows)) } == nil)
    #expect(code { try coordinator.execute(BatchInsertRequest(entityName: "Item", rows: rows)) } == .constraintConflict)
    let update = BatchUpdateRequest(entityName: "Item", propertiesToUpdate: ["code": "c"])
    #expect(code { try coordinator.execute(update) } == .constraintConflict)
    #expect(try ManagedObjectContext(coordinator).count(entityName: "Item") == 2)
  }

  @Test func aFileThatCannotBeWrittenStaysWhole() throws {
    var options = StoreOptions()
    let stack = try TestStack(.binary)
    try stack.coordinator.execute(BatchInsertRequest(entityName: "Tag", rows: [["name": .string("a")]]))
    options[.isReadOnly] = true
    let readOnly = try TestStack(.binary, files: stack.files, options: options)
    let update = BatchUpdateRequest(entityName: "Tag", propertiesToUpdate: ["name": "b"])
    #expect(persistenceError { try readOnly.coordinator.execute(update) }?.code == .storeReadOnly)
    #expect(try readOnly.context().count(Tag.self, where: Tag.nameKey == "a") == 1)
  }
}
