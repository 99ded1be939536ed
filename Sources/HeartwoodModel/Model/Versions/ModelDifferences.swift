/// The differences between two versions of a model, and whether a migration between them can be inferred.
///
///     let differences = ModelDifferences(from: old, to: new)
///     if differences.requiresMigration && !differences.isInferable {
///       for change in differences.obstacles { print(change, change.obstacle ?? "") }
///     }
///
/// Two entities or properties are the same if they have the same name, or if the renaming identifier of the new one is
/// the name or the renaming identifier of the old one. If one has the name and another the identifier, the name counts.
public struct ModelDifferences: Sendable {
  /// The changes, in the order of the new model. Removals come last.
  public let changes: [ModelChange]

  /// Compares two models. O(n) in the number of properties.
  public init(from old: ManagedObjectModel, to new: ManagedObjectModel) {
    var comparison = ModelComparison(old, new)
    comparison.compare()
    changes = comparison.changes
  }

  /// The changes that prevent an inferred migration; empty if there are none.
  public var obstacles: [ModelChange] { changes.filter { $0.obstacle != nil } }

  /// Whether stores of the old version can be migrated without a mapping model.
  public var isInferable: Bool { obstacles.isEmpty }

  /// Whether stores of the old version must be migrated at all. If the version hashes are the same, they can be opened
  /// with the new version.
  public var requiresMigration: Bool { changes.contains(where: \.changesStores) }
}

/// Matches old and new entities or properties by their names and renaming identifiers.
struct RenamingMatch {
  typealias Thing = (name: String, identifier: String?)

  /// The index of the old item for each new one; nil for a new item.
  private(set) var oldPlaces: [Int?]
  /// The indexes of the removed items.
  private(set) var removed: [Int] = []

  /// Matches the items of two versions.
  ///
  /// - Parameters: names and renaming identifiers of each item.
  init(old: [Thing], new: [Thing]) {
    let byName = Self.places(old.map { $0.name })
    let byIdentifier = Self.places(old.map { $0.identifier })
    let newNames = Set(new.map { $0.name })
    let kept = Set(new.filter { $0.identifier == nil }.map { $0.name })
    oldPlaces = Array(repeating: nil, count: new.count)
    var taken: Set<Int> = []
    // An identifier may be left over from a version before the old one: then the name is the same in both.
    match(new, &taken) { thing in
      byName[thing.name].flatMap { thing.identifier != nil && old[$0].identifier == thing.identifier ? $0 : nil }
    }
    // Otherwise the identifier is the name in the old version, unless the item with this name keeps it, and another
    // item with this identifier is gone.
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

  /// Assigns the old item at `place` to each new item that has none yet, unless another new item has it.
  private mutating func match(_ new: [Thing], _ taken: inout Set<Int>, place: (Thing) -> Int?) {
    for (index, thing) in new.enumerated() where oldPlaces[index] == nil {
      oldPlaces[index] = place(thing).flatMap { taken.insert($0).inserted ? $0 : nil }
    }
  }

  /// Returns the indexes of texts. If a text is repeated, the first index counts.
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
  /// The kind of a change. The raw value is a stable name for programs.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// Only the new version has it.
    case added
    /// Only the old version has it.
    case removed
    /// It has another name, which its renaming identifier shows.
    case renamed
    /// Another part of its description differs.
    case changed
  }

  /// The kind of the change.
  public let kind: Kind
  /// The changed item, by the names of the new version, or of the old version if it was removed: `ToDo`, `ToDo.memo`,
  /// `configuration Cloud`.
  public let path: String
  /// The difference, for people: `optional: no → yes`.
  public let detail: String
  /// Why the change prevents an inferred migration; nil if it does not.
  public let obstacle: String?
  /// Whether the change affects the version hash of an entity, so that stores must be migrated.
  public let changesStores: Bool

  init(_ kind: Kind, _ path: String, _ detail: String, obstacle: String? = nil, changesStores: Bool = true) {
    self.kind = kind
    self.path = path
    self.detail = detail
    self.obstacle = obstacle
    self.changesStores = changesStores
  }

  /// Whether the change is about a property, and not about a whole entity or a configuration.
  package var isOfProperty: Bool { path.contains(".") }

  /// The change in one line.
  public var description: String {
    detail.isEmpty ? "\(kind.rawValue) \(path)" : "\(kind.rawValue) \(path): \(detail)"
  }
}
