public import Heartwood
public import HeartwoodFoundation
public import HeartwoodGraph
public import HeartwoodModel
public import HeartwoodStore

/// A container of one test, with a store that nobody else has: it goes when the test is over, whether that has thrown or not.
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
/// Swift Testing makes a suite anew for each test, and XCTest has `setUp`; where there is neither,
/// ``withTemporaryContainer(_:type:objectClasses:registry:isolation:_:)`` does the same around a closure. Tests may run side by side.
public final class TemporaryContainer: Sendable {
  /// The container, whose store is open.
  public let container: PersistentContainer
  /// The store's file, which is made by the first save, or, of an incremental store, when it is opened; nil for a store without one.
  public let url: URL?
  private let folder: ScratchFolder

  /// Makes an empty store, and opens it.
  ///
  /// - Parameters:
  ///   - type: the registered type. By default nothing is written to the disk.
  ///   - objectClasses: the classes of the objects of entities that have one.
  ///   - registry: the kinds of stores that there are.
  /// - Throws: ``PersistenceError``, where the store cannot keep such a model; an error of the system where no folder can be made.
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

  /// Closes the container, and opens another over the same file, as the next start of an application does. Both keep the file.
  ///
  /// A store without a file begins anew.
  ///
  /// - Parameters:
  ///   - managedObjectModel: the model; nil means the same. A store of another version is migrated.
  ///   - objectClasses: the classes of the objects of entities that have one.
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

/// Gives `body` a container with an empty store that nobody else has, and takes both away when it is over, whether it has thrown or not.
///
///     try await withTemporaryContainer(model, type: .csv, objectClasses: [ToDo.self]) { container in
///       try await container.write { try $0.insert(ToDo.self).memo = "Bread" }
///     }
///
/// - Parameters:
///   - type: the registered type. By default nothing is written to the disk.
///   - objectClasses: the classes of the objects of entities that have one.
///   - registry: the kinds of stores that there are.
/// - Throws: what ``TemporaryContainer/init(_:type:objectClasses:registry:)`` and `body` throw.
/// - Returns: what `body` returns.
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
