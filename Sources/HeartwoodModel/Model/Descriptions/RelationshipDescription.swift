/// The description of a relationship: how an entity's objects lead to those of another, or of the same.
public struct RelationshipDescription: Sendable, Hashable {
  /// The name, unique in the entity.
  public var name: String
  /// The name of the entity that the relationship leads to.
  public var destinationEntityName: String
  /// The name of the relationship that leads back, where there is one.
  public var inverseRelationshipName: String?
  /// Whether the inverse has another inverse than this relationship, and so only its name counts, for the version hash.
  ///
  /// Xcode warns of such models, but stores have been written with them. An object graph treats the relationship as one
  /// without an inverse. Without this flag, a model with such a relationship has a fault.
  public var hasOneSidedInverse: Bool
  /// Whether the relationship leads to any number of objects, and not to one at most.
  public var isToMany: Bool
  /// Whether the objects of a to-many relationship have an order that is kept. Some models of Xcode's say so of a to-one relationship,
  /// too, where it enters the version hash and means nothing else.
  public var isOrdered: Bool
  /// Whether an object may be saved while the relationship is empty. A to-many relationship that is not optional may be empty nevertheless
  /// if its least count, ``minCount``, is 0.
  public var isOptional: Bool
  /// Whether the relationship lives in memory only and no store keeps it.
  public var isTransient: Bool
  /// What happens to the objects at the other end when an object is deleted.
  public var deleteRule: DeleteRule
  /// The least number of objects in a to-many relationship; 0 means any number, none included. If the relationship is optional, it may be
  /// empty nevertheless.
  public var minCount: Int
  /// The greatest number of objects that a to-many relationship leads to, from 2 on; 0 means any number. What leads to one object at
  /// most is a to-one relationship, with the count 1: version hashes tell both by nothing else.
  public var maxCount: Int
  /// The name that the relationship had in the version of the model before this one, where it was renamed.
  public var renamingIdentifier: String?
  /// A text that changes the version hash, for a change that the description does not show.
  public var versionHashModifier: String?
  /// The author's own notes, by key.
  public var userInfo: [String: String]

  /// A relationship that is not checked yet: a ``ManagedObjectModel`` does that.
  ///
  /// - Parameter maxCount: nil means any number for a to-many relationship, and 1 for a to-one.
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
  /// A required to-many relationship needs objects only if a least count asks for some: an empty set is a value, and `nil` is none.
  package var mayBeEmpty: Bool { isOptional || (isToMany && minCount == 0) }
}

/// What happens to the objects at the other end of a relationship when an object is deleted.
public enum DeleteRule: String, Sendable, Hashable, CaseIterable, Codable {
  /// Nothing: their inverse relationships go on naming the deleted object, which is for the application to mend.
  case noAction
  /// Their inverse relationships forget the object.
  case nullify
  /// They are deleted too.
  case cascade
  /// The object cannot be deleted while the relationship leads anywhere.
  case deny
}
