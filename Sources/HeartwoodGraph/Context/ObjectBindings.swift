import HeartwoodModel
import HeartwoodStore

/// The bindings in which a context finds its objects: one ``EntityBinding`` for each entity in each store, and one for
/// the new objects of each entity.
///
/// There is at most one binding for each store and entity. Every binding that is found by a scope is among them, and
/// its ids have that scope.
final class ObjectBindings {
  private struct Key: Hashable {
    /// Nil for new objects. The binding retains the store, so that its identifier is not reused.
    let store: ObjectIdentifier?
    let entityOrdinal: Int

    init(_ entity: EntityDescription, _ store: PersistentStore?) {
      self.init(store: store.map { ObjectIdentifier($0) }, entityOrdinal: entity.ordinal)
    }

    init(store: ObjectIdentifier?, entityOrdinal: Int) {
      self.store = store
      self.entityOrdinal = entityOrdinal
    }
  }

  /// A binding whose store was converted.
  struct Move {
    let binding: EntityBinding
    let former: PersistentStore
    let successor: PersistentStore
  }

  private var bindings: [Key: EntityBinding] = [:]
  /// The bindings of open stores by their scopes, which they retain: the fast way from an id to its object.
  private var bindingsByScope: [ObjectIdentifier: EntityBinding] = [:]
  /// The binding of the objects that were inserted last: usually an insertion is of the same entity as the one before.
  private var lastInserted: EntityBinding?
  /// The number of the last change of the coordinator's stores that the bindings have followed.
  private var seenStoreChange: UInt64 = 0
}

// MARK: Finding

extension ObjectBindings {
  /// All bindings.
  var all: some Sequence<EntityBinding> { bindings.values }

  /// Returns the binding of `entity` in `store`, or of its new objects; calls `make` if there is none.
  func binding(
    for entity: EntityDescription,
    in store: PersistentStore?,
    _ make: () -> EntityBinding
  ) -> EntityBinding {
    let key = Key(entity, store)
    if let binding = bindings[key] { return binding }
    let binding = make()
    bindings[key] = binding
    return binding
  }

  /// Returns the binding of the new objects of `entity`; calls `make` to find it unless it was the last one asked for.
  func bindingForNewObjects(of entity: EntityDescription, _ make: () -> EntityBinding) -> EntityBinding {
    if let lastInserted, lastInserted.entity === entity { return lastInserted }
    let binding = make()
    lastInserted = binding
    return binding
  }

  /// Returns the binding of the records whose ids have `scope`, if it was noted.
  @inline(__always)
  func binding(of scope: ObjectIDScope) -> EntityBinding? { bindingsByScope[ObjectIdentifier(scope)] }

  /// Returns the binding of the records whose ids have `scope`, even if it was not noted. O(bindings).
  func search(_ scope: ObjectIDScope) -> EntityBinding? {
    binding(of: scope) ?? bindings.values.first { $0.scope === scope }
  }

  /// Notes that `binding` is found by `scope`, if that is its own.
  func note(_ binding: EntityBinding, by scope: ObjectIDScope) {
    if binding.scope === scope { bindingsByScope[ObjectIdentifier(scope)] = binding }
  }
}

// MARK: Stores that change

extension ObjectBindings {
  /// Returns whether the bindings belong to the stores that are open since `change`.
  func haveSeen(_ change: UInt64) -> Bool { change == seenStoreChange }

  /// Notes that the stores have changed. The table of scopes is built again.
  func noteStoreChange(_ change: UInt64) {
    seenStoreChange = change
    bindingsByScope = [:]
  }

  /// Assigns the bindings of converted stores to the new stores. The caller has to bind them to these.
  ///
  /// If objects of the new store have been fetched already, the old bindings stay with the old store.
  func moveConverted() -> [Move] {
    var moves: [Move] = []
    for (key, binding) in bindings {
      guard let former = binding.store, let successor = former.newestSuccessor else { continue }
      let newKey = Key(store: ObjectIdentifier(successor), entityOrdinal: key.entityOrdinal)
      guard bindings[newKey] == nil else { continue }
      bindings[key] = nil
      bindings[newKey] = binding
      moves.append(Move(binding: binding, former: former, successor: successor))
    }
    return moves
  }
}

// MARK: The end

extension ObjectBindings {
  /// Detaches all objects from the context, which is being deallocated. This may run on another thread than that of its
  /// objects.
  func orphan() {
    for binding in bindings.values { binding.orphan() }
  }

  /// Removes all bindings. Their objects then belong to no context.
  func forgetAll() {
    for binding in bindings.values { binding.forgetContext() }
    bindings = [:]
    bindingsByScope = [:]
    lastInserted = nil
  }

  /// Releases objects that are no longer referenced; see ``ManagedObjectContext/tidy(andLookAt:)``.
  func tidy(andLookAt more: Int) {
    for binding in bindings.values { binding.slots.tidy(andLookAt: more) }
  }
}

// MARK: RecordSources

/// The sources from which a context reads and to which it saves, the stores or its parent, and the version to which it
/// is pinned.
///
/// A child context has no version of its own.
final class RecordSources {
  let upstream: ContextUpstream
  /// The version to which the context is pinned; nil if it reads the newest records.
  private(set) var generation: QueryGeneration?

  init(_ upstream: ContextUpstream) {
    self.upstream = upstream
  }
}

extension RecordSources {
  /// Returns the source that represents `store` in the context: the store itself, a version of it, or the parent's view
  /// of it.
  func source(for store: PersistentStore) -> any RecordSource {
    generation?.source(for: store) ?? newestSource(for: store)
  }

  /// Returns the source of the newest records of `store`, even if the context is pinned.
  func newestSource(for store: PersistentStore) -> any RecordSource {
    upstream.stagingArea?.source(for: store) ?? store
  }

  /// Pins the context to a version of the records, or unpins it if `generation` is nil.
  func pin(to generation: QueryGeneration?) {
    if case .stores = upstream { self.generation = generation }
  }

  /// Moves the pinned version to the stores that its stores were converted to.
  func followConversions() { generation = generation?.followingConversions() }

  /// Returns the broadcast that reports the saves to the stores or to the parent of the context.
  func saveBroadcast(_ coordinator: PersistentStoreCoordinator) -> ChangeBroadcast {
    upstream.stagingArea?.saveBroadcast ?? coordinator.saveBroadcast
  }
}
