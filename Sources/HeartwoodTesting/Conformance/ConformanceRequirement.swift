public import Heartwood

/// Something that a behaviour needs and a store may declare that it lacks.
public enum ConformanceRequirement: Sendable, Hashable {
  /// A file that outlives the process.
  case file
  /// Attributes of a type.
  case attributes(AttributeType)
  /// Attributes of a type whose values have an order.
  case orderedAttributes
  /// Records that are called by a kind of name.
  case references(StoreCapabilities.ReferenceKind)
  /// Records that lead to each other.
  case relationships
  /// A number of entities, abstract ones not counted.
  case entities(Int)
  /// A place for the user's metadata.
  case userMetadata
  /// The model in the file.
  case embeddedModel
  /// The version of the model in the file.
  case modelVersion
  /// The saves of the store.
  case history
}

extension ConformanceRequirement {
  /// Whether the store has declared that it has this.
  func isMet(by conformance: StoreConformance) -> Bool {
    let capabilities = conformance.capabilities
    return switch self {
    case .file: capabilities.isPersistent
    case .attributes(let type): capabilities.attributeTypes.contains(type)
    case .orderedAttributes: !capabilities.attributeTypes.isDisjoint(with: PlainOrder.orderedTypes)
    case .references(let kind): capabilities.referenceKinds.contains(kind)
    case .relationships: capabilities.supportsRelationships
    case .entities(let count): count <= capabilities.maximumEntityCount ?? .max
    case .userMetadata: capabilities.supportsUserMetadata
    case .embeddedModel: capabilities.embedsModel
    case .modelVersion: conformance.tellsModelVersion
    case .history: capabilities.supportsHistory
    }
  }
}

extension ConformanceRequirement: CustomStringConvertible {
  /// What is needed, in words.
  public var description: String {
    switch self {
    case .file: "a file"
    case .attributes(let type): "attributes of type \(type.rawValue)"
    case .orderedAttributes: "attributes whose values have an order"
    case .references(let kind): "references of kind \(kind.rawValue)"
    case .relationships: "relationships"
    case .entities(let count): "\(count) entities"
    case .userMetadata: "metadata of the user"
    case .embeddedModel: "the model in the file"
    case .modelVersion: "the version of the model in the file"
    case .history: "a history"
    }
  }
}
