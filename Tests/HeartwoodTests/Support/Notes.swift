import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodSQLite
import HeartwoodStore

/// A model of one entity, which every type of store can keep.
enum Notes {
  /// All types of stores.
  static let types: [StoreType] = [.binary, .csv, .xml, .propertyList, .coreDataBinary, .sqlite, .inMemory]
  /// The types whose stores have files.
  static let typesWithFiles = types.filter { $0 != .inMemory }

  static func model(_ properties: PropertyDescription...) throws -> ManagedObjectModel {
    let properties = properties.isEmpty ? [.attribute("text", .string, default: .string(""))] : properties
    return try ManagedObjectModel(entities: [EntityDefinition(name: "Note", properties: properties)])
  }

  /// Those that ship, and the one for SQLite.
  static func registry() throws -> StoreRegistry {
    try StoreRegistry([
      BinaryStore.self, CSVStore.self, XMLStore.self, PropertyListStore.self, CoreDataBinaryStore.self,
      InMemoryStore.self, SQLiteStore.self,
    ])
  }

  /// A container in a folder.
  static func container(
    in folder: URL,
    _ stores: PersistentStoreDescription...,
    model: ManagedObjectModel? = nil
  ) throws -> PersistentContainer {
    try PersistentContainer(
      name: "Notes",
      managedObjectModel: try model ?? Notes.model(),
      stores: stores.isEmpty ? [PersistentStoreDescription()] : stores,
      directory: folder,
      registry: try registry()
    )
  }

  /// Writes a bundle of models as Xcode has it, whose versions have one text attribute each; the last is the current one.
  static func writeBundle(_ name: String, in folder: URL, attributes: String...) throws {
    let bundle = folder.appending(path: "\(name).xcdatamodeld")
    for (index, attribute) in attributes.enumerated() {
      let version = bundle.appending(path: "\(versionName(name, index)).xcdatamodel")
      try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
      let former = index > 0 ? #" elementID="\#(attributes[index - 1])""# : ""
      let contents = """
        <model type="com.apple.IDECoreDataModeler.DataModel"><entity name="Note">
        <attribute name="\(attribute)" attributeType="String" defaultValueString=""\(former)/></entity></model>
        """
      try Data(contents.utf8).write(to: version.appending(path: "contents"))
    }
    let current = """
      <plist version="1.0"><dict><key>_XCCurrentVersionName</key>
      <string>\(versionName(name, attributes.count - 1)).xcdatamodel</string></dict></plist>
      """
    try Data(current.utf8).write(to: bundle.appending(path: ".xccurrentversion"))
  }

  private static func versionName(_ name: String, _ index: Int) -> String { index == 0 ? name : "\(name) \(index + 1)" }
}

extension ManagedObjectContext {
  /// Inserts a note.
  func note(_ text: String, _ key: String = "text") throws {
    _ = try newNote(text, key)
  }

  func newNote(_ text: String, _ key: String = "text") throws -> ManagedObject {
    let note = try insert(entityName: "Note")
    try note.setValue(text, forKey: key)
    return note
  }

  /// What the notes say, sorted.
  func texts(_ key: String = "text") throws -> [String] {
    try fetch(entityName: "Note").compactMap { try $0.value(forKey: key) as? String }.sorted()
  }
}

extension PersistentContainer {
  /// What the notes of the stores say, sorted.
  func texts(_ key: String = "text") async throws -> [String] {
    try await performBackgroundTask { try $0.texts(key) }
  }
}

/// The error of the library that `body` throws, or nil where it throws none.
func persistenceError(_ body: () async throws -> Void) async -> PersistenceError? {
  do {
    try await body()
    return nil
  } catch {
    return error as? PersistenceError
  }
}
