public import HeartwoodModel

/// What a kind of store can do. The framework refuses what a store lacks with a typed error before anything is written, and the
/// conformance kit asserts both: what is declared works, what is not declared is refused.
public struct StoreCapabilities: Sendable, Hashable {
  /// How the store keeps its records.
  public enum Kind: String, Sendable, Hashable {
    /// The whole file is loaded and saved.
    case atomic
    /// Records are fetched and saved piecemeal.
    case incremental
  }

  /// A kind of name that a store can give to its records.
  public enum ReferenceKind: String, Sendable, Hashable, CaseIterable {
    case integer
    case uuid
    case string
  }

  /// How the store keeps its records.
  public var kind: Kind
  /// Whether the store has a file that outlives the process.
  public var isPersistent: Bool
  /// The greatest number of entities that one store keeps, or nil for any number.
  public var maximumEntityCount: Int?
  /// The attribute types whose every value comes back as it was saved.
  public var attributeTypes: Set<AttributeType>
  /// Whether records can lead to each other.
  public var supportsRelationships: Bool
  /// The kinds of references that records may have, the one that new records get first.
  public var referenceKinds: [ReferenceKind]
  /// Whether the store keeps metadata other than its identifier.
  public var supportsUserMetadata: Bool
  /// Whether a store's file names its model, so that it opens without one.
  public var embedsModel: Bool
  /// Whether the store keeps its history: ``StoreContents/history``.
  public var supportsHistory: Bool

  /// There are no defaults: the author of a store answers every question.
  public init(
    kind: Kind,
    isPersistent: Bool,
    maximumEntityCount: Int?,
    attributeTypes: Set<AttributeType>,
    supportsRelationships: Bool,
    referenceKinds: [ReferenceKind],
    supportsUserMetadata: Bool,
    embedsModel: Bool,
    supportsHistory: Bool
  ) {
    self.kind = kind
    self.isPersistent = isPersistent
    self.maximumEntityCount = maximumEntityCount
    self.attributeTypes = attributeTypes
    self.supportsRelationships = supportsRelationships
    self.referenceKinds = referenceKinds
    self.supportsUserMetadata = supportsUserMetadata
    self.embedsModel = embedsModel
    self.supportsHistory = supportsHistory
  }
}

extension ReferenceID {
  /// What kind of name it is.
  public var kind: StoreCapabilities.ReferenceKind {
    switch self {
    case .integer: .integer
    case .uuid: .uuid
    case .string: .string
    }
  }
}
