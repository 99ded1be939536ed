import Foundation
import Heartwood
import JSONLines
import Testing

@Suite struct JSONLinesConversionTests {
  @Test func convertsTheToDoFileAndBack() throws {
    let registry = StoreRegistry.default
    try registry.register(JSONLinesStore.self)
    defer { registry.unregister(JSONLinesStore.typeDescription.type) }
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }

    let toDo = URL(filePath: #filePath).appending(path: "../../../../ToDo").standardized
    // The first version: the file was written with it.
    let model = try ManagedObjectModel(contentsOf: toDo.appending(path: "ToDo.xcdatamodeld/ToDo.xcdatamodel"))
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: model)
    let source = try coordinator.addPersistentStore(at: toDo.appending(path: "todo.csv"))
    let lines = folder.appending(path: "todo.jsonl")
    try coordinator.convert(source, to: lines)
    #expect(try String(contentsOf: lines, encoding: .utf8).split(separator: "\n").count == 7)

    let other = try PersistentStoreCoordinator(managedObjectModel: model)
    let store = try other.addPersistentStore(at: lines)
    #expect(store.type == "JSONLines")
    let objects = try ManagedObjectContext(other).fetch(entityName: "ToDo")
    #expect(try objects.map { try $0.propertyValue(forKey: "sortOrder") } == [2, 5, 3, 1, 0, 4].map { .integer($0) })

    let back = folder.appending(path: "todo.csv")
    try other.convert(store, to: back)
    #expect(try Data(contentsOf: back) == Data(contentsOf: toDo.appending(path: "todo.csv")))
  }
}
