public import HeartwoodModel

/// A part of the way of a store to another version of its model.
public struct MigrationStep: Sendable {
  /// The version before.
  public let sourceModel: ManagedObjectModel
  /// The version after.
  public let destinationModel: ManagedObjectModel
  /// What becomes of records.
  public let mappingModel: MappingModel
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
    self.mappingModel = mappingModel
    self.isInferred = isInferred
  }
}
