public import HeartwoodModel
import HeartwoodStore

/// The query of live results: a request that has been checked, and its dependencies.
struct LiveQuery {
  /// A found object and its sort keys.
  struct Match {
    let object: ManagedObject
    let keys: LiveKeys
    let section: LiveSectionKey
    /// The version of the record that the object has; nil if it has none, or if the keys imply it.
    let seen: RecordVersion?
  }

  let context: ManagedObjectContext
  let pass: FetchPass
  let sectioning: LiveSectioning
  let dependencies: FetchDependencies
  private let entityOrdinals: Set<Int>
  private let stores: [PersistentStore]?

  init<Object>(
    _ request: FetchRequest<Object>,
    _ sections: FetchedResultsSectionKey<Object>?,
    in context: ManagedObjectContext
  ) throws {
    let model = context.persistentStoreCoordinator.managedObjectModel
    let entity = try context.entity(named: request.entityName)
    self.context = context
    sectioning = try sections?.compiled(for: entity, in: model) ?? .none
    pass = try FetchPass(request, evaluating: sectioning.expressions, in: context)
    let expressions = pass.sorts.map(\.expression) + sectioning.expressions
    dependencies = FetchDependencies(pass.plan, expressions, of: entity, in: model)
    entityOrdinals = Set(pass.entities.map(\.ordinal))
    stores = request.affectedStores
  }

  func isAbout(_ entity: EntityDescription) -> Bool { entityOrdinals.contains(entity.ordinal) }
}

// MARK: Evaluating

extension LiveQuery {
  /// Returns all matches, in the request's order.
  func matches() throws -> [Match] {
    let parts = Dictionary(uniqueKeysWithValues: pass.parts.enumerated().map { (ObjectIdentifier($1.binding), $0) })
    let matches = try pass.matches()
    // All objects are created before one is read: records may move then.
    return zip(matches, matches.map(\.object)).map { found, object in
      guard case .row(let binding, let row) = found, let part = parts[ObjectIdentifier(binding)] else {
        return match(object)
      }
      let section = sectioning.key({ pass.parts[part].value($0, row) }, { object })
      return Match(object: object, keys: .row(part: part, row), section: section, seen: nil)
    }
  }

  /// Returns the current match of an object; nil if it does not match.
  func match(ifFound object: ManagedObject) -> Match? {
    guard isAbout(object.entity), object.managedObjectContext === context else { return nil }
    // Reading the record determines whether it is gone.
    if object.isFault { object.fireFault() }
    guard !object.isDeleted, isInStores(object), passes(object) else { return nil }
    return match(object)
  }

  private func match(_ object: ManagedObject) -> Match {
    let evaluator = PredicateEvaluator(ContextSource(context: context))
    let keys = pass.sorts.map { evaluator.value($0.expression, object).scalar }
    let section = sectioning.key({ evaluator.value($0, object).scalar }, { object })
    return Match(object: object, keys: .values(keys), section: section, seen: object.recordVersion)
  }

  /// Returns the same match with its keys read, for tables of another moment.
  func withValues(_ match: Match) -> Match {
    guard case .row(let part, let row) = match.keys else { return match }
    return Match(
      object: match.object,
      keys: .values(pass.parts[part].keys(row, pass.sorts)),
      section: match.section,
      seen: pass.parts[part].version(of: row)
    )
  }

  private func isInStores(_ object: ManagedObject) -> Bool {
    guard let stores, let store = object.binding.store?.newest else { return true }
    return stores.contains { $0.newest === store }
  }

  private func passes(_ object: ManagedObject) -> Bool {
    guard let plan = pass.plan else { return true }
    return PredicateEvaluator(ContextSource(context: context)).matches(plan, object)
  }
}

// MARK: LiveResultsList

/// An event in a context, for results that are kept up to date.
struct LiveEvent {
  /// The objects that were inserted, changed, deleted or refreshed.
  var objects: [ManagedObject] = []
  /// The ids of records that others have inserted or changed, and that need not have objects here.
  var ids: Set<ManagedObjectID> = []
  /// Whether the objects may be of another version of their records than before.
  var isRenewal = false
  /// Whether the event is a merge of saves of others, which may have been reported before: the same save arrives in
  /// several ways.
  var isMerge = false
  /// Whether more may have happened than is reported.
  var isPartial = false
  /// Whether any record may have changed without being reported.
  var mayBeAny = false
}

/// Results that are kept up to date with a context.
protocol LiveResults: AnyObject {
  func contextDidChange(_ event: LiveEvent)
  /// Called when new objects have other ids than before.
  func objectsWereRenamed(_ objects: [ManagedObject])
  /// Called when a save has written the changes of objects, and new ones have their permanent ids.
  func objectsWereSaved(inserted: [ManagedObject], updated: [ManagedObject])
  /// Called when the context has released all objects.
  func contextWasReset()
}

/// The live results of a context, none of which it retains.
final class LiveResultsList {
  private struct Member {
    weak var results: (any LiveResults)?
  }

  private var members: [Member] = []

  /// Whether there may be none. Deallocated ones are noticed at the next event.
  var isEmpty: Bool { members.isEmpty }

  func insert(_ results: any LiveResults) {
    members.removeAll { $0.results == nil || $0.results === results }
    members.append(Member(results: results))
  }

  func tell(_ event: LiveEvent) {
    if isEmpty || event.objects.isEmpty && event.ids.isEmpty && !event.isPartial { return }
    forEach { $0.contextDidChange(event) }
  }

  func objectsWereRenamed(_ objects: [ManagedObject]) {
    if !objects.isEmpty { forEach { $0.objectsWereRenamed(objects) } }
  }

  func objectsWereSaved(inserted: [ManagedObject], updated: [ManagedObject]) {
    forEach { $0.objectsWereSaved(inserted: inserted, updated: updated) }
  }

  func contextWasReset() {
    forEach { $0.contextWasReset() }
  }

  private func forEach(_ body: (any LiveResults) -> Void) {
    members.removeAll { $0.results == nil }
    for results in members.compactMap(\.results) { body(results) }
  }
}

// MARK: ManagedObjectContext: live results

extension ManagedObjectContext {
  /// Fetches the results of a request, and keeps them up to date with this context from then on.
  ///
  /// - Parameters:
  ///   - sectionKey: the key that divides the results into sections; nil if all objects are in one.
  ///   - delegate: the delegate that is notified of changes. It is not retained.
  /// - Throws: the errors of ``FetchedResultsController/performFetch()``.
  public func fetchedResults<Object>(
    _ request: FetchRequest<Object>,
    sectionedBy sectionKey: FetchedResultsSectionKey<Object>? = nil,
    delegate: (any FetchedResultsControllerDelegate<Object>)? = nil
  ) throws -> FetchedResultsController<Object> {
    let controller = FetchedResultsController(request, in: self, sectionedBy: sectionKey)
    controller.delegate = delegate
    try controller.performFetch()
    return controller
  }

  /// Fetches the objects of the entity of `objectClass` that meet a condition, in an order and in sections, and keeps
  /// them up to date with this context:
  ///
  ///     let open = try context.fetchedResults(
  ///       ToDo.self,
  ///       where: ToDo.doneKey == false,
  ///       sortedBy: ToDo.dueKey.ascending,
  ///       sectionedBy: .keyPath("list.name")
  ///     )
  ///
  /// See ``fetchedResults(_:sectionedBy:delegate:)``.
  public func fetchedResults<Object: ManagedObject>(
    _ objectClass: Object.Type,
    where predicate: FetchPredicate? = nil,
    sortedBy sortDescriptors: FetchSortDescriptor...,
    sectionedBy sectionKey: FetchedResultsSectionKey<Object>? = nil,
    delegate: (any FetchedResultsControllerDelegate<Object>)? = nil
  ) throws -> FetchedResultsController<Object> {
    let request = FetchRequest<Object>(where: predicate, sortedBy: sortDescriptors)
    return try fetchedResults(request, sectionedBy: sectionKey, delegate: delegate)
  }
}
