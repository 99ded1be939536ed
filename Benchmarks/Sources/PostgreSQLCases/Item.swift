import ArgumentParser
import Foundation
import Heartwood
import HeartwoodPostgreSQL

/// A to-do.
final class Item: ManagedObject {
  override class var entityName: String { "Item" }

  static let doneKey = AttributeKey<Bool>("done")
  static let memoKey = AttributeKey<String>("memo")
  static let sortOrderKey = AttributeKey<Int64>("sortOrder")
  static let creationDateKey = AttributeKey<Date>("creationDate")
  static let recordIDKey = AttributeKey<UUID>("recordID")

  var sortOrder: Int64 {
    get { self[Self.sortOrderKey] }
    set { self[Self.sortOrderKey] = newValue }
  }

  static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      .entity(
        "Item",
        .attribute("done", .boolean, default: .boolean(false)),
        .attribute("memo", .string, optional: true),
        .attribute("sortOrder", .integer32, default: .integer(0)),
        .attribute("creationDate", .date, optional: true),
        .attribute("recordID", .uuid, optional: true)
      )
    ])
  }

  /// Opens the store at a URL, as another process would.
  static func openContext(_ url: String) throws -> ManagedObjectContext {
    guard let url = URL(string: url) else { throw ValidationError("This is no URL: \(url)") }
    let registry = StoreRegistry()
    try registry.register(PostgreSQLFormat())
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: try model(),
      registry: registry,
      objectClasses: [Item.self]
    )
    try coordinator.addPersistentStore(type: .postgreSQL, at: url)
    return ManagedObjectContext(coordinator)
  }
}
