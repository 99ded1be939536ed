import BenchmarkSupport
import Foundation
import Heartwood
import HeartwoodSQLite

/// A to-do in a list.
final class Item: ManagedObject {
  override class var entityName: String { "Item" }

  static let doneKey = AttributeKey<Bool>("done")
  static let memoKey = AttributeKey<String>("memo")
  static let sortOrderKey = AttributeKey<Int64>("sortOrder")
  static let creationDateKey = AttributeKey<Date>("creationDate")
  static let recordIDKey = AttributeKey<UUID>("recordID")
  static let listKey = ToOneKey<List>("list")

  var sortOrder: Int64 {
    get { self[Self.sortOrderKey] }
    set { self[Self.sortOrderKey] = newValue }
  }

  func take(_ toDo: ToDo) {
    self[Self.doneKey] = toDo.isDone
    self[Self.memoKey] = toDo.memo
    self[Self.sortOrderKey] = toDo.sortOrder
    self[Self.creationDateKey] = toDo.creationDate
    self[Self.recordIDKey] = toDo.recordID
  }
}

/// A list of to-dos.
final class List: ManagedObject {
  override class var entityName: String { "List" }

  static let nameKey = AttributeKey<String>("name")
  static let itemsKey = ToManyKey<Item>("items")

  var items: [Item] { self[Self.itemsKey] }
}

extension Item {
  static func model() throws -> ManagedObjectModel {
    try model(
      .attribute("memo", .string, optional: true),
      .attribute("recordID", .uuid, optional: true)
    )
  }

  /// The next version: an attribute has another name, one is there no more, and one is new.
  static func nextModel() throws -> ManagedObjectModel {
    try model(
      .attribute("text", .string, optional: true, renamedFrom: "memo"),
      .attribute("stars", .integer16, default: .integer(3))
    )
  }

  private static func model(_ properties: PropertyDescription...) throws -> ManagedObjectModel {
    let kept: [PropertyDescription] = [
      .attribute("done", .boolean, default: .boolean(false)),
      .attribute("sortOrder", .integer32, default: .integer(0)),
      .attribute("creationDate", .date, optional: true),
      .toOne("list", "List", inverse: "items"),
    ]
    return try ManagedObjectModel(entities: [
      EntityDefinition(name: "Item", properties: kept + properties),
      .entity("List", .attribute("name", .string, optional: true), .toMany("items", "Item", inverse: "list")),
    ])
  }

  static func makeCoordinator(
    _ model: ManagedObjectModel,
    objectClasses: [ManagedObject.Type] = []
  ) throws -> PersistentStoreCoordinator {
    return try PersistentStoreCoordinator(
      managedObjectModel: model,
      registry: StoreRegistry([SQLiteStore.self]),
      objectClasses: objectClasses
    )
  }

  /// A context over the SQLite store at `path`.
  ///
  /// - Parameters:
  ///   - cacheSize: how many bytes of the file's pages stay in memory; nil for as many as ever.
  ///   - recordsComparedAtOnce: how many known records are compared after a save of others; nil for as many as ever.
  static func openContext(
    _ path: String,
    cacheSize: Int? = 1_000_000_000,
    recordsComparedAtOnce: Int? = nil
  ) throws -> ManagedObjectContext {
    let coordinator = try makeCoordinator(try model(), objectClasses: [Item.self, List.self])
    var options = StoreOptions()
    // As much as the peer's: all pages stay in memory.
    if let cacheSize { options[.sqliteCacheSize] = cacheSize }
    if let recordsComparedAtOnce { options[.recordsComparedAtOnce] = recordsComparedAtOnce }
    try coordinator.addPersistentStore(type: .sqlite, at: URL(filePath: path), options: options)
    return ManagedObjectContext(coordinator)
  }

  /// Removes a database and what lies beside it.
  static func remove(_ path: String) {
    for suffix in ["", "-wal", "-shm", "-journal"] { try? FileManager.default.removeItem(atPath: path + suffix) }
  }
}
