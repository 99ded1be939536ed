import HeartwoodModel
import HeartwoodStore

/// What was made of what, by ids: the objects themselves are gone from memory when a pass of a migration is done.
struct MigrationAssociations {
  /// By the name of the mapping.
  private var made: [String: [ManagedObjectID]] = [:]
  private var destinations: [String: [ManagedObjectID: [ManagedObjectID]]] = [:]
  private var sources: [String: [ManagedObjectID: [ManagedObjectID]]] = [:]
  /// How many old objects each mapping has taken, by its name.
  private var takenCounts: [String: Int] = [:]
  /// The old objects that mappings with filter predicates have taken, by entity.
  private var filtered: [String: Set<ManagedObjectID>] = [:]
  /// What the store called the old object of which each new one was made first.
  private(set) var origins: [ManagedObjectID: ReferenceID] = [:]

  /// Notes that `mapping` has made a new object of old ones. All ids are permanent.
  mutating func add(_ destination: ManagedObjectID, madeOf sources: [ManagedObjectID], by mapping: String) {
    made[mapping, default: []].append(destination)
    self.sources[mapping, default: [:]][destination, default: []] += sources
    for source in sources { destinations[mapping, default: [:]][source, default: []].append(destination) }
    if origins[destination] == nil { origins[destination] = sources.first?.reference }
  }

  /// Notes that `mapping` has taken old objects, whatever it has made of them.
  mutating func addTaken(_ objects: [ManagedObject], by mapping: EntityMapping) {
    takenCounts[mapping.name, default: 0] += objects.count
    guard mapping.sourcePredicate != nil, let entity = mapping.sourceEntityName else { return }
    filtered[entity, default: []].formUnion(objects.lazy.map(\.objectID))
  }

  /// How many old objects of an entity itself have been taken by mappings with filter predicates.
  func takenCount(_ entity: EntityDescription) -> Int { filtered[entity.name]?.count ?? 0 }

  /// How many records a mapping has taken and made, where the tables do not tell it: others may take of the same entity, and make the same.
  func counts(of mapping: EntityMapping, in mappingModel: MappingModel) -> MigrationReport.Counts {
    let makers = mappingModel.entityMappings.count { $0.destinationEntityName == mapping.destinationEntityName }
    return .init(
      taken: takenCounts[mapping.name],
      made: makers > 1 && mapping.destinationEntityName != nil ? made(by: mapping.name).count : nil
    )
  }

  /// The names of all mappings that have made something, in alphabetical order.
  var mappingNames: [String] { made.keys.sorted() }

  /// All that a mapping has made, in order.
  func made(by mapping: String) -> [ManagedObjectID] { made[mapping] ?? [] }

  /// What a mapping has made of an old object.
  func destinations(of source: ManagedObjectID, by mapping: String) -> [ManagedObjectID] {
    destinations[mapping]?[source] ?? []
  }

  /// What a mapping has made a new object of.
  func sources(of destination: ManagedObjectID, by mapping: String) -> [ManagedObjectID] {
    sources[mapping]?[destination] ?? []
  }
}
