public import HeartwoodModel

/// A relationship that `addingInverses()` added, and the relationship that it is the inverse of.
public struct AddedInverse: Sendable, Hashable {
  /// The entity of the relationship that had no inverse.
  public let entityName: String
  /// The relationship that had no inverse.
  public let relationshipName: String
  /// The entity to which the inverse was added.
  public let inverseEntityName: String
  /// The name of the inverse that was added.
  public let inverseName: String
}

extension ManagedObjectModel {
  /// Returns the same model, in which each stored to-many relationship has an inverse.
  ///
  /// SQLite files keep one owner for each record of a to-many relationship without an inverse. With a to-many inverse,
  /// which this method adds, a relationship has a table of its own in the file, and a record may have any number of
  /// owners. A migration converts a store to such a model, and fills the inverses of the relationships:
  ///
  /// ```swift
  /// let (model, added) = try oldModel.addingInverses()
  /// let coordinator = try PersistentStoreCoordinator(managedObjectModel: model, registry: registry)
  /// let migration = try coordinator.migration(ofStoreAt: url, options: options)
  /// try migration?.run(to: sqliteURL, type: .sqlite)
  /// ```
  ///
  /// The inverse of `bs` of the entity `A` is called `inverseOfABs`, followed by a number if a property of the model
  /// already has that name. A relationship whose inverse has another inverse stays as it is.
  public func addingInverses() throws(ModelValidationError) -> (model: ManagedObjectModel, added: [AddedInverse]) {
    var definitions = entities.map(\.definition)
    var names = Set(entities.flatMap { $0.properties.map(\.name) })
    var added: [AddedInverse] = []
    for (ordinal, entity) in definitions.enumerated() {
      for (index, property) in entity.properties.enumerated() {
        guard var relationship = property.relationship, relationship.isToMany, !relationship.isTransient,
          relationship.inverseRelationshipName == nil,
          let destination = definitions.firstIndex(where: { $0.name == relationship.destinationEntityName })
        else { continue }
        let name = Self.inverseName(of: relationship.name, in: entity.name, unlike: &names)
        relationship.inverseRelationshipName = name
        definitions[ordinal].properties[index] = .relationship(relationship)
        definitions[destination].properties.append(.toMany(name, entity.name, inverse: relationship.name))
        added.append(
          AddedInverse(
            entityName: entity.name,
            relationshipName: relationship.name,
            inverseEntityName: relationship.destinationEntityName,
            inverseName: name
          )
        )
      }
    }
    if added.isEmpty { return (self, []) }
    let model = try ManagedObjectModel(
      entities: definitions,
      configurations: configurations,
      versionIdentifiers: versionIdentifiers,
      fetchRequestTemplates: fetchRequestTemplates,
      localizationDictionary: localizationDictionary
    )
    return (model, added)
  }

  private static func inverseName(of name: String, in entity: String, unlike names: inout Set<String>) -> String {
    let plain = "inverseOf\(capitalized(entity))\(capitalized(name))"
    var (candidate, number) = (plain, 2)
    while !names.insert(candidate).inserted { (candidate, number) = ("\(plain)\(number)", number + 1) }
    return candidate
  }

  private static func capitalized(_ name: String) -> String { name.prefix(1).uppercased() + name.dropFirst() }
}
