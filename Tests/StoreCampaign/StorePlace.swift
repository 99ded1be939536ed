import Foundation
import Heartwood
import HeartwoodFormats
import HeartwoodModel
import HeartwoodSQLite
import HeartwoodStore

/// A store of one type in a folder of its own.
struct StorePlace {
  let type: StoreType
  let folder: URL

  var url: URL { folder.appending(path: "Store.\(type.rawValue.lowercased())") }

  /// One entity, so that every type of store has room for it.
  static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      EntityDefinition(
        name: "Item",
        properties: [
          .attribute("save", .integer64, default: .integer(0)),
          .attribute("number", .integer64, default: .integer(0)),
          .attribute("stamp", .integer64, default: .integer(0)),
          .attribute("text", .string),
          .attribute(
            AttributeDescription(
              name: "data",
              type: .binary,
              isOptional: true,
              allowsExternalBinaryDataStorage: true
            )
          ),
          .toOne("first", "Item", inverse: "others"),
          .toMany("others", "Item", inverse: "first"),
        ]
      )
    ])
  }

  func open() throws -> OpenPlace {
    let registry = try StoreRegistry([
      BinaryStore.self, CSVStore.self, XMLStore.self, PropertyListStore.self, CoreDataBinaryStore.self,
      SQLiteStore.self,
    ])
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: try Self.model(),
      registry: registry,
      objectClasses: [Item.self]
    )
    var options = StoreOptions()
    options[.sqliteBusyTimeout] = .seconds(120)
    let store = try coordinator.addPersistentStore(type: type, at: url, options: options)
    return OpenPlace(coordinator: coordinator, store: store, context: ManagedObjectContext(coordinator))
  }

  /// Makes the folder anew, with nothing in it.
  func clear() throws {
    try? FileManager.default.removeItem(at: folder)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  /// What is in the folder and is no part of the store.
  func strangers() throws -> [String] {
    let name = url.lastPathComponent
    let own = Set([name, "\(name)-wal", "\(name)-shm", ".\(url.deletingPathExtension().lastPathComponent)_SUPPORT"])
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { !own.contains($0) }.sorted()
  }
}

/// A store that is open.
struct OpenPlace {
  let coordinator: PersistentStoreCoordinator
  let store: PersistentStore
  let context: ManagedObjectContext

  func items() throws -> [Item] {
    try context.fetch(Item.self, where: Item.saveKey >= 0, sortedBy: Item.saveKey.ascending, Item.numberKey.ascending)
  }

  /// Items that no save changes: with them a binary file is so long that saves are added to it. Other files have none.
  func insertBallast() throws {
    guard store.type == .binary else { return }
    for number in 0..<400 {
      let item = try context.insert(Item.self)
      (item.save, item.number, item.text) = (-1, number, "ballast")
      item.data = Data(repeating: UInt8(truncatingIfNeeded: number), count: 1000)
    }
  }

  func checkBallast() throws {
    guard store.type == .binary else { return }
    let ballast = try context.fetch(Item.self, where: Item.saveKey < 0, sortedBy: Item.numberKey.ascending)
    let isWhole =
      ballast.count == 400
      && ballast.enumerated().allSatisfy { number, item in
        item.number == number && item.data == Data(repeating: UInt8(truncatingIfNeeded: number), count: 1000)
      }
    try SavedState.expect(isWhole, "Records that no save changes have changed.")
  }

  func close() { coordinator.close() }
}
