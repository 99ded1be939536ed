import Foundation
import GRDB
import Heartwood
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodSQLite
@testable import SQLiteWorker

/// A folder with SQLite stores of a model.
struct SQLiteBench {
  let scratch: ScratchFolder
  let model: ManagedObjectModel

  init(_ model: ManagedObjectModel) throws {
    scratch = try ScratchFolder()
    self.model = model
  }

  /// One of items and parts.
  init() throws {
    try self.init(try WorkerModel.model())
  }

  func url(_ name: String = "Store.sqlite") -> URL { scratch.url.appending(path: name) }

  /// One that has no store yet.
  static func coordinator(_ model: ManagedObjectModel) throws -> PersistentStoreCoordinator {
    try PersistentStoreCoordinator(
      managedObjectModel: model,
      registry: StoreRegistry([SQLiteStore.self, BinaryStore.self])
    )
  }

  func coordinator() throws -> PersistentStoreCoordinator { try Self.coordinator(model) }

  /// A context of a coordinator that has read nothing.
  func context(_ name: String = "Store.sqlite", options: StoreOptions = StoreOptions()) throws -> ManagedObjectContext {
    let coordinator = try coordinator()
    try coordinator.addPersistentStore(type: .sqlite, at: url(name), options: options)
    return ManagedObjectContext(coordinator)
  }

  func query<Value>(_ name: String = "Store.sqlite", _ body: (Database) throws -> Value) throws -> Value {
    let queue = try DatabaseQueue(path: url(name).path)
    let value = try queue.read(body)
    try queue.close()
    return value
  }

  func integrity(_ name: String = "Store.sqlite") throws -> String? {
    try query(name) { try String.fetchOne($0, sql: "PRAGMA integrity_check") }
  }

  /// The permission bits of a file or folder.
  func permissions(_ name: String = "Store.sqlite") throws -> UInt32? {
    try POSIXFileSystem().status(atPath: url(name).path)?.permissions
  }

  func code(_ body: () throws -> Void) -> PersistenceError.Code? { error(body)?.code }

  func error(_ body: () throws -> Void) -> PersistenceError? {
    do {
      try body()
      return nil
    } catch {
      return error as? PersistenceError
    }
  }
}

// MARK: Items and parts

extension SQLiteBench {
  /// Makes a store of items with data, and closes it.
  func makeStore(_ name: String = "Store.sqlite", items: [String: Data?]) throws {
    let context = try context(name)
    for (name, data) in items { try insert(name, data, in: context) }
    try context.save()
    context.persistentStoreCoordinator.close()
  }

  @discardableResult
  func insert(_ name: String, _ data: Data? = nil, in context: ManagedObjectContext) throws -> ManagedObject {
    let item = try context.insert(entityName: "Item")
    try item.setValue(name, forKey: "name")
    try item.setValue(data, forKey: "data")
    return item
  }

  func items(_ context: ManagedObjectContext) throws -> [ManagedObject] {
    try context.fetch(FetchRequest<ManagedObject>(entityName: "Item", sortedBy: [FetchSortDescriptor("name")]))
  }

  /// The data of all items of a store, by name.
  func contents(_ name: String = "Store.sqlite") throws -> [String: Data?] {
    let context = try context(name)
    defer { context.persistentStoreCoordinator.close() }
    return try Dictionary(
      items(context).map { (try $0.value(forKey: "name") as? String ?? "", try $0.value(forKey: "data") as? Data) },
      uniquingKeysWith: { $1 }
    )
  }

  /// The names of the files with large data of a store.
  func externalNames(_ stem: String = "Store") throws -> Set<String> {
    let folder = url(".\(stem)_SUPPORT/_EXTERNAL_DATA").path
    guard FileManager.default.fileExists(atPath: folder) else { return [] }
    return Set(try FileManager.default.contentsOfDirectory(atPath: folder))
  }

  /// The names of such files that rows lead to.
  func namedFiles(_ name: String = "Store.sqlite") throws -> Set<String> {
    try query(name) { db in
      Set(
        try Data.fetchAll(db, sql: "SELECT ZDATA FROM ZITEM WHERE ZDATA IS NOT NULL").filter { $0.first == 2 }.map {
          String(decoding: $0.dropFirst().dropLast(), as: UTF8.self)
        }
      )
    }
  }
}
