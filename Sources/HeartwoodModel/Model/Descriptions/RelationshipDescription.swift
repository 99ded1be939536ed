/// The description of a relationship from an entity's objects to those of another entity, or of the same.
///
///     let items = RelationshipDescription(
///       name: "items",
///       destinationEntityName: "ToDo",
///       inverseRelationshipName: "list",
///       isToMany: true,
///       deleteRule: .cascade
///     )
///
/// ``PropertyDescription`` has a shorter form for models written in code:
/// ``PropertyDescription/toMany(_:_:inverse:ordered:optional:count:deleteRule:renamedFrom:userInfo:)``.
public struct RelationshipDescription: Sendable, Hashable {
  /// The name, unique in the entity.
  public var name: String
  /// The name of the destination entity.
  public var destinationEntityName: String
  /// The name of the inverse relationship in the destination entity; nil if there is none.
  public var inverseRelationshipName: String?
  /// Whether the inverse names another inverse than this relationship, so that only its name is used, for the version
  /// hash.
  ///
  /// Xcode warns of such models, but stores have been written with them. An object graph handles the relationship as
  /// one without an inverse. If this is false, a model with such a relationship has a fault.
  public var hasOneSidedInverse: Bool
  /// Whether the relationship has any number of objects, and not at most one.
  public var isToMany: Bool
  /// Whether the objects of a to-many relationship have an order that stores keep. Some models made by Xcode also set
  /// this for a to-one relationship. There it is part of the version hash and has no other meaning.
  public var isOrdered: Bool
  /// Whether an object may be saved while the relationship is empty. A to-many relationship that is not optional may
  /// still be empty if ``minCount`` is 0.
  public var isOptional: Bool
  /// Whether the relationship exists in memory only, and no store keeps it.
  public var isTransient: Bool
  /// What happens to the objects at the other end of the relationship when an object is deleted.
  public var deleteRule: DeleteRule
  /// The least number of objects in a to-many relationship; 0 means no limit. An optional relationship may be empty
  /// even if this is greater.
  public var minCount: Int
  /// The greatest number of objects in a to-many relationship, at least 2; 0 means no limit. A relationship to at most
  /// one object is a to-one relationship, with the count 1: the count is all by which version hashes distinguish the
  /// two.
  public var maxCount: Int
  /// The name of the relationship in the previous version of the model, if it was renamed.
  public var renamingIdentifier: String?
  /// A text that changes the version hash, for a change that is not visible in the description.
  public var versionHashModifier: String?
  /// The author's own notes, by key.
  public var userInfo: [String: String]

  /// Makes a description without validating it; a ``ManagedObjectModel`` reports its faults.
  ///
  /// - Parameter maxCount: nil means any number for a to-many relationship, and 1 for a to-one relationship.
  public init(
    name: String,
    destinationEntityName: String,
    inverseRelationshipName: String? = nil,
    hasOneSidedInverse: Bool = false,
    isToMany: Bool = false,
    isOrdered: Bool = false,
    isOptional: Bool = true,
    isTransient: Bool = false,
    deleteRule: DeleteRule = .nullify,
    minCount: Int = 0,
    maxCount: Int? = nil,
    renamingIdentifier: String? = nil,
    versionHashModifier: String? = nil,
    userInfo: [String: String] = [:]
  ) {
    self.name = name
    self.destinationEntityName = destinationEntityName
    self.inverseRelationshipName = inverseRelationshipName
    self.hasOneSidedInverse = hasOneSidedInverse
    self.isToMany = isToMany
    self.isOrdered = isOrdered
    self.isOptional = isOptional
    self.isTransient = isTransient
    self.deleteRule = deleteRule
    self.minCount = minCount
    self.maxCount = maxCount ?? (isToMany ? 0 : 1)
    self.renamingIdentifier = renamingIdentifier
    self.versionHashModifier = versionHashModifier
    self.userInfo = userInfo
  }
}

extension RelationshipDescription {
  /// Whether an object may be saved while the relationship is empty.
  ///
  /// A required to-many relationship needs objects only if its least count is above 0: an empty set is a value, and
  /// `nil` is not.
  package var mayBeEmpty: Bool { isOptional || (isToMany && minCount == 0) }
}

/// What happens to the objects at the other end of a relationship when an object is deleted.
public enum DeleteRule: String, Sendable, Hashable, CaseIterable, Codable {
  /// Nothing happens: their inverse relationships still name the deleted object, and the application must repair them.
  case noAction
  /// The object is removed from their inverse relationships.
  case nullify
  /// They are deleted too.
  case cascade
  /// The object cannot be deleted while the relationship has objects.
  case deny
}
