import CoreData
import Testing

@Suite struct OrderedRelationshipTests {
  /// Lists whose items are ordered.
  private static func stack() throws -> Stack {
    let model = Models.toDos()
    let items = try #require(model.entitiesByName["List"]?.relationshipsByName["items"])
    items.isOrdered = true
    return try Stack(NSSQLiteStoreType, model: model)
  }

  private static func memos(_ list: NSManagedObject) -> [String?] {
    (list.value(forKey: "items") as? NSOrderedSet)?.array.map { ($0 as? ToDo)?.memo } ?? []
  }

  @Test func changesOfTheSetAreThoseOfTheRelationship() throws {
    let stack = try Self.stack()
    try stack.context.performAndWait {
      let list = List(context: stack.context)
      list.title = "Shopping"
      let items = list.mutableOrderedSetValue(forKey: "items")
      let toDos = ["a", "b", "c", "d"].map { stack.insert($0) }
      items.addObjects(from: [toDos[0], toDos[1]])
      items.insert(toDos[2], at: 0)
      #expect(Self.memos(list) == ["c", "a", "b"] && toDos[2].list === list)
      items.exchangeObject(at: 0, withObjectAt: 2)
      items.replaceObject(at: 1, with: toDos[3])
      #expect(Self.memos(list) == ["b", "d", "c"] && toDos[0].list == nil)
      items.moveObjects(at: [2], to: 0)
      items.remove(toDos[1])
      #expect(Self.memos(list) == ["c", "d"] && items.index(of: toDos[3]) == 1)
      items.sort(using: [NSSortDescriptor(key: "memo", ascending: false)])
      #expect(Self.memos(list) == ["d", "c"])
      try stack.context.save()
      // What else changes the relationship changes the set.
      list.setValue(NSOrderedSet(array: [toDos[1]]), forKey: "items")
      #expect(items.count == 1 && items.contains(toDos[1]) && !items.contains(toDos[0]))
      items.intersect(NSOrderedSet(array: [toDos[0]]))
      #expect(Self.memos(list).isEmpty)
      items.add(toDos[0])
      items.removeAllObjects()
      #expect(items.count == 0 && Self.memos(list).isEmpty)
    }
  }
}
