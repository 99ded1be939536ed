import HeartwoodModel
public import HeartwoodStore

/// The stages by which stores of any older version come to the newest, given with the option ``StoreOptionKey/stagedMigrationManager``.
///
/// A store begins at the stage that has its version. All stages are done in memory, and the file is written once: it is of the old
/// version or of the newest, and never of one between.
public struct StagedMigrationManager: Sendable {
  /// The stages, in order.
  public var stages: [MigrationStage]

  /// Makes a manager of stages, the oldest first.
  public init(_ stages: [MigrationStage]) {
    self.stages = stages
  }
}

extension StoreOptionKey<StagedMigrationManager> {
  /// The stages by which a store is migrated. Without them, the way is found among the versions and mapping models at hand.
  public static let stagedMigrationManager = StoreOptionKey("stagedMigrationManager")
}

extension StagedMigrationManager {
  /// The steps from one version to another.
  ///
  /// - Parameters:
  ///   - versions: where the models of lightweight stages are found by their checksums.
  ///   - mappings: what is preferred to inference.
  func steps(
    from source: ManagedObjectModel,
    to destination: ManagedObjectModel,
    versions: [ManagedObjectModel],
    mappings: [MappingModel]
  ) throws -> [MigrationStep] {
    let links = try self.links(versions + [destination])
    let places = links.indices.filter { links[$0].from.isSameVersion(as: source) }
    guard let start = places.last else {
      throw Self.unusable("No stage begins with the version that the store was written with.")
    }
    var steps: [MigrationStep] = []
    for link in links[start...] {
      let reached = steps.last?.destinationModel ?? source
      guard !reached.isSameVersion(as: destination) else { break }
      guard link.from.isSameVersion(as: reached) else {
        throw Self.unusable("The stage \(link.label) does not begin where the one before it ends.")
      }
      steps.append(try step(link, to: link.to.isSameVersion(as: destination) ? destination : link.to, mappings))
    }
    guard steps.last?.destinationModel === destination else {
      throw Self.unusable("The stages do not lead to the model that the store is to be opened with.")
    }
    return steps
  }

  /// A way between two versions.
  private struct Link {
    let from: ManagedObjectModel
    let to: ManagedObjectModel
    let label: String
    var stage: CustomMigrationStage?
  }

  private func links(_ versions: [ManagedObjectModel]) throws -> [Link] {
    var links: [Link] = []
    for stage in stages {
      switch stage {
      case .custom(let custom):
        links.append(Link(from: custom.currentModel, to: custom.nextModel, label: custom.label, stage: custom))
      case .lightweight(let lightweight):
        let models = try lightweight.versionChecksums.map { checksum in
          if let model = versions.first(where: { $0.versionChecksum == checksum }) { return model }
          throw Self.unusable("No model at hand has the checksum \(checksum) of the stage \(lightweight.label).")
        }
        // A stage goes on where the one before it has ended.
        let chain = (links.last.map { [$0.to] } ?? []) + models
        for (from, to) in zip(chain, chain.dropFirst()) where !from.isSameVersion(as: to) {
          links.append(Link(from: from, to: to, label: lightweight.label))
        }
      }
    }
    return links
  }

  private func step(_ link: Link, to destination: ManagedObjectModel, _ mappings: [MappingModel]) throws
    -> MigrationStep
  {
    let choice = MappingChoice(mappings, from: link.from, to: destination)
    try choice.check()
    do {
      var step = MigrationStep(
        sourceModel: link.from,
        destinationModel: destination,
        mappingModel: try choice.mapping
          ?? MappingModel.inferredMappingModel(forSourceModel: link.from, destinationModel: destination),
        isInferred: choice.mapping == nil
      )
      step.stage = link.stage
      return step
    } catch let error as MappingInferenceError {
      throw PersistenceError(
        .mappingModelMissing,
        "The stage \(link.label) cannot be done. \(error.problem)",
        recovery: .custom(error.recovery)
      )
    }
  }

  private static func unusable(_ problem: String) -> PersistenceError {
    PersistenceError(.mappingModelMissing, problem, recovery: "Add a stage to the StagedMigrationManager.")
  }
}
