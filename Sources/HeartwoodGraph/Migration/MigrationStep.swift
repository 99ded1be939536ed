public import HeartwoodModel

/// A part of the way of a store to another version of its model.
public struct MigrationStep: Sendable {
  /// The version before.
  public let sourceModel: ManagedObjectModel
  /// The version after.
  public let destinationModel: ManagedObjectModel
  /// What becomes of records. Of records that are copied it names the properties, also where the mapping model that was given does not.
  public let mappingModel: MappingModel
  /// The mapping models that are followed one after the other; only ``mappingModel``, unless there are several passes.
  public let passes: [MappingModel]
  /// Whether the mapping model was inferred, and not given.
  public let isInferred: Bool
  /// What the application does before and after it.
  var stage: CustomMigrationStage?

  /// Makes a step.
  public init(
    sourceModel: ManagedObjectModel,
    destinationModel: ManagedObjectModel,
    mappingModel: MappingModel,
    isInferred: Bool = false
  ) {
    self.sourceModel = sourceModel
    self.destinationModel = destinationModel
    self.mappingModel = mappingModel.namingCopiedProperties(from: sourceModel, to: destinationModel)
    self.isInferred = isInferred
    passes = [self.mappingModel]
  }

  /// Makes a step in several passes, each over a part of the entities.
  public init(sourceModel: ManagedObjectModel, destinationModel: ManagedObjectModel, passes: [MappingModel]) {
    self.sourceModel = sourceModel
    self.destinationModel = destinationModel
    self.passes = passes.map { $0.namingCopiedProperties(from: sourceModel, to: destinationModel) }
    mappingModel = MappingModel(entityMappings: self.passes.flatMap(\.entityMappings))
    isInferred = false
  }
}
