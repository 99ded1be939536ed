import HeartwoodModel
import HeartwoodStore

/// Reads what relationships of fetched objects lead to before somebody asks for it: a step of all objects at a time, and not object by
/// object.
struct Prefetching {
  private let context: ManagedObjectContext
  /// The relationships of each path, by name: a subentity has its own at the same places.
  private let paths: [[PlanProperty]]

  /// - Throws: `FetchPredicateError` where the entity has no such path of relationships.
  init(_ keyPaths: [String], of entity: EntityDescription, in context: ManagedObjectContext) throws {
    self.context = context
    let model = context.persistentStoreCoordinator.managedObjectModel
    paths = try keyPaths.map { path in
      let keys = path.split(separator: ".", omittingEmptySubsequences: false).map { FetchKey.property(String($0)) }
      return try PredicateCompiler.compile(.keyPath(of: .selfObject, keys), for: entity, in: model).relationships
    }
  }

  /// Reads what the paths lead to from objects that were found. What lies in files that are read at once is made sure of.
  func readAhead(_ matches: [FetchPass.Match]) throws {
    if paths.isEmpty || matches.isEmpty { return }
    let origins = matches.map(\.origin)
    for path in paths {
      var reached = origins
      for relationship in path { reached = try follow(relationship, from: reached) }
    }
  }
}

extension Prefetching {
  /// Where the values of an object are found.
  enum Origin {
    case row(EntityBinding, RowID)
    case object(ManagedObject)
  }

  /// What a relationship leads to, each record once, all of it read.
  private func follow(_ relationship: PlanProperty, from origins: [Origin]) throws -> [Origin] {
    var ids: Set<ManagedObjectID> = []
    for origin in origins { ids.formUnion(origin.ids(relationship.ordinal)) }
    var reached: [Origin] = []
    for (_, ids) in Dictionary(grouping: ids, by: { ObjectIdentifier($0.scope) }) where !ids[0].isTemporaryID {
      let binding = try context.binding(keeping: ids[0])
      let references = ids.map(\.reference)
      try binding.read(references)
      reached += try references.compactMap { try binding.table.row(of: $0) }.map { .row(binding, $0) }
    }
    return reached
  }
}

extension Prefetching.Origin {
  fileprivate func ids(_ ordinal: Int) -> [ManagedObjectID] {
    switch self {
    case .object(let object): return object.value(at: ordinal).objectIDs
    case .row(let binding, let row):
      return binding.liveGroup(of: row)?.value(row: row.row, ordinal: ordinal, type: nil, scopes: binding.scopes)
        .objectIDs ?? []
    }
  }
}

extension FetchPass.Match {
  fileprivate var origin: Prefetching.Origin {
    switch self {
    case .row(let binding, let row): .row(binding, row)
    case .changed(let object): .object(object)
    }
  }
}

extension PlanExpression {
  /// The relationships of a key path, the first one first. An attribute at the end leads nowhere.
  fileprivate var relationships: [PlanProperty] {
    guard case .property(let base, let property) = self else { return [] }
    return base.relationships + (property.attributeType == nil ? [property] : [])
  }
}
