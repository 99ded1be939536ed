import Foundation
import Heartwood
import HeartwoodSQLite
import HeartwoodStore
import Testing

@testable import HeartwoodTesting

/// Nodes in an SQLite store whose reads and writes can be made to fail.
final class FailingGraph {
  static let name = AttributeKey<String?>("name")
  static let parent = ToOneKey<ManagedObject>("parent")
  static let children = ToManyKey<ManagedObject>("children")
  static let peers = ToManyKey<ManagedObject>("peers")
  static let keeper = ToOneKey<ManagedObject>("keeper")
  static let wards = ToManyKey<ManagedObject>("wards")

  let faults = ReadFaults()
  let interruption = StoreInterruption()
  private let folder: ScratchFolder
  private let model: ManagedObjectModel
  private(set) var context: ManagedObjectContext

  init() throws {
    folder = try ScratchFolder()
    model = try ManagedObjectModel(entities: [
      .entity(
        "Node",
        .attribute("name", .string, optional: true),
        .toOne("parent", "Node", inverse: "children"),
        .toMany("children", "Node", inverse: "parent", deleteRule: .cascade),
        .toMany("peers", "Node", inverse: "peers"),
        .toOne("keeper", "Node", inverse: "wards"),
        .toMany("wards", "Node", inverse: "keeper", deleteRule: .deny)
      )
    ])
    context = try Self.context(model, folder, Self.format(faults, interruption))
  }

  /// Begins anew with nothing read.
  func reopen() throws {
    context.persistentStoreCoordinator.close()
    context = try Self.context(model, folder, Self.format(faults, interruption))
  }

  private static func context(
    _ model: ManagedObjectModel,
    _ folder: ScratchFolder,
    _ format: any StoreFormat
  ) throws -> ManagedObjectContext {
    let registry = StoreRegistry()
    try registry.register(format)
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: model, registry: registry)
    try coordinator.addPersistentStore(type: .sqlite, at: folder.url.appending(path: "nodes.sqlite"))
    return ManagedObjectContext(coordinator)
  }

  /// SQLite stores that can be stopped, and whose reads can fail.
  private static func format(_ faults: ReadFaults, _ interruption: StoreInterruption) -> any StoreFormat {
    let stopped = WrappingFormat(IncrementalClassFormat(SQLiteStore.self)) { store, _ in
      stoppable(store, interruption)
    }
    return WrappingFormat(stopped) { store, _ in failing(store, faults) }
  }

  private static func stoppable(
    _ store: some IncrementalStore,
    _ interruption: StoreInterruption
  ) -> any IncrementalStore {
    InterruptedStore(store, interruption)
  }

  private static func failing(_ store: some IncrementalStore, _ faults: ReadFaults) -> any IncrementalStore {
    ReadFailingStore(store, faults)
  }

  /// Lets everything succeed.
  func endFailing() {
    faults.end()
    interruption.stop(at: 0)
  }

  // MARK: Looking

  /// The names of the nodes that are there, sorted.
  func names() throws -> [String] { try context.fetch(entityName: "Node").compactMap { $0[Self.name] }.sorted() }

  func nodeIfAny(_ name: String) throws -> ManagedObject? {
    try context.fetch(FetchRequest<ManagedObject>(entityName: "Node", where: Self.name == name)).first
  }

  func node(_ name: String) throws -> ManagedObject {
    guard let node = try nodeIfAny(name) else { throw Mismatch("There is no \(name).") }
    return node
  }

  /// What a node leads to.
  func words(of node: ManagedObject) -> [String] {
    let ones = [Self.parent, Self.keeper].map { node[$0]?[Self.name] ?? "-" }
    let many = [Self.children, Self.peers, Self.wards].map { key in
      node[key].map { $0[Self.name] ?? "-" }.sorted().joined(separator: "+")
    }
    return ones + many
  }

  /// What the store has, as somebody finds it who opens it.
  func saved() throws -> [String] {
    let context = try Self.context(model, folder, IncrementalClassFormat(SQLiteStore.self))
    defer { context.persistentStoreCoordinator.close() }
    return try context.fetch(entityName: "Node").map { node in
      ([node[Self.name] ?? "-"] + words(of: node)).joined(separator: " ")
    }.sorted()
  }
}
