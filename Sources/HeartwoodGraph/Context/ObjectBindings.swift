import HeartwoodModel
import HeartwoodStore

/// What a context finds its objects by: one ``EntityBinding`` for each entity in each store, and one for the new
/// objects of each entity.
///
/// Each store and entity have one binding at most. A binding that is found by a scope is one of them, and its ids have
/// that scope.
final class ObjectBindings {
  private struct Key: Hashable {
    /// Nil for new objects. The binding holds the store, so that its identifier is not given to another.
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
  /// The bindings of open stores by their scopes, which they hold: the fast way from an id to its object.
  private var bindingsByScope: [ObjectIdentifier: EntityBinding] = [:]
  /// The binding of the objects that were inserted last: most insertions are of the same entity as the one before.
  private var lastInserted: EntityBinding?
  /// The change of the coordinator's stores that the bindings have followed.
  private var seenStoreChange: UInt64 = 0
}

// MARK: Finding

extension ObjectBindings {
  /// All bindings.
  var all: some Sequence<EntityBinding> { bindings.values }

  /// The binding of `entity` in `store`, or of its new objects; `make` makes it if there is none.
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

  /// The binding of the new objects of `entity`; `make` looks for it if it was not the last one asked for.
  func bindingForNewObjects(of entity: EntityDescription, _ make: () -> EntityBinding) -> EntityBinding {
    if let lastInserted, lastInserted.entity === entity { return lastInserted }
    let binding = make()
    lastInserted = binding
    return binding
  }

  /// The binding of the records whose ids have a scope, if it was noted.
  @inline(__always)
  func binding(of scope: ObjectIDScope) -> EntityBinding? { bindingsByScope[ObjectIdentifier(scope)] }

  /// The same, and looks for one that was not noted. O(bindings).
  func search(_ scope: ObjectIDScope) -> EntityBinding? {
    binding(of: scope) ?? bindings.values.first { $0.scope === scope }
  }

  /// Notes that `binding` is found by a scope, if that is its own.
  func note(_ binding: EntityBinding, by scope: ObjectIDScope) {
    if binding.scope === scope { bindingsByScope[ObjectIdentifier(scope)] = binding }
  }
}

// MARK: Stores that change

extension ObjectBindings {
  /// Whether the bindings belong to the stores that there are since `change`.
  func haveSeen(_ change: UInt64) -> Bool { change == seenStoreChange }

  /// Notes that the stores have changed. Bindings are found by their scopes anew.
  func noteStoreChange(_ change: UInt64) {
    seenStoreChange = change
    bindingsByScope = [:]
  }

  /// Makes the bindings of stores that were converted those of the stores which they became. They are to be bound to
  /// these.
  ///
  /// If objects of the new store have been fetched already, the old ones stay with the old store.
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
  /// Makes all objects ones without a context, since that goes. It may go on another thread than that of its objects.
  func orphan() {
    for binding in bindings.values { binding.orphan() }
  }

  /// Forgets all bindings. Their objects belong to no context.
  func forgetAll() {
    for binding in bindings.values { binding.forgetContext() }
    bindings = [:]
    bindingsByScope = [:]
    lastInserted = nil
  }

  /// Releases objects that nobody holds any more; see ``ManagedObjectContext/tidy(andLookAt:)``.
  func tidy(andLookAt more: Int) {
    for binding in bindings.values { binding.slots.tidy(andLookAt: more) }
  }
}

// MARK: RecordSources

/// Where a context reads records from and saves them to: the stores, or its parent; and the version that it stays at.
///
/// A context with a parent is at no version of its own.
final class RecordSources {
  let upstream: ContextUpstream
  /// The version of the records that the context stays at; nil if it reads the newest.
  private(set) var generation: QueryGeneration?

  init(_ upstream: ContextUpstream) {
    self.upstream = upstream
  }
}

extension RecordSources {
  /// What stands for `store` in the context: the store itself, a version of it, or the parent's view of it.
  func source(for store: PersistentStore) -> any RecordSource {
    generation?.source(for: store) ?? newestSource(for: store)
  }

  /// The newest that the context can read of `store`, whatever version it stays at.
  func newestSource(for store: PersistentStore) -> any RecordSource {
    upstream.stagingArea?.source(for: store) ?? store
  }

  /// Stays at a version of the records, or reads the newest.
  func pin(to generation: QueryGeneration?) {
    if case .stores = upstream { self.generation = generation }
  }

  /// Stays at the same version of the stores that were converted.
  func followConversions() { generation = generation?.followingConversions() }

  /// Those who learn what is saved where the context saves to.
  func saveBroadcast(_ coordinator: PersistentStoreCoordinator) -> ChangeBroadcast {
    upstream.stagingArea?.saveBroadcast ?? coordinator.saveBroadcast
  }
}
