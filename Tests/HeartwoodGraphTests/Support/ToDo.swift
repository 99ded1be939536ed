import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel

/// What the articles of the guide speak of.
final class ToDo: ManagedObject {
  static let memoKey = AttributeKey<String?>("memo")
  static let doneKey = AttributeKey<Bool>("done")
  static let sortOrderKey = AttributeKey<Int>("sortOrder")
  static let listKey = ToOneKey<ToDoList>("list")

  override class func propertyName(forKeyPath keyPath: AnyKeyPath) -> String? {
    switch keyPath {
    case \ToDo.memo: memoKey.name
    case \ToDo.done: doneKey.name
    case \ToDo.sortOrder: sortOrderKey.name
    default: super.propertyName(forKeyPath: keyPath)
    }
  }

  var memo: String? {
    get { self[Self.memoKey] }
    set { self[Self.memoKey] = newValue }
  }
  var done: Bool {
    get { self[Self.doneKey] }
    set { self[Self.doneKey] = newValue }
  }
  var sortOrder: Int {
    get { self[Self.sortOrderKey] }
    set { self[Self.sortOrderKey] = newValue }
  }
  var list: ToDoList? {
    get { self[Self.listKey] }
    set { self[Self.listKey] = newValue }
  }
}

final class ToDoList: ManagedObject {
  static let nameKey = AttributeKey<String>("name")

  override class func propertyName(forKeyPath keyPath: AnyKeyPath) -> String? {
    keyPath == \ToDoList.name ? nameKey.name : super.propertyName(forKeyPath: keyPath)
  }

  var name: String {
    get { self[Self.nameKey] }
    set { self[Self.nameKey] = newValue }
  }
}

/// Two lists of things to do: milk and bread to buy, a book to read that is done.
struct ToDoStack {
  let coordinator: PersistentStoreCoordinator
  let context: ManagedObjectContext
  let list: ToDoList

  init() throws {
    coordinator = try PersistentStoreCoordinator(
      managedObjectModel: try Self.model(),
      registry: .default,
      objectClasses: [ToDo.self, ToDoList.self]
    )
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    context = ManagedObjectContext(coordinator)
    list = try context.insert(ToDoList.self)
    list.name = "Shopping"
    let reading = try context.insert(ToDoList.self)
    reading.name = "Reading"
    for (order, (memo, price)) in [("Milk", 6), ("Bread", 3), ("A book", 20)].enumerated() {
      let toDo = try context.insert(ToDo.self)
      (toDo.memo, toDo.sortOrder, toDo.done) = (memo, order, order == 2)
      try toDo.setValue(price, forKey: "price")
      toDo.list = order == 2 ? reading : list
    }
    try context.save()
  }

  static func toDo() throws -> EntityDefinition {
    var toDo = EntityDefinition.entity(
      "ToDo",
      .attribute("memo", .string, optional: true),
      .attribute("done", .boolean, default: .boolean(false)),
      .attribute("sortOrder", .integer64, default: .integer(0)),
      .attribute("priority", .integer32, default: .integer(0)),
      .attribute("price", .integer32, optional: true),
      .attribute("due", .date, optional: true),
      .toOne("list", "ToDoList", inverse: "items"),
      .toMany("tags", "Tag", inverse: nil)
    )
    toDo.fetchedProperties = [
      FetchedPropertyDescription(
        name: "similar",
        fetchRequest: FetchRequestTemplate(
          name: "similar",
          entityName: "ToDo",
          predicate: try FetchPredicate(format: "list == $FETCH_SOURCE.list AND SELF != $FETCH_SOURCE")
        )
      )
    ]
    return toDo
  }

  static func model(_ toDo: EntityDefinition? = nil, items: [PropertyDescription] = []) throws -> ManagedObjectModel {
    var list = EntityDefinition.entity(
      "ToDoList",
      .attribute("name", .string, default: .string("List")),
      .attribute("position", .integer32, default: .integer(0)),
      .toMany("items", "ToDo", inverse: "list")
    )
    list.properties += items
    return try ManagedObjectModel(
      entities: [try toDo ?? Self.toDo(), list, .entity("Tag", .attribute("name", .string, optional: true))],
      fetchRequestTemplates: [
        FetchRequestTemplate(
          name: "OfList",
          entityName: "ToDo",
          predicate: try FetchPredicate(format: "list == $LIST AND done == NO")
        )
      ]
    )
  }
}
