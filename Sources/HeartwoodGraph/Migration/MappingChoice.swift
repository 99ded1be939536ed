import HeartwoodModel
import HeartwoodStore

/// The given mapping model that leads from one version to another.
struct MappingChoice {
  /// The one that is taken; nil where none leads.
  let mapping: MappingModel?
  /// How many lead, where none of them is to be preferred.
  private let rivalCount: Int

  /// Of several that lead, the first that tells the versions of all its entities is preferred.
  init(_ mappings: [MappingModel], from source: ManagedObjectModel, to destination: ManagedObjectModel) {
    let leading = mappings.filter { $0.leads(from: source, to: destination) }
    let preferred = leading.first(where: \.tellsVersions)
    mapping = preferred ?? leading.first
    rivalCount = preferred == nil ? Set(leading).count : 1
  }

  /// - Throws: ``PersistenceError/Code/mappingModelUnusable`` where several lead and nothing tells which is meant.
  func check() throws(PersistenceError) {
    guard rivalCount > 1 else { return }
    let names = mapping?.entityMappings.map(\.name).joined(separator: ", ") ?? ""
    throw PersistenceError(
      .mappingModelUnusable,
      "\(rivalCount) of the given mapping models could lead from one version to the other, and nothing tells "
        + "which does; the first has the mappings \(names).",
      recovery: "Give their entity mappings version hashes (sourceEntityVersionHash, destinationEntityVersionHash)."
    )
  }
}

extension MappingModel {
  /// Whether it leads between the versions of its entities alone that it was written for.
  fileprivate var tellsVersions: Bool {
    !entityMappings.isEmpty && entityMappings.allSatisfy(\.tellsVersions)
  }
}
