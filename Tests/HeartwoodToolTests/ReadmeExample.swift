import Foundation
import Heartwood

final class ToDo: ManagedObject {
  static let memoKey = AttributeKey<String?>("memo")
  static let doneKey = AttributeKey<Bool>("done")
  var memo: String? {
    get { self[Self.memoKey] }
    set { self[Self.memoKey] = newValue }
  }
  var done: Bool {
    get { self[Self.doneKey] }
    set { self[Self.doneKey] = newValue }
  }
}

func example(in folder: URL) throws -> [String] {
  let model = try ManagedObjectModel(entities: [
    .entity("ToDo", .attribute("done", .boolean, default: .boolean(false)), .attribute("memo", .string, optional: true))
  ])
  let coordinator = try PersistentStoreCoordinator(managedObjectModel: model, objectClasses: [ToDo.self])
  let store = try coordinator.addPersistentStore(at: folder.appending(path: "list.csv"))

  let context = ManagedObjectContext(coordinator)
  let toDo = try context.insert(ToDo.self)
  toDo.memo = "Read the guide for store authors"
  try context.save()

  let open = try context.fetch(ToDo.self, where: ToDo.doneKey == false)
  try coordinator.convert(store, to: folder.appending(path: "list.heartwood"))
  return open.compactMap(\.memo)
}
