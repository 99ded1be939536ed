import HeartwoodModel
import HeartwoodStore

/// The objects that a fetch has found, made when they are walked over: of those that nobody has looked at there is a row number, and no
/// object.
///
/// It holds its context, but not the objects. An object whose record has gone since the fetch counts as deleted, and so does one whose
/// record is missing from an older version to which the context has gone back.
public struct FetchedBatch<Object: ManagedObject>: RandomAccessCollection {
  private let context: ManagedObjectContext
  private let matches: [FetchPass.Match]
  /// What the records were called that were searched, by binding, for rows that the context does not see any more.
  private let searched: [ObjectIdentifier: SearchedRecords]

  /// The classes of the objects have been checked.
  init(_ matches: [FetchPass.Match], of pass: FetchPass, in context: ManagedObjectContext) {
    self.context = context
    searched = Dictionary(uniqueKeysWithValues: pass.parts.map { (ObjectIdentifier($0.binding), $0.searched) })
    // The rows of records that no store has may change.
    self.matches = matches.map { match in
      if case .row(let binding, let row) = match, binding.rowsMayMove { return .changed(binding.object(row)) }
      return match
    }
  }

  /// 0.
  public var startIndex: Int { 0 }
  /// How many objects there are.
  public var endIndex: Int { matches.count }

  /// The object at a place, made where nobody holds it yet. O(1).
  public subscript(position: Int) -> Object {
    guard let object = object(matches[position]) as? Object else {
      ProgrammerError.stop("The classes of the objects were checked when they were found.")
    }
    return object
  }

  private func object(_ match: FetchPass.Match) -> ManagedObject {
    match.lostObject { searched[ObjectIdentifier($0)] } ?? match.object
  }
}

extension ManagedObjectContext {
  /// The objects that ``fetch(_:)-(FetchRequest<Object>)`` would give, as a collection that makes each when it is asked for.
  ///
  /// It takes the place of Core Data's batch size: there is nothing to be read in batches, as the records are in columns.
  public func fetchBatch<Object>(_ request: FetchRequest<Object>) throws -> FetchedBatch<Object> {
    let pass = try FetchPass(request, in: self)
    let matches = try pass.matches()
    for part in pass.parts where !(part.binding.objectClass is Object.Type) {
      if let other = matches.first(where: { $0.isOf(part.binding) }) { throw mismatch(other.object, request) }
    }
    for case .changed(let object) in matches where !(object is Object) { throw mismatch(object, request) }
    return FetchedBatch(matches, of: pass, in: self)
  }
}

extension FetchPass.Match {
  fileprivate func isOf(_ other: EntityBinding) -> Bool {
    row(of: other) != nil
  }
}

// MARK: Prefetching

/// Reads what relationships of fetched objects lead to before somebody asks for it: a step of all objects at a time, and not object by
/// object.
struct Prefetching {
  private let context: ManagedObjectContext
  /// The relationships of each path, by name: a subentity has its own at the same places.
  private let paths: [[CompiledProperty]]

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
    try context.reading {
      for path in paths {
        var reached = origins
        for relationship in path.dropLast() { reached = try follow(relationship, from: reached) }
        if let last = path.last { try read(last, from: reached) }
      }
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
  private func follow(_ relationship: CompiledProperty, from origins: [Origin]) throws -> [Origin] {
    try read(relationship, from: origins).flatMap { binding, references in
      try Set(references).compactMap { try binding.table.row(of: $0) }.map { .row(binding, $0) }
    }
  }

  /// Reads what a relationship leads to, and tells the references, which may have some more than once.
  @discardableResult
  private func read(
    _ relationship: CompiledProperty,
    from origins: [Origin]
  ) throws -> [(binding: EntityBinding, references: [ReferenceID])] {
    var groups: [(id: ManagedObjectID, references: [ReferenceID])] = []
    for origin in origins {
      for id in origin.ids(relationship.ordinal) where !id.isTemporaryID {
        // There are as many groups as the stores have entities that the relationship leads to: one, mostly.
        if let place = groups.firstIndex(where: { $0.id.scope === id.scope }) {
          groups[place].references.append(id.reference)
        } else {
          groups.append((id, [id.reference]))
        }
      }
    }
    return try groups.map { group in
      let binding = try context.binding(keeping: group.id)
      try binding.read(group.references)
      return (binding, group.references)
    }
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

extension CompiledExpression {
  /// The relationships of a key path, the first one first. An attribute at the end leads nowhere.
  fileprivate var relationships: [CompiledProperty] {
    guard case .property(let base, let property) = self else { return [] }
    return base.relationships + (property.attributeType == nil ? [property] : [])
  }
}
