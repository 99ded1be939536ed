import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

/// Batch insertions of records whose values must be unique.
@Suite struct BatchUpsertTests {
  static let storeTypes: [StoreType] = [.inMemory, .binary, .xml, .propertyList, .coreDataBinary]

  private func coordinator(_ type: StoreType = .inMemory) throws -> PersistentStoreCoordinator {
    let contact = EntityDefinition.entity(
      "Contact",
      unique: [["email"], ["country", "number"]],
      .attribute("email", .string, optional: true),
      .attribute("country", .string, optional: true),
      .attribute("number", .integer32, optional: true),
      .attribute("name", .string, optional: true),
      .toOne("group", "Group", inverse: "contacts")
    )
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: ManagedObjectModel(entities: [
        contact, .entity("Friend", parent: "Contact", .attribute("since", .date, optional: true)),
        .entity("Group", .attribute("name", .string, optional: true), .toMany("contacts", "Contact", inverse: "group")),
      ]),
      registry: .default,
      fileSystem: InMemoryFileSystem()
    )
    try coordinator.addPersistentStore(
      type: type,
      at: type == .inMemory ? nil : URL(filePath: "/folder/contacts.store")
    )
    return coordinator
  }

  private func row(_ email: String?, _ name: String?, number: Int64? = nil) -> [String: PropertyValue] {
    [
      "email": email.map { .string($0) } ?? .null, "name": name.map { .string($0) } ?? .null,
      "country": number == nil ? .null : .string("de"), "number": number.map { .integer($0) } ?? .null,
    ]
  }

  private func insert(
    _ coordinator: PersistentStoreCoordinator,
    _ policy: MergePolicy,
    _ rows: [[String: PropertyValue]],
    into entity: String = "Contact"
  ) throws -> BatchResult {
    let context = ManagedObjectContext(coordinator)
    context.mergePolicy = policy
    var request = BatchInsertRequest(entityName: entity, rows: rows)
    request.resultType = .objectIDs
    return try context.execute(request)
  }

  private func names(_ coordinator: PersistentStoreCoordinator) throws -> [String: String] {
    let contacts = try ManagedObjectContext(coordinator).fetch(entityName: "Contact")
    return try contacts.reduce(into: [:]) { names, contact in
      let email = try contact.value(forKey: "email") as? String ?? "none"
      names[email] = try contact.value(forKey: "name") as? String
    }
  }

  @Test(arguments: storeTypes)
  func objectTrumpUpdatesTheRecordThatIsThere(_ type: StoreType) throws {
    let coordinator = try coordinator(type)
    let first = try insert(coordinator, .error, [row("a", "Ann", number: 1), row("b", "Bob")])
    let second = try insert(
      coordinator,
      .mergeByPropertyObjectTrump,
      [row("b", nil, number: 7), row("c", "Cid"), row("a", "Anna"), row("c", "Carl")]
    )
    #expect(try names(coordinator) == ["a": "Anna", "b": "Bob", "c": "Carl"])
    #expect(second.count == 3)
    #expect(second.changes.insertedObjectIDs.count == 1)
    #expect(second.changes.updatedObjectIDs == first.changes.insertedObjectIDs)
    #expect(second.objectIDs.count == 3)
    // Nil leaves what is there, the other values are taken.
    let context = ManagedObjectContext(coordinator)
    #expect(try context.fetchRows(FetchRequest<ManagedObject>.of("Contact", "number", "email == 'b'")) == [.integer(7)])
    #expect(try context.fetchRows(FetchRequest<ManagedObject>.of("Contact", "number", "email == 'a'")) == [.integer(1)])
  }

  @Test(arguments: storeTypes)
  func storeTrumpLeavesWhatIsThere(_ type: StoreType) throws {
    let coordinator = try coordinator(type)
    _ = try insert(coordinator, .error, [row("a", "Ann")])
    let result = try insert(
      coordinator,
      .mergeByPropertyStoreTrump,
      [row("a", "Anna"), row("b", "Bob"), row("b", "Bert"), row(nil, "Zoe"), row(nil, "Zed")]
    )
    #expect(result.count == 3 && result.changes.updatedObjectIDs.isEmpty)
    #expect(try ManagedObjectContext(coordinator).count(entityName: "Contact") == 4)
    #expect(try names(coordinator)["a"] == "Ann" && names(coordinator)["b"] == "Bob")
  }

  @Test func theErrorPolicyAndAPolicyOfOnesOwnSaveNothing() throws {
    let coordinator = try coordinator()
    _ = try insert(coordinator, .error, [row("a", "Ann")])
    let rows = [row("b", "Bob"), row("a", "Anna")]
    #expect(persistenceError { _ = try insert(coordinator, .error, rows) }?.code == .constraintConflict)
    let picky = MergePolicy { _ in
      .fail
    } constraints: {
      $0.constraint == ["email"] ? .fail : .updateConflicting
    }
    #expect(persistenceError { _ = try insert(coordinator, picky, rows) }?.code == .constraintConflict)
    #expect(try names(coordinator) == ["a": "Ann"])
    let direct = try coordinator.execute(
      BatchInsertRequest(entityName: "Contact", rows: rows),
      mergePolicy: .mergeByPropertyObjectTrump
    )
    #expect(direct.count == 2 && direct.objectIDs.isEmpty)
    #expect(try names(coordinator) == ["a": "Anna", "b": "Bob"])
  }

  @Test func severalConstraintsAndSubentities() throws {
    let coordinator = try coordinator()
    _ = try insert(coordinator, .error, [row("a", "Ann", number: 1)])
    _ = try insert(coordinator, .error, [row("b", "Bob", number: 2)], into: "Friend")
    // One collides with a record of the entity above, one by two values.
    let result = try insert(
      coordinator,
      .mergeByPropertyObjectTrump,
      [row("a", "Friend Ann"), row("b", "Both", number: 2)],
      into: "Friend"
    )
    #expect(result.count == 2 && result.changes.insertedObjectIDs.isEmpty)
    #expect(try names(coordinator) == ["a": "Friend Ann", "b": "Both"])
    // A record that takes values must not come to collide with a third one.
    let rows = [row("a", "Clash", number: 2)]
    #expect(
      persistenceError { _ = try insert(coordinator, .mergeByPropertyObjectTrump, rows) }?.code == .constraintConflict
    )
    #expect(try names(coordinator) == ["a": "Friend Ann", "b": "Both"])
  }

  @Test func relationshipsFollow() throws {
    let coordinator = try coordinator()
    let context = ManagedObjectContext(coordinator)
    let groups = try ["one", "two"].map { name in
      let group = try context.insert(entityName: "Group")
      try group.setValue(name, forKey: "name")
      return group
    }
    try context.save()
    var first = row("a", "Ann")
    first["group"] = .toOne(groups[0].objectID)
    _ = try insert(coordinator, .error, [first, row("b", "Bob")])
    first["group"] = .toOne(groups[1].objectID)
    var second = row("b", nil)
    second["group"] = .toOne(groups[1].objectID)
    let result = try insert(coordinator, .mergeByPropertyObjectTrump, [first, second, row("c", "Cid")])
    #expect(result.changes.updatedObjectIDs.isSuperset(of: groups.map(\.objectID)))
    context.mergeChanges(from: result.changes)
    #expect(try groups.map { try $0.propertyValue(forKey: "contacts").objectIDs.count } == [0, 2])
    for contact in try context.fetch(entityName: "Contact") {
      let group = try contact.propertyValue(forKey: "group").objectIDs
      #expect(try group == (contact.value(forKey: "email") as? String == "c" ? [] : [groups[1].objectID]))
    }
  }

  @Test func manyRecordsOfWhichHalfAreThere() throws {
    let coordinator = try coordinator(.binary)
    func rows(_ numbers: Range<Int>, _ name: String) -> [[String: PropertyValue]] {
      numbers.map { row("mail \($0)", name) }
    }
    _ = try insert(coordinator, .error, rows(0..<70_000, "old"))
    let result = try insert(coordinator, .overwrite, rows(35_000..<105_000, "new"))
    #expect(result.count == 70_000 && result.changes.insertedObjectIDs.count == 35_000)
    let context = ManagedObjectContext(coordinator)
    #expect(try context.count(entityName: "Contact") == 105_000)
    let new = FetchRequest<ManagedObject>(entityName: "Contact", where: try FetchPredicate(format: "name == 'new'"))
    #expect(try context.count(for: new) == 70_000)
    let last = FetchRequest<ManagedObject>(
      entityName: "Contact",
      where: try FetchPredicate(format: "email == 'mail 104999' AND name == 'new'")
    )
    #expect(try context.fetch(last).count == 1)
  }
}

extension FetchRequest<ManagedObject> {
  /// One column of the records that meet a condition.
  fileprivate static func of(_ entityName: String, _ property: String, _ format: String) throws -> FetchRequest {
    var request = FetchRequest(entityName: entityName, where: try FetchPredicate(format: format))
    request.propertiesToFetch = [ExpressionDescription(property)]
    return request
  }
}

extension ManagedObjectContext {
  fileprivate func fetchRows(_ request: FetchRequest<ManagedObject>) throws -> [PropertyValue] {
    let rows: FetchRows = try fetchRows(request)
    return rows.map { $0[0] }
  }
}
