/// What differs between two versions of a model, and whether stores can be migrated from one to the other by inference.
///
/// Entities and properties are the same where their names are, or where the new one's renaming identifier is the old one's name or
/// renaming identifier.
public struct ModelDifferences: Sendable {
  /// The changes, in the order of the new model; what was removed comes last.
  public let changes: [ModelChange]

  /// Compares two models. O(n) in the number of properties.
  public init(from old: ManagedObjectModel, to new: ManagedObjectModel) {
    var comparison = ModelComparison(old, new)
    comparison.compare()
    changes = comparison.changes
  }

  /// Why stores of the old version cannot be migrated by inference; empty where they can.
  public var obstacles: [ModelChange] { changes.filter { $0.obstacle != nil } }

  /// Whether stores of the old version can be migrated without a mapping model.
  public var isInferable: Bool { obstacles.isEmpty }

  /// Whether stores of the old version have to be migrated at all: they can be opened with the new one where version hashes are alike.
  public var requiresMigration: Bool { changes.contains(where: \.changesStores) }
}

/// Pairs of old and new things, by their names and renaming identifiers.
struct RenamingMatch {
  /// For each new thing, the place of the old one that it was; nil for what is new.
  private(set) var oldPlaces: [Int?] = []
  /// The places of old things that are gone.
  let removed: [Int]

  /// - Parameters: names and renaming identifiers of each thing.
  init(old: [(name: String, identifier: String?)], new: [(name: String, identifier: String?)]) {
    let byName = Dictionary(
      old.enumerated().map { ($0.element.name, $0.offset) },
      uniquingKeysWith: { first, _ in first }
    )
    let byIdentifier = Dictionary(
      old.enumerated().compactMap { place, thing in thing.identifier.map { ($0, place) } },
      uniquingKeysWith: { first, _ in first }
    )
    var taken: Set<Int> = []
    // What was renamed says where it comes from; only then a name alone tells.
    var places: [Int?] = new.map { thing in
      let place = thing.identifier.flatMap { byIdentifier[$0] ?? byName[$0] }
      return place.flatMap { taken.insert($0).inserted ? $0 : nil }
    }
    for (index, thing) in new.enumerated() where places[index] == nil {
      places[index] = byName[thing.name].flatMap { taken.insert($0).inserted ? $0 : nil }
    }
    oldPlaces = places
    removed = old.indices.filter { !taken.contains($0) }
  }
}
