import HeartwoodStore
import Synchronization

/// What the children of a context read from and save to. It is shared with them whatever their isolation.
final class StagingArea: Sendable {
  let persistentStoreCoordinator: PersistentStoreCoordinator
  /// What the context itself reads from; nil where that is the stores.
  private let upstream: StagingArea?
  private let stores = Mutex<[StagedStore]>([])
  private let distantChildren = Atomic<Bool>(false)
  /// Tells the context that a child has saved.
  let arrivals = ArrivalSignal()
  /// What is saved to the context, and by it.
  let saveBroadcast = ChangeBroadcast()

  init(_ persistentStoreCoordinator: PersistentStoreCoordinator, upstream: StagingArea?) {
    self.persistentStoreCoordinator = persistentStoreCoordinator
    self.upstream = upstream
  }
}

extension StagingArea {
  /// Whether there has been a child of another isolation, which cannot let the context publish.
  var hasDistantChildren: Bool { distantChildren.load(ordering: .acquiring) }

  func noteDistantChild() { distantChildren.store(true, ordering: .releasing) }

  /// What stands for `store`.
  func source(for store: PersistentStore) -> StagedStore {
    stores.withLock { stores in
      if let staged = stores.first(where: { $0.store === store }) { return staged }
      let base: any RecordSource = upstream?.source(for: store) ?? store
      let model = persistentStoreCoordinator.managedObjectModel
      let staged = StagedStore(base: base, model: model, arrivals: arrivals)
      stores.append(staged)
      return staged
    }
  }

  /// What stands for the stores that children have asked for.
  var stagedStores: [StagedStore] { stores.withLock { $0 } }

  /// Forgets stores that are open no longer.
  func forgetClosedStores() {
    let open = Set(persistentStoreCoordinator.persistentStores.map { ObjectIdentifier($0) })
    stores.withLock { stores in stores.removeAll { !open.contains(ObjectIdentifier($0.store)) } }
  }
}
