public import HeartwoodModel

/// What a store type can do. The framework refuses what a store lacks with ``PersistenceError/Code/capabilityMissing``
/// before anything is written, and the conformance kit tests both: what is declared works, and what is not declared is
/// refused.
///
///     StoreCapabilities(
///       kind: .atomic,
///       features: [.persistence, .relationships],
///       attributeTypes: [.string, .integer64],
///       referenceKinds: [.integer]
///     )
///
/// The number of entities, the attribute types and the relationships are checked when a store is opened; the kinds of
/// references and the metadata of the application when it is saved.
///
/// A later version adds a capability as a feature, or as a property with a default, so a declaration still compiles
/// then and has the same meaning.
public struct StoreCapabilities: Sendable, Hashable {
  /// How the store keeps its records.
  public var kind: Kind
  /// What the store can do in addition to keeping values.
  public var features: Features
  /// The attribute types for which every value is read as it was saved.
  public var attributeTypes: Set<AttributeType>
  /// The kinds of references that records may have. New records get the first kind.
  public var referenceKinds: [ReferenceKind]
  /// The greatest number of entities that a store can keep; nil if there is no limit. Abstract entities do not count.
  public var maximumEntityCount: Int?

  /// Declares what a store can do.
  ///
  /// - Parameters:
  ///   - kind: how the store keeps its records.
  ///   - features: what the store can do in addition to keeping values. Everything else is refused.
  ///   - attributeTypes: the attribute types for which every value is read as it was saved.
  ///   - referenceKinds: the kinds of references that records may have. New records get the first kind.
  ///   - maximumEntityCount: the greatest number of entities that a store can keep; nil if there is no limit.
  public init(
    kind: Kind,
    features: Features,
    attributeTypes: Set<AttributeType>,
    referenceKinds: [ReferenceKind],
    maximumEntityCount: Int? = nil
  ) {
    self.kind = kind
    self.features = features
    self.attributeTypes = attributeTypes
    self.referenceKinds = referenceKinds
    self.maximumEntityCount = maximumEntityCount
  }

  /// Returns whether the store has all of `features`.
  public func supports(_ features: Features) -> Bool { self.features.isSuperset(of: features) }
}

extension StoreCapabilities {
  /// How a store keeps its records. Later versions may have more kinds.
  public struct Kind: Sendable, Hashable {
    private enum Name: String {
      case atomic
      case incremental
    }

    private let name: Name

    /// The store is loaded and saved as a whole file.
    public static let atomic = Kind(name: .atomic)
    /// The store reads and saves single records.
    public static let incremental = Kind(name: .incremental)
  }

  /// A kind of reference that a store can give to its records, one for each case of `ReferenceID`.
  public enum ReferenceKind: String, Sendable, Hashable, CaseIterable {
    case integer
    case uuid
    case string
  }

  /// Things that a store can do or not.
  public struct Features: OptionSet, Sendable, Hashable {
    /// The bits of the features.
    public let rawValue: Int

    /// Creates features from bits.
    public init(rawValue: Int) {
      self.rawValue = rawValue
    }

    /// The store has a file, or another place, that outlives the process. A store without it cannot be given a place.
    public static let persistence = Features(rawValue: 1)
    /// Records can refer to each other. A model with relationships is refused without it.
    public static let relationships = Features(rawValue: 2)
    /// The store keeps values of the application: ``StoreMetadata/userInfo``.
    public static let userMetadata = Features(rawValue: 4)
    /// A store's file contains its model, so that it can be opened without one.
    public static let embeddedModel = Features(rawValue: 8)
    /// The store keeps its history: an atomic store as ``StoreContents/history``, an incremental store as a
    /// ``HistoryKeepingStore``. Without it, a store cannot be opened with ``StoreOptionKey/tracksPersistentHistory``.
    public static let history = Features(rawValue: 16)
  }
}

extension StoreCapabilities.Kind: CustomStringConvertible {
  /// The name of the kind.
  public var description: String { name.rawValue }
}

extension ReferenceID {
  /// The kind of the reference.
  public var kind: StoreCapabilities.ReferenceKind {
    switch self {
    case .integer: .integer
    case .uuid: .uuid
    case .string: .string
    }
  }
}
