import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodSQLite
import HeartwoodStore
import HeartwoodTesting
import Testing

/// A coordinator with one store of a model in which much is derived.
struct DerivationStack {
  static let recordStoreType = RecordStore.typeDescription.type
  /// The stores that read records as they are needed.
  static let incrementalTypes: [StoreType] = [.sqlite, recordStoreType]
  static let storeTypes: [StoreType] =
    [.inMemory, .binary, .xml, .propertyList, .coreDataBinary] + incrementalTypes
  let coordinator: PersistentStoreCoordinator
  private let type: StoreType
  private let options: StoreOptions
  /// The folder of a file that is not in memory.
  private let folder: ScratchFolder?

  init(_ type: StoreType, options: StoreOptions = StoreOptions()) throws {
    var options = options
    if type == Self.recordStoreType { options[.recordDatabase] = RecordDatabase() }
    try self.init(type, options, in: type == .sqlite ? ScratchFolder() : nil)
  }

  private init(_ type: StoreType, _ options: StoreOptions, in folder: ScratchFolder?) throws {
    (self.type, self.options, self.folder) = (type, options, folder)
    coordinator = try PersistentStoreCoordinator(
      managedObjectModel: try Self.model(),
      registry: TestStack.registry,
      fileSystem: folder == nil ? InMemoryFileSystem() : POSIXFileSystem()
    )
    let isPlaceless = type == .inMemory || type == Self.recordStoreType
    let url = folder?.url.appending(path: "derived.sqlite") ?? URL(filePath: "/folder/derived.store")
    try coordinator.addPersistentStore(type: type, at: isPlaceless ? nil : url, options: options)
  }

  /// Returns a stack that has read nothing of the same store, if it is one that reads records as they are needed; this
  /// one otherwise.
  func unread() throws -> DerivationStack {
    Self.incrementalTypes.contains(type) ? try DerivationStack(type, options, in: folder) : self
  }

  /// The number of records of an entity that have been read.
  func knownCount(_ entity: String) throws -> Int {
    let entity = try #require(coordinator.managedObjectModel.entity(named: entity))
    return try #require(coordinator.persistentStores.first).engine.knownTable(of: entity).table.count
  }

  func context() -> ManagedObjectContext { ManagedObjectContext(coordinator) }

  static func derived(_ name: String, _ type: AttributeType, _ format: String) throws -> PropertyDescription {
    .attribute(
      AttributeDescription(name: name, type: type, derivationExpression: try FetchExpression(format: format))
    )
  }

  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      .entity(
        "List",
        .attribute("name", .string, optional: true),
        .toMany("items", "Item", inverse: "list", deleteRule: .cascade),
        .toOne("group", "Group", inverse: "lists"),
        .toMany("tags", "Tag", inverse: nil),
        try derived("count", .integer32, "items.@count"),
        try derived("total", .double, "items.@sum.price"),
        try derived("least", .double, "min:(items.price)"),
        try derived("greatest", .integer64, "items.@max.price"),
        try derived("average", .double, "items.@avg.price"),
        try derived("key", .string, "canonical:(name)"),
        try derived("upper", .string, "uppercase:(name)"),
        try derived("weight", .integer64, "tags.@max.weight"),
        try derived("saved", .date, "now()")
      ),
      .entity(
        "Item",
        .attribute("price", .double, optional: true),
        .attribute("note", .string, optional: true),
        .toOne("list", "List", inverse: "items"),
        .toOne("tag", "Tag", inverse: nil),
        try derived("listName", .string, "list.name"),
        try derived("listKey", .string, "lowercase:(list.key)"),
        try derived("tagName", .string, "tag.name")
      ),
      .entity(
        "Group",
        .toMany("lists", "List", inverse: "group"),
        try derived("total", .double, "lists.@sum.total")
      ),
      .entity("Tag", .attribute("name", .string, optional: true), .attribute("weight", .integer64, optional: true)),
    ])
  }
}
