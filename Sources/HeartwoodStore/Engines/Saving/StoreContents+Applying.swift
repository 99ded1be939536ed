import HeartwoodModel

extension StoreContents {
  /// Makes changes in the tables and writes nothing. All ids are permanent.
  ///
  /// - Throws: ``PersistenceError/Code/saveConflict`` where a record has another version than its change was made on, or than is
  ///   expected.
  package mutating func apply(
    _ changes: ChangeSet,
    typeDescription: StoreTypeDescription
  ) throws -> AppliedChanges {
    var references = ReferenceAssigner()
    let preferred = typeDescription.capabilities.referenceKinds.first ?? .uuid
    let contents = self
    let applied = try AppliedChanges(
      changes,
      to: contents,
      newReferences: { count, entity throws(PersistenceError) in
        try references.newReferences(
          count,
          for: contents.tables[entity.ordinal],
          of: contents,
          preferred: preferred
        )
      }
    )
    self = applied.contents
    return applied
  }
}
