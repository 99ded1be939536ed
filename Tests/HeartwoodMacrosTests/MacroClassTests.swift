import Foundation
import HeartwoodMacros
import HeartwoodTesting
import Testing

@Suite("Objects of classes with macros")
struct MacroClassTests {
  private static let classes = [Item.self, Errand.self, List.self]

  private func context(_ url: URL?) throws -> ManagedObjectContext {
    AttributeTransformers.register(ReversingTransformer(), forName: "ReversingTransformer")
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: ManagedObjectModel(of: Self.classes),
      objectClasses: Self.classes
    )
    try coordinator.addPersistentStore(type: url == nil ? .inMemory : .binary, at: url)
    return ManagedObjectContext(coordinator)
  }

  private func insert(_ memo: String, in list: List, _ context: ManagedObjectContext) throws -> Errand {
    let todo = try context.insert(Errand.self)
    todo.memo = memo
    todo.code = memo
    todo.list = list
    let step = todo
    todo.steps = [step]
    return todo
  }

  @Test("New objects have the defaults of the declarations")
  func defaults() throws {
    let context = try context(nil)
    let todo = try context.insert(Errand.self)
    #expect(todo.memo == "" && todo.code == nil && !todo.isDone && todo.stars == 3 && todo.tag == "none")
    #expect(todo.priority == .low && todo.place == nil && todo.default == -1.5 && todo.count == 0)
    #expect(todo.list == nil && todo.steps.isEmpty && todo.fans.isEmpty && todo.counter == 0)
  }

  @Test("What is set is saved, and comes back of a file")
  func values() throws {
    let folder = try ScratchFolder()
    let url = folder.url.appending(path: "todo.heartwood")
    let first = try context(url)
    let list = try first.insert(List.self)
    list.name = "Home"
    let todo = try insert("milk", in: list, first)
    todo.stars = 5
    todo.priority = .high
    todo.place = Place(latitude: 1, longitude: 2)
    todo.picture = Data([1, 2])
    todo.secret = ["a", "b"]
    todo.text = "of cows"
    todo.due = Date(timeIntervalSinceReferenceDate: 7)
    todo.fans = [todo]
    try first.save()
    #expect(todo.shout == "MILK")
    #expect(list.size == 1)
    #expect(list.items.count == 1 && list.items.contains(todo))

    let second = try context(url)
    let found = try #require(try second.fetch(FetchRequest<Errand>()).first)
    #expect(found.memo == "milk" && found.stars == 5 && found.priority == .high && found.text == "of cows")
    #expect(found.place == Place(latitude: 1, longitude: 2) && found.picture == Data([1, 2]))
    #expect(found.secret == ["a", "b"] && found.due == Date(timeIntervalSinceReferenceDate: 7))
    #expect(found.list?.name == "Home" && found.steps == [found] && found.shout == "MILK")
    #expect(try found.propertyValue(forKey: "description") == .string("of cows"))
  }

  @Test("Rules, requirements and uniqueness hold")
  func rules() throws {
    let context = try context(nil)
    let list = try context.insert(List.self)
    let todo = try insert("milk", in: list, context)
    try context.save()
    todo.stars = 6
    #expect(throws: PersistenceError.self) { try context.save() }
    todo.stars = 5
    todo.tag = nil
    #expect(throws: PersistenceError.self) { try context.save() }
    todo.tag = "tag"
    todo.list = nil
    #expect(throws: PersistenceError.self) { try context.save() }
    todo.list = list
    try context.save()
    _ = try insert("milk", in: list, context)
    #expect(throws: PersistenceError.self) { try context.save() }
  }

  @Test("Objects are fetched by keys, by #Predicate and sorted by key paths")
  func fetching() throws {
    let context = try context(nil)
    let (home, work) = (try context.insert(List.self), try context.insert(List.self))
    (home.name, work.name) = ("Home", "Work")
    for (memo, list) in [("milk", home), ("bread", home), ("call", work)] { _ = try insert(memo, in: list, context) }
    try context.save()

    let byKey = FetchRequest<Errand>(where: Errand.memoKey == "milk" || Errand.memoKey.beginsWith("c"))
    #expect(Set(try context.fetch(byKey).map(\.memo)) == ["milk", "call"])
    let (inHome, isNoBread) = (#Predicate<Errand> { $0.list?.name == "Home" }, #Predicate<Item> { $0.memo != "bread" })
    let conditions = try FetchPredicate(inHome) && FetchPredicate(isNoBread)
    #expect(try context.fetch(FetchRequest<Errand>(where: conditions)).map(\.memo) == ["milk"])
    #expect(throws: FetchPredicateError.self) { try FetchPredicate(#Predicate<Errand> { $0.memo == "milk" }) }
    let own = #Predicate<List> { $0.name == "Work" }
    #expect(try context.fetch(FetchRequest<List>(where: FetchPredicate(own))) == [work])
    let renamed = #Predicate<Errand> { $0.text == nil && $0.default < 0 }
    #expect(try context.count(for: FetchRequest<Errand>(where: FetchPredicate(renamed))) == 3)

    let sorted = FetchRequest<Errand>(sortedBy: [
      FetchSortDescriptor(\Errand.list, \List.name, ascending: false), FetchSortDescriptor(\Item.memo),
    ])
    #expect(try context.fetch(sorted).map(\.memo) == ["call", "bread", "milk"])
    #expect(FetchSortDescriptor(\Errand.text, comparison: .caseInsensitive).keyPath == "description")
    #expect(try context.fetch(FetchRequest<Item>(sortedBy: [Item.memoKey.descending])).map(\.memo).first == "milk")
  }

  @Test("Deleting a list deletes what is in it")
  func deleteRules() throws {
    let context = try context(nil)
    let list = try context.insert(List.self)
    _ = try insert("milk", in: list, context)
    let child = try context.insert(List.self)
    child.parent = list
    #expect(list.children.map(\.self) == [child])
    try context.save()
    context.delete(list)
    try context.save()
    #expect(try context.count(for: FetchRequest<Errand>()) == 0)
    #expect(child.parent == nil)
  }
}
