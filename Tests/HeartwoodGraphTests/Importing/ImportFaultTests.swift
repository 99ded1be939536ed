import Foundation
import HeartwoodGraph
import HeartwoodImporting
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

/// What cannot be imported is told with its place, and leaves nothing behind.
@Suite struct ImportFaultTests {
  @Test(arguments: TestStoreKind.allCases)
  func faultsAreGathered(_ kind: TestStoreKind) throws {
    let context = try ImportStack(kind).context
    let json = """
      [
        {"id": 1},
        {"id": "secret", "rank": 40000, "born": "1999-03-04", "balance": 1e999},
        7,
        {"job": {"company": [1]}, "tags": [{"name": {}}, [1], null], "notes": [{"text": []}, "x"]},
        {"friends": [{"id": 5, "friends": [{"id": {}}]}]}
      ]
      """
    let error = persistenceError { try context.importObjects(Contact.self, fromJSON: Data(json.utf8)) }
    let faults = try #require(error).context.importFaults
    #expect(error?.code == .importFailed)
    let expected = [
      "[1].id Contact.id", "[1].born Contact.born", "[1].rank Contact.rank", "[1].balance Contact.balance",
      "[2] Contact.",
      "[3].job.company Contact.employer", "[3].tags[0].name Tag.name", "[3].tags[1] Contact.tags",
      "[3].tags[2] Contact.tags", "[3].notes[0].text Note.text", "[3].notes[1] Contact.notes",
      "[4].friends[0].friends[0].id Contact.id",
    ]
    #expect(faults.map { "\($0.path) \($0.entity ?? "").\($0.property ?? "")" }.sorted() == expected.sorted())
    #expect(faults[0].description.hasPrefix("[1].id: A string is here that stands for no value of type integer64."))
    #expect(!"\(try #require(error))".contains("secret"))
    #expect(!context.hasChanges)
    for name in ["Contact", "Tag", "Company", "Note"] { #expect(try context.count(entityName: name) == 0) }
  }

  @Test func faultsAreLimited() throws {
    let context = try ImportStack().context
    let records = (0..<100_000).map { _ -> ImportValue in ["id": ["no"]] }
    var options = ImportOptions()
    func count() -> Int? {
      persistenceError { try context.importObjects(Contact.self, from: records, options: options) }?.context
        .importFaults
        .count
    }
    #expect(count() == 100)
    options.greatestFaultCount = 1
    #expect(count() == 1)
  }

  @Test(arguments: TestStoreKind.allCases, [false, true])
  func nothingIsLeftBehind(_ kind: TestStoreKind, _ hasUndoManager: Bool) throws {
    let stack = try ImportStack(kind)
    let context = stack.context
    try context.importObjects(
      Contact.self,
      from: [["id": 1, "full_name": "Ann", "tags": ["a"], "friends": [2]], ["id": 3, "full_name": "Cid"]]
    )
    try context.save()
    if hasUndoManager { context.undoManager = GraphUndoManager() }
    // Changes from before stay what they are.
    let ann = try #require(try context.fetchFirst(Contact.self, where: Contact.idKey == 1))
    ann[Contact.nameKey] = "changed"
    try context.importObject(Contact.self, from: ["id": 9, "full_name": "pending"])
    let gone = try #require(try context.fetchFirst(Contact.self, where: Contact.idKey == 3))
    context.delete(gone)
    context.processPendingChanges()
    let before = try GraphState(context)
    let changed = (context.insertedObjects, context.updatedObjects, context.deletedObjects)
    let undoCount = context.undoManager?.undoCount
    #expect(
      persistenceError {
        try context.importObjects(
          Contact.self,
          from: [
            ["id": 1, "full_name": "no", "tags": ["b"], "friends": nil, "job": ["company": "A"]],
            ["id": 9, "full_name": "no"], ["id": 3, "full_name": "no"], ["id": 2, "score": "no number"],
          ]
        )
      }?.code == .importFailed
    )
    let after = try GraphState(context)
    #expect(after.difference(from: before) == [])
    #expect(context.insertedObjects == changed.0)
    #expect(Set(context.updatedObjects) == Set(changed.1))
    #expect(context.deletedObjects == changed.2)
    #expect(context.undoManager?.undoCount == undoCount)
    try expectBothEndsAgree(context)
    try context.save()
    let fresh = ManagedObjectContext(stack.coordinator)
    #expect(
      try fresh.fetch(Contact.self, sortedBy: Contact.idKey.ascending).map { $0[Contact.nameKey] } == [
        "changed", nil, "pending",
      ]
    )
  }

  @Test func importsAreUndoneWithTheRest() throws {
    let context = try ImportStack().context
    context.undoManager = GraphUndoManager()
    let ann = try context.insert(Contact.self)
    ann[Contact.idKey] = 1
    context.processPendingChanges()
    try context.importObjects(Contact.self, from: [["id": 1, "full_name": "Ann"], ["id": 2, "friends": [1]]])
    context.processPendingChanges()
    #expect(ann[Contact.nameKey] == "Ann" && ann[Contact.friendsKey].count == 1)
    context.undo()
    #expect(ann[Contact.nameKey] == nil && ann[Contact.friendsKey].isEmpty)
    #expect(try context.count(Contact.self) == 1)
    context.redo()
    #expect(ann[Contact.nameKey] == "Ann" && ann[Contact.friendsKey].count == 1)
  }

  @Test func progressCanEndIt() throws {
    struct Stop: Error {}
    let context = try ImportStack().context
    var options = ImportOptions()
    options.progressHandler = { if $0 > 100 { throw Stop() } }
    #expect(throws: Stop.self) {
      try context.importObjects(Contact.self, from: (0..<2000).map { ["id": .scalar(.integer($0))] }, options: options)
    }
    #expect(try context.count(Contact.self) == 0 && !context.hasChanges)
  }

  @Test func mappingsThatDoNotFit() throws {
    func error(_ change: (inout EntityDefinition) -> Void) throws -> PersistenceError? {
      let context = try ImportStack(.inMemory, try ImportStack.model(change)).context
      return persistenceError { try context.importObjects(Contact.self, from: [["id": 1]]) }
    }
    let unknown = try error { $0.userInfo["relatedByAttribute"] = "nothing" }
    #expect(unknown?.code == .importMappingUnusable && unknown?.context.entity == "Contact")
    let expression = try FetchExpression(format: "lowercase:(name)")
    let derived = try error { contact in
      contact.properties.append(
        .attribute(AttributeDescription(name: "key", type: .string, isOptional: true, derivationExpression: expression))
      )
      contact.userInfo["relatedByAttribute"] = "key"
    }
    #expect(derived?.code == .importMappingUnusable && derived?.message.contains("key is derived") == true)
    let transient = try error { contact in
      contact.properties.append(.attribute("key", .string, optional: true, transient: true))
      contact.userInfo["relatedByAttribute"] = "key"
    }
    #expect(transient?.code == .importMappingUnusable && transient?.message.contains("key is transient") == true)
    let format = try error { $0.properties[2] = .attribute("born", .date, userInfo: ["dateFormat": "yyyy-jj"]) }
    #expect(format?.code == .importMappingUnusable && format?.context.property == "born")
    let related = try error { contact in
      let properties = contact.properties.map { property -> PropertyDescription in
        guard case .relationship(var relationship) = property, relationship.name == "tags" else { return property }
        relationship.userInfo["relatedByAttribute"] = "contacts"
        return .relationship(relationship)
      }
      contact.properties = properties
    }
    #expect(related?.code == .importMappingUnusable && related?.context.property == "tags")
  }

  // MARK: Hostile input

  @Test func deepNesting() throws {
    let context = try ImportStack().context
    let depth = 100_000
    for (open, close) in [("[", "]"), (#"{"friends":"#, "}"), (#"[{"friends":"#, "}]")] {
      let json = String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
      let error = persistenceError { try context.importObjects(Contact.self, fromJSON: Data(json.utf8)) }
      #expect(error?.code == .valueUnsupported)
    }
    var record: ImportValue = ["id": 0]
    for number in 1...200 { record = ["id": .scalar(.integer(Int64(number))), "friends": [record]] }
    #expect(persistenceError { try context.importObject(Contact.self, from: record) }?.code == .importFailed)
    var nested: Any = 1
    for _ in 0...200 { nested = [nested] }
    #expect(persistenceError { _ = try ImportValue(nested) }?.code == .importFailed)
    #expect(try context.count(Contact.self) == 0)
  }

  @Test func recordsAsDeepAsAllowed() throws {
    let context = try ImportStack().context
    var record: ImportValue = ["id": 0]
    for number in 1...60 { record = ["id": .scalar(.integer(Int64(number))), "friends": [record]] }
    try context.importObject(Contact.self, from: record)
    #expect(try context.count(Contact.self) == 61)
  }

  @Test func largeArrays() throws {
    let context = try ImportStack().context
    let json = "[" + (0..<20_000).map { #"{"id":\#($0),"friends":[\#($0 / 3)]}"# }.joined(separator: ",") + "]"
    #expect(try context.importObjects(Contact.self, fromJSON: Data(json.utf8)).count == 20_000)
    let wide = #"{"id": 1, "tags": ["# + (0..<20_000).map { "\"\($0)\"" }.joined(separator: ",") + "]}"
    let contact = try #require(try context.importObjects(Contact.self, fromJSON: Data(wide.utf8)).first)
    #expect(contact[Contact.tagsKey].count == 20_000)
    #expect(try context.count(entityName: "Tag") == 20_000)
  }

  @Test(arguments: [UInt64(1), 2, 3, 4])
  func alteredTextNeverTraps(_ seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let json = """
      [{"id": 1, "full_name": "A\\u00e9\\ud83d\\ude00é", "born": "4. March 1999", "seen": 14797452001e2, "updated": "2016-11-21",
      "rank": -3, "balance": 1.25, "score": 1e-3, "active": true, "photo": "AAEC", "job": {"company": {"id": "A"}},
      "tags": ["b", {"name": null}], "friends": [{"id": 2, "friends": [1]}, 3]}]
      """
    let context = try ImportStack().context
    var outcomes = [0, 0]
    for _ in 0..<1500 {
      var bytes = Array(json.utf8)
      for _ in 0...Int.random(in: 0...2, using: &generator) {
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0...3, using: &generator) {
        case 0: bytes[place] = UInt8(truncatingIfNeeded: generator.next())
        case 1: bytes.remove(at: place)
        case 2: bytes[place] = bytes.randomElement(using: &generator) ?? 0
        default: bytes.removeLast(min(place, bytes.count - 1))
        }
      }
      let error = persistenceError { try context.importObjects(Contact.self, fromJSON: Data(bytes)) }
      outcomes[error == nil ? 0 : 1] += 1
      if error != nil { #expect(!context.hasChanges, "seed \(seed): \(String(decoding: bytes, as: UTF8.self))") }
      context.rollback()
    }
    #expect(outcomes.allSatisfy { $0 > 10 }, "seed \(seed)")
  }
}
