import HeartwoodGraph
import HeartwoodModel
import Testing

/// What objects there are in a context, and what they have, without transient values and links to deleted objects. Objects are told apart as instances, since
/// their ids change.
struct GraphState: Equatable {
  private var values: [ManagedObject: [String: [String]]] = [:]

  var count: Int { values.count }

  init(_ context: ManagedObjectContext) throws {
    let entities = context.persistentStoreCoordinator.managedObjectModel.entities.filter { $0.superentity == nil }
    // All are held before the first is read: what nobody holds would be another instance the next time.
    let objects = try entities.flatMap { try context.fetch(entityName: $0.name) }
    for object in objects { values[object] = try Self.values(of: object) }
  }

  /// What differs from `other`, for a person.
  func difference(from other: GraphState) -> [String] {
    Set(values.keys).union(other.values.keys).flatMap { object in
      let (mine, others) = (values[object] ?? [:], other.values[object] ?? [:])
      return Set(mine.keys).union(others.keys).filter { mine[$0] != others[$0] }.map {
        "\(object.entity.name) \(ObjectIdentifier(object)).\($0): \(mine[$0] ?? ["–"]), not \(others[$0] ?? ["–"])"
      }
    }
  }

  private static func values(of object: ManagedObject) throws -> [String: [String]] {
    try object.entity.propertiesByName.filter { !$1.isTransient }.mapValues { property in
      guard let relationship = property.relationship else {
        return ["\(try object.propertyValue(forKey: property.name))"]
      }
      let value = try object.value(forKey: property.name)
      let others = (value as? [ManagedObject]) ?? (value as? ManagedObject).map { [$0] } ?? []
      let names = others.filter { !$0.isDeleted }.map { "\(ObjectIdentifier($0))" }
      return relationship.isOrdered ? names : names.sorted()
    }
  }
}

/// Expects that every relationship of every object is the inverse of its inverse, and leads to objects that are there.
func expectBothEndsAgree(
  _ context: ManagedObjectContext,
  sourceLocation: SourceLocation = #_sourceLocation
) throws {
  for entity in context.persistentStoreCoordinator.managedObjectModel.entities where entity.superentity == nil {
    for object in try context.fetch(entityName: entity.name) {
      for relationship in object.entity.relationships {
        guard let inverse = relationship.inverseRelationshipName else { continue }
        for other in try related(object, relationship.name) {
          let back = try related(other, inverse)
          #expect(
            back.contains(object),
            "\(relationship.name) is not the inverse of \(inverse)",
            sourceLocation: sourceLocation
          )
        }
      }
    }
  }
}

private func related(_ object: ManagedObject, _ name: String) throws -> [ManagedObject] {
  let value = try object.value(forKey: name)
  return (value as? [ManagedObject]) ?? (value as? ManagedObject).map { [$0] } ?? []
}
