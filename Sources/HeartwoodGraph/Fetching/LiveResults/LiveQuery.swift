import HeartwoodModel
import HeartwoodStore

/// What live results are of: a request that has been checked, and what it looks at.
struct LiveQuery {
  /// What an object that is found is sorted by.
  struct Match {
    let object: ManagedObject
    let keys: LiveKeys
    let section: LiveSectionKey
    /// The version of the record that it shows; nil if it has none, or if the keys tell it.
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
  /// All objects that are found, in the request's order.
  func matches() throws -> [Match] {
    let parts = Dictionary(uniqueKeysWithValues: pass.parts.enumerated().map { (ObjectIdentifier($1.binding), $0) })
    return try pass.matches().map { found in
      guard case .row(let binding, let row) = found, let part = parts[ObjectIdentifier(binding)] else {
        return match(found.object)
      }
      let object = binding.object(row)
      let section = sectioning.key({ pass.parts[part].value($0, row) }, { object })
      return Match(object: object, keys: .row(part: part, row), section: section, seen: nil)
    }
  }

  /// The object as it is found now; nil where it is not.
  func match(ifFound object: ManagedObject) -> Match? {
    guard isAbout(object.entity), object.managedObjectContext === context else { return nil }
    // Whether the record is gone is known once it has been read.
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

  /// The same match with its keys read, for tables of another moment.
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
