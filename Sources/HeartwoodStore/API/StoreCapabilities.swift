public import HeartwoodModel

/// What a kind of store can do. The framework refuses what a store lacks with a typed error before anything is written, and the
/// conformance kit asserts both: what is declared works, what is not declared is refused.
///
///     StoreCapabilities(
///       kind: .atomic,
///       features: [.persistence, .relationships],
///       attributeTypes: [.string, .integer64],
///       referenceKinds: [.integer]
///     )
///
/// A capability that a later version adds is a feature, or a property with a default, so that what a store declares today still
/// compiles and means the same.
public struct StoreCapabilities: Sendable, Hashable {
  /// How the store keeps its records.
  public var kind: Kind
  /// What the store can do beside keeping values.
  public var features: Features
  /// The attribute types whose every value comes back as it was saved.
  public var attributeTypes: Set<AttributeType>
  /// The kinds of references that records may have, the one that new records get first.
  public var referenceKinds: [ReferenceKind]
  /// The greatest number of entities that one store keeps, or nil for any number.
  public var maximumEntityCount: Int?

  /// Declares what a store can do.
  ///
  /// - Parameters:
  ///   - kind: how the store keeps its records.
  ///   - features: what it can do beside keeping values. What is left out is refused.
  ///   - attributeTypes: the attribute types whose every value comes back as it was saved.
  ///   - referenceKinds: the kinds of references that records may have, the one that new records get first.
  ///   - maximumEntityCount: the greatest number of entities that one store keeps, or nil for any number.
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

  /// Whether the store has all of `features`.
  public func supports(_ features: Features) -> Bool { self.features.isSuperset(of: features) }
}

extension StoreCapabilities {
  /// How a store keeps its records. There may be more kinds in later versions.
  public struct Kind: Sendable, Hashable {
    private enum Name: String {
      case atomic
      case incremental
    }

    private let name: Name

    /// The whole file is loaded and saved.
    public static let atomic = Kind(name: .atomic)
    /// Records are fetched and saved piecemeal.
    public static let incremental = Kind(name: .incremental)
  }

  /// A kind of name that a store can give to its records: one for each case of `ReferenceID`.
  public enum ReferenceKind: String, Sendable, Hashable, CaseIterable {
    case integer
    case uuid
    case string
  }

  /// What a store can do or not.
  public struct Features: OptionSet, Sendable, Hashable {
    /// The bits of the features.
    public let rawValue: Int

    /// Makes features of bits.
    public init(rawValue: Int) {
      self.rawValue = rawValue
    }

    /// The store has a file, or another place, that outlives the process.
    public static let persistence = Features(rawValue: 1)
    /// Records can refer to each other.
    public static let relationships = Features(rawValue: 2)
    /// The store keeps metadata other than its identifier.
    public static let userMetadata = Features(rawValue: 4)
    /// A store's file holds its model, so that it opens without one.
    public static let embeddedModel = Features(rawValue: 8)
    /// The store keeps its history: an atomic one as ``StoreContents/history``, an incremental one as a ``HistoryKeepingStore``.
    public static let history = Features(rawValue: 16)
  }
}

extension StoreCapabilities.Kind: CustomStringConvertible {
  /// The name of the kind.
  public var description: String { name.rawValue }
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
