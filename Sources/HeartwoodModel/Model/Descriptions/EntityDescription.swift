public import HeartwoodFoundation
import Synchronization

/// An entity of a model, with its own and its inherited properties.
///
/// A ``ManagedObjectModel`` makes it of an ``EntityDefinition``. It is immutable.
///
/// Each property has an ordinal, its index in ``properties``: first the inherited properties, then the entity's own,
/// each in declared order. So a property has the same ordinal in an entity and in all its subentities:
///
///     let ordinal = entity.ordinal(ofProperty: "title")
///     let title = entity.property(named: "title")?.attribute
public final class EntityDescription: Sendable {
  /// The definition that the entity was made of.
  public let definition: EntityDefinition
  /// The index of the entity in ``ManagedObjectModel/entities``.
  public let ordinal: Int
  /// The entity that this one inherits from; nil if it has none.
  public let superentity: EntityDescription?
  /// The ordinals of the entities that inherit from this one, at any depth.
  public let subentityOrdinals: [Int]
  /// All properties, indexed by ordinal.
  public let properties: [PropertyDescription]
  /// The stored attributes that have rules for their values, in the order of their ordinals.
  package let ruledAttributes: [RuledAttribute]
  /// The destination of each relationship, indexed by the ordinal of the property; nil for attributes.
  public let relationshipTargets: [RelationshipTarget?]
  /// What reading, writing and checking values need of each property, indexed by ordinal.
  package let traits: [PropertyTrait]
  /// The inherited and the entity's own uniqueness constraints, each a list of attribute ordinals. Constraints that
  /// cannot be enforced (``EntityDefinition/hasUnenforcedConstraints``) are left out.
  public let uniquenessConstraints: [[Int]]
  /// The indexes by which atomic stores find objects, the inherited ones first.
  package var fetchIndexPlans: [FetchIndexPlan] { indexPlans.withLock { $0 } }
  private let indexPlans = Mutex<[FetchIndexPlan]>([])
  /// The SHA-256 hash by which Core Data recognizes whether a store was written with the same entity.
  public let versionHash: Data
  /// A number that no other description in this process has. Caches of ordinals compare it to see whether they are
  /// still valid.
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
  /// Plans the fetch indexes. It is called when all entities of the model are made.
  func prepareIndexes(in model: ManagedObjectModel) {
    let plans = fetchIndexes.compactMap { FetchIndexPlan($0, of: self, in: model) }
    indexPlans.withLock { $0 = plans }
  }
}

/// The destination of a relationship, as ordinals.
public struct RelationshipTarget: Sendable, Hashable {
  /// The ordinal of the destination entity in the model.
  public let entityOrdinal: Int
  /// The ordinal of the inverse relationship in the destination entity and its subentities; nil if there is no inverse.
  public let inverseOrdinal: Int?
}

extension EntityDescription {
  /// The name, unique in the model.
  public var name: String { definition.name }
  /// Whether objects belong to subentities only, and never to this entity itself.
  public var isAbstract: Bool { definition.isAbstract }
  /// The Swift class of the entity's objects; nil if the model names none.
  public var managedObjectClassName: String? { definition.managedObjectClassName }
  /// The author's own notes, by key.
  public var userInfo: [String: String] { definition.userInfo }
  /// The name of the entity in the previous version of the model, if it was renamed.
  public var renamingIdentifier: String? { definition.renamingIdentifier }
  /// A text that changes the version hash, for a change that is not visible in the definition.
  public var versionHashModifier: String? { definition.versionHashModifier }

  /// Returns the ordinal of the property with this name, own or inherited, or nil if there is none. O(1).
  public func ordinal(ofProperty name: String) -> Int? { ordinalsByName[name] }

  /// Returns the property with this name, own or inherited, or nil if there is none. O(1).
  public func property(named name: String) -> PropertyDescription? {
    ordinalsByName[name].map { properties[$0] }
  }

  /// All attributes, the inherited ones first. Each access makes a new array: O(n).
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

  /// All relationships, the inherited ones first. Each access makes a new array: O(n).
  public var relationships: [RelationshipDescription] { properties.compactMap(\.relationship) }

  /// All properties by name, including the inherited ones. Each access makes a new dictionary: O(n).
  public var propertiesByName: [String: PropertyDescription] { ordinalsByName.mapValues { properties[$0] } }

  /// Whether the entity has derived attributes, including inherited ones. O(properties).
  public var hasDerivedAttributes: Bool { properties.contains { $0.attribute?.derivationExpression != nil } }

  /// All attributes by name, including the inherited ones. Each access makes a new dictionary: O(n).
  public var attributesByName: [String: AttributeDescription] { propertiesByName.compactMapValues(\.attribute) }

  /// All relationships by name, including the inherited ones. Each access makes a new dictionary: O(n).
  public var relationshipsByName: [String: RelationshipDescription] {
    propertiesByName.compactMapValues(\.relationship)
  }

  /// Returns whether this entity is `other` or one of its subentities. Entities are compared by name, so that `other`
  /// may be of another instance of the model. O(number of ancestors).
  public func isKind(of other: EntityDescription) -> Bool {
    var entity: EntityDescription? = self
    while let current = entity {
      if current === other || current.name == other.name { return true }
      entity = current.superentity
    }
    return false
  }

  /// The topmost entity that this one inherits from; the entity itself if it has no superentity.
  public var rootEntity: EntityDescription {
    var entity = self
    while let parent = entity.superentity { entity = parent }
    return entity
  }
}

extension EntityDescription: CustomStringConvertible {
  /// The word “entity” and the name.
  public var description: String { "entity \(name)" }
}
