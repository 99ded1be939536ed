public import HeartwoodModel
import HeartwoodStore

extension ManagedObjectModel {
  /// Makes a model of classes that describe their entities (``ManagedObject/entityDefinition``), the entities in the order of the
  /// classes:
  ///
  ///     let model = try ManagedObjectModel(of: [ToDo.self, List.self])
  ///
  /// Of two relationships that lead back to each other, one may leave out the name of its inverse.
  ///
  /// - Throws: ``PersistenceError/Code/objectClassMismatch`` where a class describes no entity; ``ModelValidationError``, which lists every
  ///   fault and where it is; and what a class throws, such as ``FetchPredicateError`` of a derived attribute.
  public convenience init(
    of objectClasses: [ManagedObject.Type],
    configurations: [String: [String]] = [:],
    versionIdentifiers: [String] = [],
    fetchRequestTemplates: [FetchRequestTemplate] = []
  ) throws {
    try self.init(
      entities: InverseCompletion(try objectClasses.map(Self.definition)).completed(),
      configurations: configurations,
      versionIdentifiers: versionIdentifiers,
      fetchRequestTemplates: fetchRequestTemplates
    )
  }

  private static func definition(of objectClass: ManagedObject.Type) throws -> EntityDefinition {
    if let definition = try objectClass.entityDefinition { return definition }
    throw PersistenceError(
      .objectClassMismatch,
      "The class \(objectClass) describes no entity.",
      recovery: "Mark it with @Entity, or override its entityDefinition."
    )
  }
}
