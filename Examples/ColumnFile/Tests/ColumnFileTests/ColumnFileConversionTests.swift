import ColumnFile
import Foundation
import Heartwood
import Testing

@Suite struct ColumnFileConversionTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
  private let toDo = URL(filePath: #filePath).appending(path: "../../../../ToDo").standardized
  private let model: ManagedObjectModel

  init() throws {
    model = try ManagedObjectModel(contentsOf: toDo.appending(path: "ToDo.xcdatamodeld/ToDo.xcdatamodel"))
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  private func coordinator() throws -> PersistentStoreCoordinator {
    let registry = StoreRegistry()
    try registry.register(CSVStore.self)
    try registry.register(ColumnFileStore.self)
    return try PersistentStoreCoordinator(managedObjectModel: model, registry: registry)
  }

  @Test func convertsTheToDoFileAndBack() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let first = try coordinator()
    let source = try first.addPersistentStore(at: toDo.appending(path: "todo.csv"))
    let columns = folder.appending(path: "todo.columns")
    try first.convert(source, to: columns)

    let second = try coordinator()
    let store = try second.addPersistentStore(at: columns)
    #expect(store.type == "ColumnFile")
    let back = folder.appending(path: "todo.csv")
    try second.convert(store, to: back)
    #expect(try Data(contentsOf: back) == Data(contentsOf: toDo.appending(path: "todo.csv")))
  }

  /// A column is read where it lies: what is altered in it is found when the first record is read, and told with its place.
  @Test func tellsWhereAFileWasAltered() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let columns = folder.appending(path: "todo.columns")
    let first = try coordinator()
    try first.convert(try first.addPersistentStore(at: toDo.appending(path: "todo.csv")), to: columns)
    var bytes = try Data(contentsOf: columns)
    let place = try #require(bytes.firstRange(of: Data("insertCurrent".utf8)))
    bytes[place.lowerBound] ^= 1
    try bytes.write(to: columns)

    let second = try coordinator()
    try second.addPersistentStore(at: columns)
    let context = ManagedObjectContext(second)
    let error = #expect(throws: PersistenceError.self) { try context.fetch(entityName: "ToDo") }
    #expect(error?.code == .fileCorrupt)
    #expect(error?.context.path == columns.path)
    #expect(error?.context.byteOffset.map { $0 <= place.lowerBound } == true)
  }
}
