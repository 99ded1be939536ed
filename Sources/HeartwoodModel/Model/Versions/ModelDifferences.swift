/// What differs between two versions of a model, and whether stores can be migrated from one to the other by inference.
///
/// Entities and properties are the same where their names are, or where the new one's renaming identifier is the old one's name or
/// renaming identifier. Where one that has the name and one that has the identifier are there, the name counts.
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
  typealias Thing = (name: String, identifier: String?)

  /// For each new thing, the place of the old one that it was; nil for what is new.
  private(set) var oldPlaces: [Int?]
  /// The places of old things that are gone.
  private(set) var removed: [Int] = []

  /// - Parameters: names and renaming identifiers of each thing.
  init(old: [Thing], new: [Thing]) {
    let byName = Self.places(old.map { $0.name })
    let byIdentifier = Self.places(old.map { $0.identifier })
    let newNames = Set(new.map { $0.name })
    let kept = Set(new.filter { $0.identifier == nil }.map { $0.name })
    oldPlaces = Array(repeating: nil, count: new.count)
    var taken: Set<Int> = []
    // An identifier may be left over from a version before the old one: then the thing goes by the same name as it did.
    match(new, &taken) { thing in
      byName[thing.name].flatMap { thing.identifier != nil && old[$0].identifier == thing.identifier ? $0 : nil }
    }
    // Otherwise it is the name in the old version, unless what had this name keeps it, and another that had this identifier is gone.
    match(new, &taken) { thing in
      guard let identifier = thing.identifier else { return nil }
      let isOnceMore = byIdentifier[identifier].map { !newNames.contains(old[$0].name) } ?? false
      return kept.contains(identifier) && isOnceMore ? nil : byName[identifier]
    }
    match(new, &taken) { thing in thing.identifier.flatMap { byIdentifier[$0] } }
    match(new, &taken) { thing in thing.identifier.flatMap { byName[$0] } }
    match(new, &taken) { thing in byName[thing.name] }
    removed = old.indices.filter { !taken.contains($0) }
  }

  /// Gives the new things that have no old one yet the one at `place`, unless another has it.
  private mutating func match(_ new: [Thing], _ taken: inout Set<Int>, place: (Thing) -> Int?) {
    for (index, thing) in new.enumerated() where oldPlaces[index] == nil {
      oldPlaces[index] = place(thing).flatMap { taken.insert($0).inserted ? $0 : nil }
    }
  }

  /// The places of texts, the first place for those that stand there several times.
  private static func places(_ texts: [String?]) -> [String: Int] {
    Dictionary(
      texts.enumerated().compactMap { place, text in text.map { ($0, place) } },
      uniquingKeysWith: { first, _ in first }
    )
  }
}

// MARK: ModelChange

/// One difference between two versions of a model.
public struct ModelChange: Sendable, Hashable, CustomStringConvertible {
  /// What has happened. The raw value is how programs know it.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// It is in the new version alone.
    case added
    /// It is in the old version alone.
    case removed
    /// It has another name, as its renaming identifier tells.
    case renamed
    /// Something else that is said of it differs.
    case changed
  }

  /// What has happened.
  public let kind: Kind
  /// Where, by the names of the new version, or for what was removed, of the old: `ToDo`, `ToDo.memo`, `configuration Cloud`.
  public let path: String
  /// What differs, for people: `optional: no → yes`.
  public let detail: String
  /// Why stores of the old version cannot be migrated by inference; nil where this change is no hindrance.
  public let obstacle: String?
  /// Whether the version hash of an entity is another by it, so that stores have to be migrated at all.
  public let changesStores: Bool

  init(_ kind: Kind, _ path: String, _ detail: String, obstacle: String? = nil, changesStores: Bool = true) {
    self.kind = kind
    self.path = path
    self.detail = detail
    self.obstacle = obstacle
    self.changesStores = changesStores
  }

  /// Whether it is about a property, and not an entity as a whole or a configuration.
  package var isOfProperty: Bool { path.contains(".") }

  /// The change in a line.
  public var description: String {
    detail.isEmpty ? "\(kind.rawValue) \(path)" : "\(kind.rawValue) \(path): \(detail)"
  }
}
