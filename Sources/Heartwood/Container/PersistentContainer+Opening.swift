public import HeartwoodGraph
public import HeartwoodModel
public import HeartwoodStore
public import Logging

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension PersistentContainer {
  /// Makes a container and loads its stores: all of a set-up in one line.
  ///
  ///     let container = try await PersistentContainer.open("ToDo")
  ///     let container = try await PersistentContainer.open("ToDo", at: PersistentStoreDescription(url: url))
  ///     let container = try await PersistentContainer.open("ToDo", at: .inMemory)
  ///
  /// - Parameters:
  ///   - name: what the container is called, and where no model is given, the model.
  ///   - stores: what is opened; none means a binary store in the container's folder.
  ///   - managedObjectModel: the model; nil means the one of this name among the resources of the program.
  ///   - bundles: the bundles or folders to look for the model in; nil means beside the executable.
  ///   - objectClasses: the classes of the objects of entities that have one.
  ///   - directory: the folder of the files that no description names; nil means ``defaultDirectoryURL(applicationName:)``.
  ///   - registry: the kinds of stores that there are.
  ///   - logger: where it is told what is done; see ``PersistentStoreCoordinator/logger``.
  /// - Throws: what the initializers and ``loadPersistentStores(progress:)`` throw.
  public static func open(
    _ name: String,
    at stores: PersistentStoreDescription...,
    managedObjectModel: ManagedObjectModel? = nil,
    modelIn bundles: [URL]? = nil,
    objectClasses: [ManagedObject.Type] = [],
    directory: URL? = nil,
    registry: StoreRegistry = .default,
    logger: Logger? = nil
  ) async throws(PersistenceError) -> PersistentContainer {
    let stores = stores.isEmpty ? [PersistentStoreDescription()] : stores
    // To find a model, and to read it, takes files too.
    return try await WaitingWork.run { () throws(PersistenceError) in
      let container: PersistentContainer
      if let managedObjectModel {
        container = try PersistentContainer(
          name: name,
          managedObjectModel: managedObjectModel,
          stores: stores,
          objectClasses: objectClasses,
          directory: directory,
          registry: registry,
          logger: logger
        )
      } else {
        container = try PersistentContainer(
          name: name,
          modelIn: bundles,
          stores: stores,
          objectClasses: objectClasses,
          directory: directory,
          registry: registry,
          logger: logger
        )
      }
      try container.loadPersistentStoresAndWait()
      return container
    }
  }
}
