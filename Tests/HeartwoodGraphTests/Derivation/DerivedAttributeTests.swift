import Foundation
import Heartwood
import HeartwoodDocuments
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@Suite struct DerivedAttributeTests {
  private func item(_ context: ManagedObjectContext, _ price: Double, in list: ManagedObject) throws -> ManagedObject {
    let item = try context.insert(entityName: "Item")
    try item.setValue(price, forKey: "price")
    try item.setValue(list, forKey: "list")
    return item
  }

  private func values(_ object: ManagedObject, _ names: String...) throws -> [PropertyValue] {
    try names.map { try object.propertyValue(forKey: $0) }
  }

  @Test(arguments: DerivationStack.storeTypes)
  func valuesAreComputedWithASave(_ type: StoreType) throws {
    let stack = try DerivationStack(type)
    let context = stack.context()
    let list = try context.insert(entityName: "List")
    try list.setValue("Émile", forKey: "name")
    let items = try [2.5, 4.25].map { try item(context, $0, in: list) }
    #expect(try list.propertyValue(forKey: "count") == .null)
    try context.save()
    #expect(
      try values(list, "count", "total", "least", "greatest", "average", "key", "upper") == [
        .integer(2), .double(6.75), .double(2.5), .integer(4), .double(3.375), .string("emile"), .string("ÉMILE"),
      ]
    )
    #expect(try values(items[0], "listName", "listKey") == [.string("Émile"), .string("emile")])
    // They are in the store, and can be asked for.
    let reader = stack.context()
    let request = FetchRequest<ManagedObject>(
      entityName: "List",
      where: try FetchPredicate(format: "total > 6 AND key == 'emile' AND saved <= now()")
    )
    #expect(try reader.fetch(request).map(\.objectID) == [list.objectID])
  }

  @Test func whatDependsOnOthersFollowsThem() throws {
    let stack = try DerivationStack(.inMemory)
    let context = stack.context()
    let group = try context.insert(entityName: "Group")
    let (first, second) = (try context.insert(entityName: "List"), try context.insert(entityName: "List"))
    for list in [first, second] { try list.setValue(group, forKey: "group") }
    let items = try [1.0, 2, 4].map { try item(context, $0, in: first) }
    try context.save()
    #expect(try group.propertyValue(forKey: "total") == .double(7))
    // An object of which only something related changes.
    let other = stack.context()
    let same = try other.existingObject(with: items[0].objectID)
    try same.setValue(8.0, forKey: "price")
    try other.save()
    #expect(try other.existingObject(with: first.objectID).propertyValue(forKey: "total") == .double(14))
    #expect(try other.existingObject(with: group.objectID).propertyValue(forKey: "total") == .double(14))
    context.refreshAllObjects()
    #expect(try values(first, "total", "count") == [.double(14), .integer(3)])
    // Moved, renamed, deleted.
    try items[1].setValue(second, forKey: "list")
    try second.setValue("B", forKey: "name")
    context.delete(items[2])
    try context.save()
    #expect(try values(first, "total", "count", "average") == [.double(8), .integer(1), .double(8)])
    #expect(try values(second, "total", "count", "key") == [.double(2), .integer(1), .string("b")])
    #expect(try values(items[1], "listName", "listKey") == [.string("B"), .string("b")])
    #expect(try group.propertyValue(forKey: "total") == .double(10))
    context.delete(first)
    try context.save()
    #expect(try group.propertyValue(forKey: "total") == .double(2))
    try items[1].setValue(nil, forKey: "list")
    try context.save()
    #expect(try values(second, "total", "count", "least", "average") == [.double(0), .integer(0), .null, .null])
    #expect(try values(items[1], "listName") == [.null])
  }

  @Test func theTimeIsThatOfTheObjectsOwnSave() throws {
    let context = try DerivationStack(.inMemory).context()
    let (list, other) = (try context.insert(entityName: "List"), try context.insert(entityName: "List"))
    try context.save()
    let first = try #require(try list.value(forKey: "saved") as? Date)
    let untouched = try #require(try other.value(forKey: "saved") as? Date)
    try list.setValue("A", forKey: "name")
    try context.save()
    let second = try #require(try list.value(forKey: "saved") as? Date)
    #expect(second > first)
    #expect(try other.value(forKey: "saved") as? Date == untouched)
    // What is set by hand is replaced.
    try list.setValue(99, forKey: "count")
    try context.save()
    #expect(try list.propertyValue(forKey: "count") == .integer(0))
  }

  @Test func childrenAndUndoAndNoticesSeeThem() throws {
    let context = try DerivationStack(.inMemory).context()
    context.undoManager = GraphUndoManager()
    let list = try context.insert(entityName: "List")
    try context.save()
    let child = ManagedObjectContext(parent: context)
    _ = try item(child, 3, in: try child.existingObject(with: list.objectID))
    try child.save()
    #expect(try list.propertyValue(forKey: "total") == .double(3))
    try context.save()
    let added = try item(context, 4, in: list)
    var told: Set<ManagedObjectID> = []
    let observation = context.observe(.didSave) { told = $0.updatedObjectIDs }
    try context.save()
    _ = observation
    #expect(told.contains(list.objectID))
    #expect(try list.propertyValue(forKey: "total") == .double(7))
    context.undo()
    try context.save()
    #expect(try values(list, "total", "count") == [.double(3), .integer(1)])
    #expect(added.managedObjectContext == nil)
  }

  @Test func whatAnObserverChangesBeforeASaveCounts() throws {
    let context = try DerivationStack(.inMemory).context()
    let list = try context.insert(entityName: "List")
    try context.save()
    let late = try context.insert(entityName: "Item")
    try late.setValue(3.0, forKey: "price")
    let observation = context.observe(.willSave) { _ in
      #expect(throws: Never.self) { try late.setValue(list, forKey: "list") }
    }
    try context.save()
    _ = observation
    #expect(!context.hasChanges)
    #expect(try values(list, "count", "total") == [.integer(1), .double(3)])
  }

  /// Puts an item into a list that has got a value.
  private final class Filler: FetchedResultsControllerDelegate {
    private let late: ManagedObject
    private let key: String
    private let value: PropertyValue

    init(_ late: ManagedObject, when key: String, is value: PropertyValue) {
      (self.late, self.key, self.value) = (late, key, value)
    }

    func controller(
      _ controller: FetchedResultsController<ManagedObject>,
      didChangeObject change: FetchedResultsObjectChange<ManagedObject>
    ) {
      guard case .update(let list, _, _) = change else { return }
      #expect(throws: Never.self) {
        if try list.propertyValue(forKey: key) == value { try late.setValue(list, forKey: "list") }
      }
    }
  }

  @Test func whatADelegateChangesAtADerivedValueCounts() throws {
    let context = try DerivationStack(.inMemory).context()
    let list = try context.insert(entityName: "List")
    let late = try context.insert(entityName: "Item")
    try context.save()
    let controller = FetchedResultsController<ManagedObject>(FetchRequest(entityName: "List"), in: context)
    try controller.performFetch()
    let filler = Filler(late, when: "count", is: .integer(1))
    controller.delegate = filler
    _ = try item(context, 3, in: list)
    try context.save()
    #expect(try late.value(forKey: "list") as? ManagedObject === list)
    #expect(!context.hasChanges)
    #expect(try values(list, "count", "total") == [.integer(2), .double(3)])
  }

  @Test func whatADelegateChangesAtAConflictCounts() throws {
    let stack = try DerivationStack(.inMemory)
    let context = stack.context()
    context.mergePolicy = .mergeByPropertyStoreTrump
    let list = try context.insert(entityName: "List")
    let late = try context.insert(entityName: "Item")
    try context.save()
    let controller = FetchedResultsController<ManagedObject>(FetchRequest(entityName: "List"), in: context)
    try controller.performFetch()
    let filler = Filler(late, when: "name", is: .string("theirs"))
    controller.delegate = filler
    let other = stack.context()
    try other.existingObject(with: list.objectID).setValue("theirs", forKey: "name")
    try other.save()
    try list.setValue("mine", forKey: "name")
    try context.save()
    #expect(try late.value(forKey: "list") as? ManagedObject === list)
    #expect(try values(list, "name", "count") == [.string("theirs"), .integer(1)])
    let reader = stack.context()
    #expect(try values(reader.existingObject(with: list.objectID), "count") == [.integer(1)])
  }

  @Test func whatIsReachedWithoutAnInverseIsFollowed() throws {
    let context = try DerivationStack(.inMemory).context()
    let tag = try context.insert(entityName: "Tag")
    let list = try context.insert(entityName: "List")
    let other = try context.insert(entityName: "List")
    let item = try item(context, 1, in: list)
    try item.setValue(tag, forKey: "tag")
    try list.setValue([tag], forKey: "tags")
    try context.save()
    try tag.setValue("a", forKey: "name")
    try tag.setValue(4, forKey: "weight")
    // An owner that is new, and one that has changed.
    let new = try self.item(context, 2, in: list)
    try new.setValue(tag, forKey: "tag")
    try other.setValue([tag], forKey: "tags")
    try context.save()
    #expect(try values(item, "tagName") + values(new, "tagName") == [.string("a"), .string("a")])
    #expect(try values(list, "weight") + values(other, "weight") == [.integer(4), .integer(4)])
    context.delete(tag)
    try context.save()
    #expect(try values(item, "tagName") == [.null])
    #expect(try values(list, "weight") == [.null])
  }

  @Test func aCircleThatDoesNotComeToRestIsAnError() throws {
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: ManagedObjectModel(entities: [
        .entity("Spin", try DerivationStack.derived("turns", .integer64, "TERNARY(turns == nil, 1, turns + 1)"))
      ]),
      registry: .default,
      fileSystem: InMemoryFileSystem()
    )
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = ManagedObjectContext(coordinator)
    _ = try context.insert(entityName: "Spin")
    let error = persistenceError { try context.save() }
    #expect(error?.code == .saveNeverSettles)
  }

  @MainActor @Test func aCopyOfADocumentHasThemToo() throws {
    let files = InMemoryFileSystem()
    let key = AttributeDescription(
      name: "key",
      type: .string,
      isOptional: false,
      derivationExpression: try FetchExpression(format: "lowercase:(text)")
    )
    let model = try ManagedObjectModel(entities: [
      .entity("Memo", .attribute("text", .string, optional: true), .attribute(key))
    ])
    func coordinator() throws -> PersistentStoreCoordinator {
      try PersistentStoreCoordinator(managedObjectModel: model, registry: .default, fileSystem: files)
    }
    let document = try PersistentDocument(try coordinator())
    let memo = try document.context.insert(entityName: "Memo")
    try memo.setValue("A", forKey: "text")
    try document.save(as: URL(filePath: "/folder/memos.heartwood"))
    try memo.setValue("B", forKey: "text")
    let new = try document.context.insert(entityName: "Memo")
    try new.setValue("C", forKey: "text")
    let url = URL(filePath: "/folder/copy.heartwood")
    try document.saveCopy(to: url)
    let copy = try coordinator()
    try copy.addPersistentStore(type: nil, at: url)
    let memos = try ManagedObjectContext(copy).fetch(entityName: "Memo")
    #expect(try Set(memos.map { try $0.propertyValue(forKey: "key") }) == [.string("b"), .string("c")])
  }
}
