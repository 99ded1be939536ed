public import HeartwoodModel
import HeartwoodStore

/// Finds the route from one version of a model to another, over others: the one that uses every given mapping model
/// between versions on the route, loses the fewest entities and properties (properties that were renamed twice need the
/// version between), and of those the one with the fewest steps.
struct MigrationRoute {
  private let models: [ManagedObjectModel]
  private let infers: Bool
  /// The pairs of versions that are connected by a mapping model, with that model.
  private let given: [Pair: MappingChoice]
  /// The entities and properties of each version that the first one had in no form, as paths of changes.
  private let newcomers: [Set<String>]

  private struct Pair: Hashable {
    let from: Int
    let to: Int
  }

  /// - Parameters:
  ///   - models: the versions in order, including both ends, from the oldest to the newest.
  ///   - infers: whether steps without a mapping model are allowed.
  init(models: [ManagedObjectModel], mappings: [MappingModel], infers: Bool) {
    self.models = models
    self.infers = infers
    newcomers = Self.newcomers(models)
    var given: [Pair: MappingChoice] = [:]
    for from in models.indices {
      for to in models.indices where from != to {
        let choice = MappingChoice(mappings, from: models[from], to: models[to])
        if choice.mapping != nil { given[Pair(from: from, to: to)] = choice }
      }
    }
    self.given = given
  }

  /// Returns the steps, or nil if there is no route.
  ///
  /// - Throws: ``PersistenceError/Code/mappingModelUnusable`` if it is ambiguous which of several mapping models a step
  ///   has to use.
  func steps() throws(PersistenceError) -> [MigrationStep]? {
    // There are so few versions that the plain form of Dijkstra's algorithm suffices.
    var costs = [0: 0]
    var origins: [Int: (place: Int, step: MigrationStep)] = [:]
    var open = Set(models.indices)
    let end = models.count - 1
    while let place = open.filter({ costs[$0] != nil }).min(by: { (costs[$0] ?? 0, $0) < (costs[$1] ?? 0, $1) }) {
      if place == end { return try path(to: end, origins) }
      open.remove(place)
      for next in open {
        let cost = (costs[place] ?? 0) + self.cost(Pair(from: place, to: next))
        guard cost < costs[next] ?? .max, let step = step(Pair(from: place, to: next)) else { continue }
        costs[next] = cost
        origins[next] = (place, step)
      }
    }
    return nil
  }

  private func path(
    to end: Int,
    _ origins: [Int: (place: Int, step: MigrationStep)]
  ) throws(PersistenceError) -> [MigrationStep] {
    var steps: [MigrationStep] = []
    var place = end
    while let origin = origins[place] {
      try given[Pair(from: origin.place, to: place)]?.check()
      steps.insert(origin.step, at: 0)
      place = origin.place
    }
    return steps
  }

  /// More than any number of steps.
  private static let losing = 1_000
  /// More than any number of losses.
  private static let leavingOut = 1_000_000_000_000

  private func cost(_ pair: Pair) -> Int {
    guard given[pair] == nil else { return 1 }
    let left = given.keys.count { other in
      pair.from < pair.to
        ? pair.from <= other.from && other.from < other.to && other.to <= pair.to
        : pair.to <= other.to && other.to < other.from && other.from <= pair.from
    }
    return 1 + losses(pair) * Self.losing + left * Self.leavingOut
  }

  private static func newcomers(_ models: [ManagedObjectModel]) -> [Set<String>] {
    guard models.count > 2 else { return models.map { _ in [] } }
    return zip(models, models.dropFirst()).reduce(into: [[]]) { newcomers, pair in
      let added = ModelDifferences(from: pair.0, to: pair.1).changes.filter { $0.kind == .added }.map(\.path)
      newcomers.append(Set(added).union((newcomers.last ?? []).filter(pair.1.has)))
    }
  }

  /// An entity counts more than any number of its properties.
  private static let entityWeight = 1_000

  /// Returns the number of losses of a step, without those of entities and properties that a version between has added.
  private func losses(_ pair: Pair) -> Int {
    guard models.count > 2 else { return 0 }
    let changes = ModelDifferences(from: models[pair.from], to: models[pair.to]).changes
    return changes.reduce(0) { losses, change in
      guard change.kind == .removed, change.changesStores, !newcomers[pair.from].contains(change.path) else {
        return losses
      }
      return losses + (change.isOfProperty ? 1 : Self.entityWeight)
    }
  }

  private func step(_ pair: Pair) -> MigrationStep? {
    let (source, destination) = (models[pair.from], models[pair.to])
    if let mapping = given[pair]?.mapping {
      return MigrationStep(sourceModel: source, destinationModel: destination, mappingModel: mapping)
    }
    guard infers, !leavesOut(pair),
      // try?: a pair of versions without a mapping is no step, and a missing route is an error of the caller.
      let mapping = try? MappingModel.inferredMappingModel(forSourceModel: source, destinationModel: destination)
    else { return nil }
    return MigrationStep(
      sourceModel: source,
      destinationModel: destination,
      mappingModel: mapping,
      isInferred: true
    )
  }

  /// Returns whether a step over a version between loses entities or properties that the versions at both ends have:
  /// that is not intended.
  private func leavesOut(_ pair: Pair) -> Bool {
    guard pair.from > 0 || pair.to < models.count - 1 else { return false }
    let changes = ModelDifferences(from: models[pair.from], to: models[pair.to]).changes
    return changes.contains { change in
      change.kind == .removed && change.changesStores && models[0].has(change.path)
        && models[models.count - 1].has(change.path)
    }
  }
}

extension ManagedObjectModel {
  /// Returns whether there is an entity, or a property of one, at the path of a change.
  fileprivate func has(_ path: String) -> Bool {
    let names = path.split(separator: ".", maxSplits: 1).map(String.init)
    guard let entity = names.first.flatMap(entity(named:)) else { return false }
    return names.count == 1 || entity.ordinal(ofProperty: names[1]) != nil
  }
}

// MARK: MigrationStep

/// A step in the migration of a store to another version of its model.
public struct MigrationStep: Sendable {
  /// The version before the step.
  public let sourceModel: ManagedObjectModel
  /// The version after the step.
  public let destinationModel: ManagedObjectModel
  /// The mapping of records. For records that are copied, it names the properties, even if the given mapping model does
  /// not.
  public let mappingModel: MappingModel
  /// The mapping models that are processed one after the other; only ``mappingModel``, unless there are several passes.
  public let passes: [MappingModel]
  /// Whether the mapping model was inferred instead of given.
  public let isInferred: Bool
  /// The application's code before and after the step.
  var stage: CustomMigrationStage?

  /// Creates a step.
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

  /// Creates a step in several passes, each over a part of the entities.
  public init(sourceModel: ManagedObjectModel, destinationModel: ManagedObjectModel, passes: [MappingModel]) {
    self.sourceModel = sourceModel
    self.destinationModel = destinationModel
    self.passes = passes.map { $0.namingCopiedProperties(from: sourceModel, to: destinationModel) }
    mappingModel = MappingModel(entityMappings: self.passes.flatMap(\.entityMappings))
    isInferred = false
  }
}

// MARK: MappingChoice

/// The given mapping model from one version to another.
struct MappingChoice {
  /// The chosen mapping model; nil if there is none.
  let mapping: MappingModel?
  /// The number of candidates, if none of them is preferred.
  private let rivalCount: Int

  /// Of several candidates, the first that states the versions of all its entities is preferred.
  init(_ mappings: [MappingModel], from source: ManagedObjectModel, to destination: ManagedObjectModel) {
    let leading = mappings.filter { $0.leads(from: source, to: destination) }
    let preferred = leading.first(where: \.tellsVersions)
    mapping = preferred ?? leading.first
    rivalCount = preferred == nil ? Set(leading).count : 1
  }

  /// - Throws: ``PersistenceError/Code/mappingModelUnusable`` if there are several candidates and the choice is
  ///   ambiguous.
  func check() throws(PersistenceError) {
    guard rivalCount > 1 else { return }
    let names = mapping?.entityMappings.map(\.name).joined(separator: ", ") ?? ""
    throw PersistenceError(
      .mappingModelUnusable,
      "\(rivalCount) of the given mapping models could migrate from one version to the other, and it cannot be "
        + "decided which to use; the first has the mappings \(names).",
      recovery: "Give their entity mappings version hashes (sourceEntityVersionHash, destinationEntityVersionHash)."
    )
  }
}

extension MappingModel {
  /// Whether it states the versions of all its entities.
  fileprivate var tellsVersions: Bool {
    !entityMappings.isEmpty && entityMappings.allSatisfy(\.tellsVersions)
  }
}
