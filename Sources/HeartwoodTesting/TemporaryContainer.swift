public import Heartwood
public import HeartwoodFoundation
public import HeartwoodGraph
public import HeartwoodModel
public import HeartwoodStore

/// A container with an empty store of its own, for one test. The store is removed with the container, also if the test
/// throws.
///
///     @Suite struct ToDoTests {
///       let test: TemporaryContainer
///       init() throws { test = try TemporaryContainer(model, objectClasses: [ToDo.self]) }
///
///       @Test func memosAreKept() throws {
///         try test.container.writeAndWait { try $0.insert(ToDo.self).memo = "Bread" }
///       }
///     }
///
/// Swift Testing creates an instance of the suite for each test, and XCTest calls `setUp` before each test. In other
/// places, ``withTemporaryContainer(_:type:objectClasses:registry:isolation:_:)`` does the same for a closure. Each
/// container has a temporary folder of its own, so that tests may run in parallel.
public final class TemporaryContainer: Sendable {
  /// The container. Its store is open.
  public let container: PersistentContainer
  /// The URL of the store's file; nil for a store without a file. The first save creates the file, or, for an
  /// incremental store, opening the store does.
  public let url: URL?
  private let folder: ScratchFolder

  /// Creates an empty store, and opens it.
  ///
  /// - Parameters:
  ///   - managedObjectModel: the model of the store.
  ///   - type: the registered store type. By default, nothing is written to the disk.
  ///   - objectClasses: the classes of the objects, for entities that have one.
  ///   - registry: the registered store types.
  /// - Throws: ``PersistenceError`` if the type is not registered or its stores cannot keep the model, and an error of
  ///   the system if no temporary folder can be created.
  public convenience init(
    _ managedObjectModel: ManagedObjectModel,
    type: StoreType = .inMemory,
    objectClasses: [ManagedObject.Type] = [],
    registry: StoreRegistry = .default
  ) throws {
    try self.init(managedObjectModel, type, objectClasses, registry, in: try ScratchFolder())
  }

  private init(
    _ managedObjectModel: ManagedObjectModel,
    _ type: StoreType,
    _ objectClasses: [ManagedObject.Type],
    _ registry: StoreRegistry,
    in folder: ScratchFolder
  ) throws {
    self.folder = folder
    container = try PersistentContainer(
      name: "Test",
      managedObjectModel: managedObjectModel,
      stores: [PersistentStoreDescription(type: type)],
      objectClasses: objectClasses,
      directory: folder.url,
      registry: registry
    )
    try container.loadPersistentStoresAndWait()
    let coordinator = container.persistentStoreCoordinator
    url = coordinator.persistentStores.first.flatMap(coordinator.url)
  }

  deinit {
    container.close()
  }

  /// Closes the container, and opens another one for the same file, as the next launch of an application does. The file
  /// is kept until both are released.
  ///
  /// A store without a file is empty again.
  ///
  /// - Parameters:
  ///   - managedObjectModel: the new model, or nil for the same model. A store of another version is migrated.
  ///   - objectClasses: the classes of the objects, for entities that have one.
  /// - Throws: ``PersistenceError`` if the store cannot be opened or migrated.
  public func reopened(
    with managedObjectModel: ManagedObjectModel? = nil,
    objectClasses: [ManagedObject.Type] = []
  ) throws -> TemporaryContainer {
    container.close()
    return try TemporaryContainer(
      managedObjectModel ?? container.managedObjectModel,
      container.persistentStoreDescriptions.first?.type ?? .inMemory,
      objectClasses,
      container.persistentStoreCoordinator.registry,
      in: folder
    )
  }
}

/// Calls `body` with a container that has an empty store of its own, and removes both afterwards, also if `body`
/// throws.
///
///     try await withTemporaryContainer(model, type: .csv, objectClasses: [ToDo.self]) { container in
///       try await container.write { try $0.insert(ToDo.self).memo = "Bread" }
///     }
///
/// - Parameters:
///   - managedObjectModel: the model of the store.
///   - type: the registered store type. By default, nothing is written to the disk.
///   - objectClasses: the classes of the objects, for entities that have one.
///   - registry: the registered store types.
///   - isolation: the isolation in which `body` runs, which is that of the caller by default.
///   - body: the closure that uses the container.
/// - Throws: the errors of ``TemporaryContainer/init(_:type:objectClasses:registry:)`` and of `body`.
/// - Returns: the result of `body`.
public func withTemporaryContainer<Result>(
  _ managedObjectModel: ManagedObjectModel,
  type: StoreType = .inMemory,
  objectClasses: [ManagedObject.Type] = [],
  registry: StoreRegistry = .default,
  isolation: isolated (any Actor)? = #isolation,
  _ body: (PersistentContainer) async throws -> Result
) async throws -> Result {
  let test = try TemporaryContainer(managedObjectModel, type: type, objectClasses: objectClasses, registry: registry)
  defer { withExtendedLifetime(test) {} }
  return try await body(test.container)
}
