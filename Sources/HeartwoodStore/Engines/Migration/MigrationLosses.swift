package import HeartwoodModel

extension MappingCoverage {
  /// What is left out of the records of a store, with counts; nothing for what has no records and no values. O(records) of the entities that lose
  /// something.
  ///
  /// - Parameters:
  ///   - isAllowed: whether that is no obstacle.
  ///   - takenCount: how many records of an entity are taken by mappings with filter predicates.
  package func losses(
    in contents: StoreContents,
    isAllowed: Bool,
    takenCount: (EntityDescription) -> Int = { _ in 0 }
  ) -> [MigrationReport.Finding] {
    losses(of: contents.model, isAllowed: isAllowed) { entity in
      contents.tables[entity.ordinal].count
    } takenCount: { entity in
      takenCount(entity)
    } valueCount: { entity, ordinal in
      let table = contents.tables[entity.ordinal]
      return table.count - table.emptyCount(ordinal)
    }
  }

  /// The same of a store that counts itself.
  package func losses(
    of model: ManagedObjectModel,
    isAllowed: Bool,
    recordCount: (EntityDescription) throws -> Int,
    takenCount: (EntityDescription) throws -> Int = { _ in 0 },
    valueCount: (EntityDescription, Int) throws -> Int
  ) rethrows -> [MigrationReport.Finding] {
    var losses: [MigrationReport.Finding] = []
    func note(_ kind: MigrationReport.Finding.Kind, _ entity: EntityDescription, _ property: String, _ count: Int) {
      guard count > 0 else { return }
      losses.append(.init(kind, entity.name, property, count: count, isObstacle: !isAllowed))
    }
    for ordinal in droppedEntities {
      let entity = model.entities[ordinal]
      note(.removedRecords, entity, "", try recordCount(entity))
    }
    for ordinal in filteredEntities {
      let entity = model.entities[ordinal]
      note(.removedRecords, entity, "", try recordCount(entity) - takenCount(entity))
    }
    for (entityOrdinal, ordinal) in droppedProperties {
      let entity = model.entities[entityOrdinal]
      note(.removedValues, entity, entity.properties[ordinal].name, try valueCount(entity, ordinal))
    }
    return losses
  }
}
