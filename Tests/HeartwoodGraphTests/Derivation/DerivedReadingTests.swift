import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodSQLite
import HeartwoodStore
import Testing

/// Batches with derived attributes read only what they write and what depends on it, in stores that read records as they
/// are needed.
@Suite struct DerivedReadingTests {
  private static let (groupCount, listsPerGroup, itemsPerList) = (8, 5, 4)

  /// Makes groups of lists of items: the number of each item is in its note, and is its price.
  private func stack(_ type: StoreType) throws -> DerivationStack {
    let stack = try DerivationStack(type)
    let context = stack.context()
    let tags = try ["red", "blue"].map { name in
      let tag = try context.insert(entityName: "Tag")
      try tag.setValue(name, forKey: "name")
      return tag
    }
    var number = 0
    for _ in 0..<Self.groupCount {
      let group = try context.insert(entityName: "Group")
      for _ in 0..<Self.listsPerGroup {
        let list = try context.insert(entityName: "List")
        try list.setValue(group, forKey: "group")
        for _ in 0..<Self.itemsPerList {
          let item = try context.insert(entityName: "Item")
          try item.setValue("n\(number)", forKey: "note")
          try item.setValue(Double(number), forKey: "price")
          try item.setValue(list, forKey: "list")
          if number % 40 == 0 { try item.setValue(tags[number / 40 % 2], forKey: "tag") }
          number += 1
        }
      }
    }
    try context.save()
    return stack
  }

  private func item(_ number: Int, in context: ManagedObjectContext) throws -> ManagedObject {
    let price = try FetchPredicate(format: "price == %@", Double(number))
    return try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Item", where: price)).first)
  }

  private func expectKnown(_ stack: DerivationStack, items: Int, lists: Int, groups: Int) throws {
    #expect(try stack.knownCount("Item") == items)
    #expect(try stack.knownCount("List") == lists)
    #expect(try stack.knownCount("Group") == groups)
  }

  private func total(_ entity: String, _ id: ManagedObjectID, _ stack: DerivationStack) throws -> PropertyValue {
    try stack.unread().context().existingObject(with: id).propertyValue(forKey: "total")
  }

  @Test(arguments: DerivationStack.incrementalTypes)
  func aDeletionReadsWhatDependsOnIt(_ type: StoreType) throws {
    let stack = try stack(type)
    let context = stack.context()
    let item = try item(21, in: context)
    let list = try #require(try item.value(forKey: "list") as? ManagedObject)
    let group = try #require(try list.value(forKey: "group") as? ManagedObject)
    let unread = try stack.unread()
    try unread.context().execute(BatchDeleteRequest(objectIDs: [item.objectID]))
    // The total of the list is that of its items, and the total of the group that of its lists.
    try expectKnown(unread, items: Self.itemsPerList - 1, lists: Self.listsPerGroup, groups: 1)
    #expect(try total("List", list.objectID, stack) == .double(20 + 22 + 23))
    #expect(try total("Group", group.objectID, stack) == .double(Double((20..<40).reduce(0, +) - 21)))
  }

  @Test(arguments: DerivationStack.incrementalTypes)
  func anInsertionReadsWhatDependsOnIt(_ type: StoreType) throws {
    let stack = try stack(type)
    let context = stack.context()
    let list = try #require(try item(21, in: context).value(forKey: "list") as? ManagedObject)
    let unread = try stack.unread()
    let row = ["price": PropertyValue.double(0.5), "list": .toOne(list.objectID)]
    try unread.context().execute(BatchInsertRequest(entityName: "Item", rows: [row]))
    try expectKnown(unread, items: Self.itemsPerList + 1, lists: Self.listsPerGroup, groups: 1)
    #expect(try total("List", list.objectID, stack) == .double(20 + 21 + 22 + 23 + 0.5))
  }

  @Test func anUpdateReadsWhatDependsOnIt() throws {
    let stack = try stack(.sqlite)
    let context = stack.context()
    let list = try #require(try item(21, in: context).value(forKey: "list") as? ManagedObject)
    let unread = try stack.unread()
    let chosen = try FetchPredicate(format: "note == 'n21'")
    let update = BatchUpdateRequest(entityName: "Item", where: chosen, propertiesToUpdate: ["price": 0.25])
    #expect(try unread.context().execute(update).count == 1)
    try expectKnown(unread, items: Self.itemsPerList, lists: Self.listsPerGroup, groups: 1)
    #expect(try total("List", list.objectID, stack) == .double(20 + 0.25 + 22 + 23))
  }

  @Test func recordsThatReferWithoutAnInverseAreFound() throws {
    let stack = try stack(.sqlite)
    let unread = try stack.unread()
    let red = try FetchPredicate(format: "name == 'red'")
    let update = BatchUpdateRequest(entityName: "Tag", where: red, propertiesToUpdate: ["name": "crimson"])
    try unread.context().execute(update)
    // Every eightieth item is red. The name of its list is derived with that of its tag; the list does not change.
    try expectKnown(unread, items: 2, lists: 2, groups: 0)
    let crimson = FetchRequest<ManagedObject>(
      entityName: "Item",
      where: try FetchPredicate(format: "tagName == 'crimson'")
    )
    #expect(try stack.unread().context().count(for: crimson) == 2)
  }

  @Test func anUpdateOnWhichNothingDependsReadsNothing() throws {
    let stack = try stack(.sqlite)
    let unread = try stack.unread()
    let update = BatchUpdateRequest(entityName: "Item", propertiesToUpdate: ["note": "new"])
    let count = Self.groupCount * Self.listsPerGroup * Self.itemsPerList
    #expect(try unread.context().execute(update).count == count)
    try expectKnown(unread, items: 0, lists: 0, groups: 0)
    let new = FetchRequest<ManagedObject>(entityName: "Item", where: try FetchPredicate(format: "note == 'new'"))
    #expect(try stack.unread().context().count(for: new) == count)
  }
}
