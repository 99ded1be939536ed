import HeartwoodModel
import HeartwoodStore

extension ManagedObjectContext {
  /// The version of the records that the context reads; nil where it reads the newest.
  public var queryGenerationToken: QueryGenerationToken? {
    if saveUnderWay?.isPinned == true { return nil }
    return generation.map { QueryGenerationToken(kind: .generation($0)) }
  }

  /// Lets the context read one version of the records from now on, whatever others save, and its children too.
  ///
  /// Objects that have read their values keep them until they are refreshed; faults read the version. ``save()``, ``reset()``,
  /// ``mergeChanges(from:)`` and ``refreshAllObjects()`` let a pinned context move on to the newest version. A save is a conflict
  /// where others have saved the same records since the version. Objects whose records the version does not have count as deleted
  /// until the context reads one that has them; their changes and transient values stay.
  /// Converting a store to one that calls its records otherwise lets the context move on too.
  ///
  /// - Parameter token: ``QueryGenerationToken/current``, a token of a context of the same coordinator, or nil to read the newest
  ///   again, which releases the version.
  /// - Throws: ``PersistenceError/Code/queryGenerationUnavailable`` in the child of another context, which reads what its parent
  ///   does, and where a token's stores are not open here; what reading records can throw.
  public func setQueryGeneration(from token: QueryGenerationToken?) throws {
    guard case .stores = upstream else {
      throw PersistenceError(
        .queryGenerationUnavailable,
        "A child context reads what its parent reads.",
        recovery: "Pin the context at the end of the chain, which saves to the stores."
      )
    }
    finishSaveUnderWay()
    try prepare()
    let generation: QueryGeneration? =
      switch token?.kind {
      case nil: nil
      case .current: try QueryGeneration(persistentStoreCoordinator)
      case .generation(let generation): generation.followingConversions()
      }
    for pinned in generation?.stores ?? [] where !persistentStoreCoordinator.isOpen(pinned.store) {
      throw PersistenceError(
        .queryGenerationUnavailable,
        "A store of the version is not open in this context's coordinator, or no longer.",
        recovery: "Pin the context to the current version.",
        context: .init(path: pinned.store.path)
      )
    }
    pin(to: generation)
  }

  /// Lets a pinned context read the newest version. If that cannot be read, this is noted, and the context reads what stores have without being
  /// pinned.
  func advanceQueryGeneration() {
    finishSaveUnderWay()
    if generation == nil { return }
    do {
      pin(to: try QueryGeneration(persistentStoreCoordinator))
    } catch {
      noteReadFailure(.unreadable([], error))
      pin(to: nil)
    }
  }

  func pin(to newGeneration: QueryGeneration?) {
    generation = newGeneration
    // An older version may lack rows.
    movingChangedObjects {
      for binding in savedBindings {
        guard let store = binding.store else { continue }
        binding.bind(to: source(for: store))
        // try?: what cannot be read now is read when somebody asks for it, who is told why it cannot be.
        try? binding.synchronize()
      }
    }
    // Children are to read it too.
    changeNumber &+= 1
  }
}
