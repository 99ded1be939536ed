package import HeartwoodModel

extension ManagedObjectModel {
  /// The entity called `name`.
  ///
  /// - Throws: ``PersistenceError/Code/entityUnknown``, with the name that may have been meant.
  package func knownEntity(named name: String) throws(PersistenceError) -> EntityDescription {
    if let entity = entity(named: name) { return entity }
    let advice = NameSuggestion.advice(for: name, among: entities.map(\.name))
    throw PersistenceError(
      .entityUnknown,
      "The model has no entity called \(name).",
      recovery: .custom(advice),
      context: .init(entity: name)
    )
  }
}
