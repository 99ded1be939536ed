public import HeartwoodFoundation
import Synchronization

/// An entity of a model: what its objects are called and which properties they have, the inherited ones included.
///
/// It is made by a ``ManagedObjectModel`` from an ``EntityDefinition``, and never changes.
///
/// Properties have ordinals: the inherited ones first, then the entity's own, each in declared order. So a property has the
/// same ordinal in an entity and in all its subentities.
public final class EntityDescription: Sendable {
  /// The entity as its author wrote it down.
  public let definition: EntityDefinition
  /// The place of the entity in ``ManagedObjectModel/entities``.
  public let ordinal: Int
  /// The entity that this one inherits from, or nil for a root.
  public let superentity: EntityDescription?
  /// The ordinals of the entities that inherit from this one, at any depth.
  public let subentityOrdinals: [Int]
  /// All properties, indexed by ordinal: the inherited ones first.
  public let properties: [PropertyDescription]
  /// The stored attributes whose values have rules, in the order of their ordinals.
  package let ruledAttributes: [RuledAttribute]
  /// Where each relationship leads, indexed by ordinal; nil for attributes.
  public let relationshipTargets: [RelationshipTarget?]
  /// What values must keep to, indexed by ordinal.
  package let traits: [PropertyTrait]
  /// The entity's own uniqueness constraints and the inherited ones, each a list of attribute ordinals. Those that cannot be enforced
  /// (``EntityDefinition/hasUnenforcedConstraints``) are not among them.
  public let uniquenessConstraints: [[Int]]
  /// The indexes by which atomic stores find objects, the inherited ones first.
  package var fetchIndexPlans: [FetchIndexPlan] { indexPlans.withLock { $0 } }
  private let indexPlans = Mutex<[FetchIndexPlan]>([])
  /// The SHA-256 hash by which Core Data tells whether a store was written with the same entity.
  public let versionHash: Data
  /// A number that no other description in this process has, by which caches of ordinals know that they hold.
  package let serialNumber: UInt32
  private let ordinalsByName: [String: Int]
  private static let lastSerialNumber = Atomic<UInt32>(0)

  init(
    definition: EntityDefinition,
    ordinal: Int,
    superentity: EntityDescription?,
    subentityOrdinals: [Int],
    properties: [PropertyDescription],
    ruledAttributes: [RuledAttribute],
    relationshipTargets: [RelationshipTarget?],
    versionHash: Data
  ) {
    self.definition = definition
    self.ordinal = ordinal
    self.superentity = superentity
    self.subentityOrdinals = subentityOrdinals
    self.properties = properties
    self.ruledAttributes = ruledAttributes
    self.relationshipTargets = relationshipTargets
    self.traits = zip(properties, relationshipTargets).map { PropertyTrait($0, target: $1) }
    self.versionHash = versionHash
    self.serialNumber = Self.lastSerialNumber.wrappingAdd(1, ordering: .relaxed).newValue
    let ordinals = Dictionary(
      properties.enumerated().map { ($0.element.name, $0.offset) },
      uniquingKeysWith: { first, _ in first }
    )
    self.ordinalsByName = ordinals
    self.uniquenessConstraints =
      (superentity?.uniquenessConstraints ?? [])
      + definition.uniquenessConstraints.map { names in names.compactMap { ordinals[$0] } }
      .filter { $0.allSatisfy { properties[$0].attribute?.isTransient == false } }
  }
}

extension EntityDescription {
  /// Makes the indexes ready, once the model is complete.
  func prepareIndexes(in model: ManagedObjectModel) {
    let plans = fetchIndexes.compactMap { FetchIndexPlan($0, of: self, in: model) }
    indexPlans.withLock { $0 = plans }
  }
}

/// Where a relationship leads.
public struct RelationshipTarget: Sendable, Hashable {
  /// The ordinal of the destination entity in the model.
  public let entityOrdinal: Int
  /// The ordinal of the inverse relationship in the destination entity and its subentities, where there is an inverse.
  public let inverseOrdinal: Int?
}

extension EntityDescription {
  /// The name, unique in the model.
  public var name: String { definition.name }
  /// Whether there are no objects of this entity itself, but only of its subentities.
  public var isAbstract: Bool { definition.isAbstract }
  /// The Swift class of the entity's objects, where the model names one.
  public var managedObjectClassName: String? { definition.managedObjectClassName }
  /// The author's own notes, by key.
  public var userInfo: [String: String] { definition.userInfo }
  /// The name that the entity had in the version of the model before this one, where it was renamed.
  public var renamingIdentifier: String? { definition.renamingIdentifier }
  /// A text that changes the version hash, for a change that the description does not show.
  public var versionHashModifier: String? { definition.versionHashModifier }

  /// The ordinal of the property called `name`, or nil where there is none. O(1).
  public func ordinal(ofProperty name: String) -> Int? { ordinalsByName[name] }

  /// The property called `name`, or nil where there is none. O(1).
  public func property(named name: String) -> PropertyDescription? {
    ordinalsByName[name].map { properties[$0] }
  }

  /// All attributes, the inherited ones first.
  public var attributes: [AttributeDescription] { properties.compactMap(\.attribute) }

  /// All fetched properties, the inherited ones first.
  public var fetchedProperties: [FetchedPropertyDescription] {
    (superentity?.fetchedProperties ?? []) + definition.fetchedProperties
  }

  /// All fetch indexes, the inherited ones first.
  public var fetchIndexes: [FetchIndexDescription] { (superentity?.fetchIndexes ?? []) + definition.fetchIndexes }

  /// All composite attributes, the inherited ones first.
  public var compositeAttributes: [CompositeAttributeDescription] {
    (superentity?.compositeAttributes ?? []) + definition.compositeAttributes
  }

  /// All relationships, the inherited ones first.
  public var relationships: [RelationshipDescription] { properties.compactMap(\.relationship) }

  /// All properties, the inherited ones included. Made anew at each call: O(n).
  public var propertiesByName: [String: PropertyDescription] { ordinalsByName.mapValues { properties[$0] } }

  /// Whether the entity has derived attributes, inherited ones included. O(properties).
  package var hasDerivedAttributes: Bool { properties.contains { $0.attribute?.derivationExpression != nil } }

  /// All attributes, the inherited ones included. Made anew at each call: O(n).
  public var attributesByName: [String: AttributeDescription] { propertiesByName.compactMapValues(\.attribute) }

  /// All relationships, the inherited ones included. Made anew at each call: O(n).
  public var relationshipsByName: [String: RelationshipDescription] {
    propertiesByName.compactMapValues(\.relationship)
  }

  /// Whether this is `other` or one of its subentities.
  public func isKind(of other: EntityDescription) -> Bool {
    var entity: EntityDescription? = self
    while let current = entity {
      if current === other || current.name == other.name { return true }
      entity = current.superentity
    }
    return false
  }

  /// The topmost entity that this one inherits from, or itself.
  public var rootEntity: EntityDescription {
    var entity = self
    while let parent = entity.superentity { entity = parent }
    return entity
  }
}

extension EntityDescription: CustomStringConvertible {
  /// The word entity and the name.
  public var description: String { "entity \(name)" }
}
