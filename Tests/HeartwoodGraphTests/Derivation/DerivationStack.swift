import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting

/// A coordinator with one store of a model in which much is derived.
struct DerivationStack {
  static let storeTypes: [StoreType] = [.inMemory, .binary, .xml, .propertyList, .coreDataBinary]
  let coordinator: PersistentStoreCoordinator

  init(_ type: StoreType, options: StoreOptions = StoreOptions()) throws {
    coordinator = try PersistentStoreCoordinator(
      managedObjectModel: try Self.model(),
      registry: .default,
      fileSystem: InMemoryFileSystem()
    )
    let url = type == .inMemory ? nil : URL(filePath: "/folder/derived.store")
    try coordinator.addPersistentStore(type: type, at: url, options: options)
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
