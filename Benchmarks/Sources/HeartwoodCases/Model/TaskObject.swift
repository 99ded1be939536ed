import Foundation
import Heartwood

/// A to-do that leads to the one before it.
final class TaskObject: ManagedObject {
  override class var entityName: String { "Task" }

  private static let doneKey = AttributeKey<Bool>("done")
  private static let memoKey = AttributeKey<String>("memo")
  private static let sortOrderKey = AttributeKey<Int64>("sortOrder")
  private static let creationDateKey = AttributeKey<Date>("creationDate")
  private static let previousKey = ToOneKey<TaskObject>("previous")

  var isDone: Bool {
    get { self[Self.doneKey] }
    set { self[Self.doneKey] = newValue }
  }

  var memo: String {
    get { self[Self.memoKey] }
    set { self[Self.memoKey] = newValue }
  }

  var sortOrder: Int64 {
    get { self[Self.sortOrderKey] }
    set { self[Self.sortOrderKey] = newValue }
  }

  var creationDate: Date {
    get { self[Self.creationDateKey] }
    set { self[Self.creationDateKey] = newValue }
  }

  var previous: TaskObject? {
    get { self[Self.previousKey] }
    set { self[Self.previousKey] = newValue }
  }
}

extension TaskObject {
  /// A context over a new binary store at `path`.
  static func openContext(_ path: String) throws -> ManagedObjectContext {
    let model = try ManagedObjectModel(entities: [
      .entity(
        "Task",
        .attribute("done", .boolean, default: .boolean(false)),
        .attribute("memo", .string, optional: true),
        .attribute("sortOrder", .integer32, default: .integer(0)),
        .attribute("creationDate", .date, optional: true),
        .toOne("previous", "Task", inverse: nil)
      )
    ])
    let registry = try StoreRegistry([BinaryStore.self])
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: model,
      registry: registry,
      objectClasses: [TaskObject.self]
    )
    try coordinator.addPersistentStore(type: .binary, at: URL(filePath: path))
    return ManagedObjectContext(coordinator)
  }
}
