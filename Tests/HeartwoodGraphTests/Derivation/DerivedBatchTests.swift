import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

/// Batch requests keep derived attributes, as saves of contexts do.
@Suite struct DerivedBatchTests {
  private func rows(_ context: ManagedObjectContext, _ entity: String, _ names: String...) throws -> [[PropertyValue]] {
    try context.fetch(entityName: entity).map { object in try names.map { try object.propertyValue(forKey: $0) } }
  }

  @Test(arguments: DerivationStack.storeTypes)
  func insertionsUpdatesAndDeletionsKeepThem(_ type: StoreType) throws {
    let stack = try DerivationStack(type)
    let context = stack.context()
    try context.execute(BatchInsertRequest(entityName: "List", rows: [["name": .string("Émile")]]))
    let list = try #require(try context.fetch(entityName: "List").first)
    #expect(
      try rows(context, "List", "count", "total", "least", "key", "upper") == [
        [.integer(0), .double(0), .null, .string("emile"), .string("ÉMILE")]
      ]
    )
    // What belongs to an owner changes the owner, and that the items themselves.
    let items = [2.5, 4.25].map { ["price": PropertyValue.double($0), "list": .toOne(list.objectID)] }
    try context.execute(BatchInsertRequest(entityName: "Item", rows: items))
    #expect(
      try rows(stack.context(), "List", "count", "total", "least", "greatest", "average") == [
        [.integer(2), .double(6.75), .double(2.5), .integer(4), .double(3.375)]
      ]
    )
    #expect(
      try rows(stack.context(), "Item", "listName", "listKey")
        == Array(repeating: [.string("Émile"), .string("emile")], count: 2)
    )
    let dearer = try FetchExpression(format: "price * 2")
    let price = BatchUpdateRequest(entityName: "Item", propertiesToUpdate: ["price": dearer])
    #expect(try context.execute(price).count == 2)
    #expect(try rows(stack.context(), "List", "total", "least") == [[.double(13.5), .double(5)]])
    let name = BatchUpdateRequest(entityName: "List", propertiesToUpdate: ["name": "Bo", "upper": "by hand"])
    try context.execute(name)
    #expect(try rows(stack.context(), "List", "key", "upper") == [[.string("bo"), .string("BO")]])
    #expect(try rows(stack.context(), "Item", "listKey") == [[.string("bo")], [.string("bo")]])
    try context.execute(BatchDeleteRequest(entityName: "Item", where: try FetchPredicate(format: "price > 6")))
    #expect(try rows(stack.context(), "List", "count", "total") == [[.integer(1), .double(5)]])
    // They are in the file, and can be asked for.
    let found = FetchRequest<ManagedObject>(entityName: "List", where: try FetchPredicate(format: "total == 5"))
    #expect(try stack.context().count(for: found) == 1)
  }

  @Test func changesAreToldAndKeptInTheHistory() throws {
    var options = StoreOptions()
    options[.tracksPersistentHistory] = true
    let stack = try DerivationStack(.binary, options: options)
    let context = stack.context()
    let (group, list) = (try context.insert(entityName: "Group"), try context.insert(entityName: "List"))
    try list.setValue(group, forKey: "group")
    let item = try context.insert(entityName: "Item")
    try item.setValue(list, forKey: "list")
    try context.save()
    let saved = try list.value(forKey: "saved") as? Date
    var request = BatchUpdateRequest(entityName: "Item", propertiesToUpdate: ["price": 3.5])
    request.resultType = .objectIDs
    let result = try context.execute(request)
    #expect(result.count == 1 && result.objectIDs == [item.objectID])
    #expect(result.changes.updatedObjectIDs == [item.objectID, list.objectID, group.objectID])
    #expect(try list.propertyValue(forKey: "total") == .double(0))
    context.mergeChanges(from: result.changes)
    #expect(try list.propertyValue(forKey: "total") == .double(3.5))
    #expect(try group.propertyValue(forKey: "total") == .double(3.5))
    #expect(try #require(try list.value(forKey: "saved") as? Date) > (try #require(saved)))
    let nothingSeen: PersistentHistoryToken? = nil
    let last = try #require(
      try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: nothingSeen)).last
    )
    let properties = last.changes.reduce(into: [:]) { $0[$1.changedObjectID] = $1.updatedProperties }
    #expect(properties[item.objectID] == ["price"])
    #expect(properties[list.objectID] == ["total", "least", "greatest", "average", "saved"])
    #expect(properties[group.objectID] == ["total"])
  }

  /// Random batches on a store, after each of which all that is derived is what plain code makes of the rest.
  @Test(arguments: DerivationStack.storeTypes)
  func derivedIsWhatPlainCodeDerives(_ type: StoreType) throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let stack = try DerivationStack(type)
    for step in 0..<60 {
      try batch(stack.unread().context(), &random)
      try expectDerived(stack.unread().context(), "step \(step), seed \(seed)")
    }
  }

  private func batch(_ context: ManagedObjectContext, _ random: inout SeededGenerator) throws {
    func one(_ entity: String) throws -> PropertyValue {
      let all = try context.fetch(entityName: entity)
      return all.isEmpty || Int.random(in: 0..<5, using: &random) == 0
        ? .null : .toOne(all[Int.random(in: 0..<all.count, using: &random)].objectID)
    }
    let number = Double(Int.random(in: 0..<20, using: &random))
    let some = try FetchPredicate(format: "price > %@", number)
    switch Int.random(in: 0..<9, using: &random) {
    case 0: try context.execute(BatchInsertRequest(entityName: "Group", rows: [[:]]))
    case 1:
      let row = ["name": PropertyValue.string("L\(number)"), "group": try one("Group")]
      try context.execute(BatchInsertRequest(entityName: "List", rows: [row]))
    case 2:
      let row = ["name": PropertyValue.string("T\(number)"), "weight": .integer(Int64(number))]
      try context.execute(BatchInsertRequest(entityName: "Tag", rows: [row]))
    case 3, 4:
      let rows = try (0..<Int.random(in: 1...4, using: &random)).map { _ in
        ["price": PropertyValue.double(number), "list": try one("List"), "tag": try one("Tag")]
      }
      try context.execute(BatchInsertRequest(entityName: "Item", rows: rows))
    case 5:
      try context.execute(BatchUpdateRequest(entityName: "Item", where: some, propertiesToUpdate: ["price": number]))
    case 6:
      let format = try FetchPredicate(format: "count > %@", number / 5)
      try context.execute(
        BatchUpdateRequest(entityName: "List", where: format, propertiesToUpdate: ["name": "N\(number)"])
      )
    case 7: try context.execute(BatchUpdateRequest(entityName: "Tag", propertiesToUpdate: ["name": "M\(number)"]))
    default:
      let entity = ["Item", "List", "Group", "Tag"][Int.random(in: 0..<4, using: &random)]
      guard case .toOne(let id) = try one(entity) else { return }
      try context.execute(BatchDeleteRequest(objectIDs: [id]))
    }
    // Relationships to many without an inverse are set by objects. In an SQLite file, a tag is in one list at a time: in
    // the first.
    if Bool.random(using: &random), let list = try context.fetch(entityName: "List").first {
      try list.setValue(
        try context.fetch(entityName: "Tag").filter { _ in Bool.random(using: &random) },
        forKey: "tags"
      )
      try context.save()
    }
  }

  private func expectDerived(_ context: ManagedObjectContext, _ comment: String) throws {
    func related(_ object: ManagedObject, _ key: String) throws -> [ManagedObject] {
      try object.propertyValue(forKey: key).objectIDs.compactMap { try? context.existingObject(with: $0) }
    }
    func number(_ object: ManagedObject, _ key: String) throws -> Double {
      if case .double(let number) = try object.propertyValue(forKey: key) { number } else { 0 }
    }
    for list in try context.fetch(entityName: "List") {
      let items = try related(list, "items")
      let prices = try items.map { try number($0, "price") }
      #expect(try list.propertyValue(forKey: "count") == .integer(Int64(items.count)), "\(comment)")
      #expect(try number(list, "total") == prices.reduce(0, +), "\(comment)")
      #expect(try list.propertyValue(forKey: "least") == (prices.min().map { .double($0) } ?? .null), "\(comment)")
      let weights = try related(list, "tags").compactMap { try $0.value(forKey: "weight") as? Int }
      let weight: PropertyValue = weights.max().map { .integer(Int64($0)) } ?? .null
      #expect(try list.propertyValue(forKey: "weight") == weight, "\(comment)")
    }
    for item in try context.fetch(entityName: "Item") {
      for (key, name) in [("list", "listName"), ("tag", "tagName")] {
        let expected = try related(item, key).first?.propertyValue(forKey: "name") ?? .null
        #expect(try item.propertyValue(forKey: name) == expected, "\(comment)")
      }
    }
    for group in try context.fetch(entityName: "Group") {
      let total = try related(group, "lists").map { try number($0, "total") }.reduce(0, +)
      #expect(try number(group, "total") == total, "\(comment)")
    }
  }

  @Test func rulesAndRequiredValuesAreCheckedOnceTheyAreDerived() throws {
    var upper = AttributeDescription(
      name: "upper",
      type: .string,
      isOptional: false,
      derivationExpression: try FetchExpression(format: "uppercase:(name)")
    )
    upper.rules.maxLength = 3
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: ManagedObjectModel(entities: [
        .entity("Word", .attribute("name", .string, optional: true), .attribute(upper))
      ])
    )
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    func code(_ rows: [[String: PropertyValue]]) -> PersistenceError.Code? {
      persistenceError { try coordinator.execute(BatchInsertRequest(entityName: "Word", rows: rows)) }?.code
    }
    #expect(code([["name": .string("abc")]]) == nil)
    #expect(code([["name": .string("abcd")]]) == .validationFailed)
    #expect(code([[:]]) == .validationFailed)
    let update = BatchUpdateRequest(entityName: "Word", propertiesToUpdate: ["name": "much too long"])
    #expect(persistenceError { try coordinator.execute(update) }?.code == .validationFailed)
    #expect(try ManagedObjectContext(coordinator).count(entityName: "Word") == 1)
  }

  @Test func aCircleThatDoesNotComeToRestIsAnError() throws {
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: ManagedObjectModel(entities: [
        .entity("Spin", try DerivationStack.derived("turns", .integer64, "TERNARY(turns == nil, 1, turns + 1)"))
      ])
    )
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let error = persistenceError { try coordinator.execute(BatchInsertRequest(entityName: "Spin", rows: [[:]])) }
    #expect(error?.code == .saveNeverSettles)
    #expect(try ManagedObjectContext(coordinator).count(entityName: "Spin") == 0)
  }

  @Test func manyRecordsInSeveralGroups() throws {
    let stack = try DerivationStack(.binary)
    try stack.coordinator.execute(
      BatchInsertRequest(entityName: "List", rows: [["name": .string("a")], ["name": .string("b")]])
    )
    let context = stack.context()
    let lists = try context.fetch(entityName: "List")
    var number = 0
    let insertion = BatchInsertRequest(entityName: "Item") { row in
      number += 1
      row["price"] = .double(Double(number % 3))
      row["list"] = .toOne(lists[number % 2].objectID)
      return number <= 70_000
    }
    try stack.coordinator.execute(insertion)
    #expect(
      try rows(stack.context(), "List", "count", "greatest")
        == Array(repeating: [.integer(35_000), .integer(2)], count: 2)
    )
    let odd = BatchUpdateRequest(
      entityName: "Item",
      where: try FetchPredicate(format: "price == 2"),
      propertiesToUpdate: ["price": 5.0, "note": "n"]
    )
    #expect(try stack.coordinator.execute(odd).count == 23_333)
    #expect(
      try stack.context().fetch(entityName: "List").allSatisfy {
        try $0.propertyValue(forKey: "greatest") == .integer(5)
      }
    )
    let named = FetchRequest<ManagedObject>(
      entityName: "Item",
      where: try FetchPredicate(format: "listName == list.name AND list.name IN {'a', 'b'}")
    )
    #expect(try stack.context().count(for: named) == 70_000)
  }
}
