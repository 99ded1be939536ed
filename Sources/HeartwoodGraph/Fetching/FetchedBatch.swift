import HeartwoodModel
import HeartwoodStore

/// The results of a fetch as a collection that creates each object on access. An object that was never accessed takes
/// only a row number.
///
///     for toDo in try context.fetchBatch(FetchRequest<ToDo>()) { print(toDo.objectID) }
///
/// It retains its context, but not the objects. An object whose record was deleted since the fetch counts as deleted,
/// and so does one whose record is missing from an older version to which the context has gone back.
public struct FetchedBatch<Object: ManagedObject>: RandomAccessCollection {
  private let context: ManagedObjectContext
  private let matches: [FetchPass.Match]
  /// The references of the records that were searched, by binding, for rows that the context no longer sees.
  private let searched: [ObjectIdentifier: SearchedRecords]

  /// The caller must have checked the classes of the objects.
  init(_ matches: [FetchPass.Match], of pass: FetchPass, in context: ManagedObjectContext) {
    self.context = context
    searched = Dictionary(uniqueKeysWithValues: pass.parts.map { (ObjectIdentifier($0.binding), $0.searched) })
    // The rows of unsaved records may change.
    self.matches = matches.map { match in
      if case .row(let binding, let row) = match, binding.rowsMayMove { return .changed(binding.object(row)) }
      return match
    }
  }

  /// 0, the index of the first object.
  public var startIndex: Int { 0 }
  /// The number of objects.
  public var endIndex: Int { matches.count }

  /// The object at `position`, created if it does not exist yet. O(1).
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
  /// Returns the results of ``fetch(_:)-(FetchRequest<Object>)`` as a collection that creates each object on access.
  ///
  /// This replaces Core Data's batch size: since the records are in columns, there are no batches to read.
  ///
  /// - Throws: the errors of ``fetch(_:)-(FetchRequest<Object>)``.
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

/// Reads the destinations of relationships of fetched objects in advance: one step for all objects at a time instead of
/// object by object.
struct Prefetching {
  private let context: ManagedObjectContext
  /// The relationships of each path, by name: a subentity has its own in the same positions.
  private let paths: [[CompiledProperty]]

  /// - Throws: `FetchPredicateError` if the entity has no such path of relationships.
  init(_ keyPaths: [String], of entity: EntityDescription, in context: ManagedObjectContext) throws {
    self.context = context
    let model = context.persistentStoreCoordinator.managedObjectModel
    paths = try keyPaths.map { path in
      let keys = path.split(separator: ".", omittingEmptySubsequences: false).map { FetchKey.property(String($0)) }
      return try PredicateCompiler.compile(.keyPath(of: .selfObject, keys), for: entity, in: model).relationships
    }
  }

  /// Reads the destinations of the paths for the found objects. In stores that read their file at once, it checks the
  /// records.
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
  /// The source of an object's values.
  enum Origin {
    case row(EntityBinding, RowID)
    case object(ManagedObject)
  }

  /// Returns the destinations of a relationship, each record once, and reads all of them.
  private func follow(_ relationship: CompiledProperty, from origins: [Origin]) throws -> [Origin] {
    try read(relationship, from: origins).flatMap { binding, references in
      try Set(references).compactMap { try binding.table.row(of: $0) }.map { .row(binding, $0) }
    }
  }

  /// Reads the destinations of a relationship, and returns their references, possibly with duplicates.
  @discardableResult
  private func read(
    _ relationship: CompiledProperty,
    from origins: [Origin]
  ) throws -> [(binding: EntityBinding, references: [ReferenceID])] {
    var groups: [(id: ManagedObjectID, references: [ReferenceID])] = []
    for origin in origins {
      for id in origin.ids(relationship.ordinal) where !id.isTemporaryID {
        // There is one group for each entity of a store that the relationship refers to: usually one.
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
  /// The relationships of a key path, in order. An attribute at the end is not included.
  fileprivate var relationships: [CompiledProperty] {
    guard case .property(let base, let property) = self else { return [] }
    return base.relationships + (property.attributeType == nil ? [property] : [])
  }
}
