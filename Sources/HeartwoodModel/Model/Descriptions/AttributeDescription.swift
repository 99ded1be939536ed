/// The description of an attribute: what an entity's objects keep under a name.
public struct AttributeDescription: Sendable, Hashable {
  /// The name, unique in the entity.
  public var name: String
  /// What kind of values it has.
  public var type: AttributeType
  /// Whether an object may be saved without a value.
  public var isOptional: Bool
  /// Whether the value lives in memory only and no store keeps it.
  public var isTransient: Bool
  /// The value of a new object. It fits ``type``.
  public var defaultValue: PropertyValue
  /// What values have to keep to beyond their type, before they may be saved.
  public var rules: AttributeRules
  /// What the value is computed from when an object is saved; nil for an attribute that is set.
  public var derivationExpression: FetchExpression?
  /// Whether a store may keep large data in files beside its own.
  public var allowsExternalBinaryDataStorage: Bool
  /// Whether the value is kept in the tombstone of a deleted object.
  public var preservesValueInHistoryOnDeletion: Bool
  /// The registered name of the transformer of a transformable attribute.
  public var valueTransformerName: String?
  /// The class of the values of an attribute that is transformable or has no type, where the model names one.
  public var attributeValueClassName: String?
  /// The name that the attribute had in the version of the model before this one, where it was renamed.
  public var renamingIdentifier: String?
  /// A text that changes the version hash, for a change that the description does not show.
  public var versionHashModifier: String?
  /// The author's own notes, by key.
  public var userInfo: [String: String]

  /// An attribute that is not checked yet: a ``ManagedObjectModel`` does that.
  public init(
    name: String,
    type: AttributeType,
    isOptional: Bool = true,
    isTransient: Bool = false,
    defaultValue: PropertyValue = .null,
    rules: AttributeRules = AttributeRules(),
    derivationExpression: FetchExpression? = nil,
    allowsExternalBinaryDataStorage: Bool = false,
    preservesValueInHistoryOnDeletion: Bool = false,
    valueTransformerName: String? = nil,
    attributeValueClassName: String? = nil,
    renamingIdentifier: String? = nil,
    versionHashModifier: String? = nil,
    userInfo: [String: String] = [:]
  ) {
    self.name = name
    self.type = type
    self.isOptional = isOptional
    self.isTransient = isTransient
    self.defaultValue = defaultValue
    self.rules = rules
    self.derivationExpression = derivationExpression
    self.allowsExternalBinaryDataStorage = allowsExternalBinaryDataStorage
    self.preservesValueInHistoryOnDeletion = preservesValueInHistoryOnDeletion
    self.valueTransformerName = valueTransformerName
    self.attributeValueClassName = attributeValueClassName
    self.renamingIdentifier = renamingIdentifier
    self.versionHashModifier = versionHashModifier
    self.userInfo = userInfo
  }
}

// MARK: CompositeAttributeDescription

/// An attribute that is made of several: an address of a street and a city.
///
/// The parts are attributes of the entity by themselves, so that every store keeps them, and predicates and indexes reach them: the part
/// `city` of `address` is the attribute `address_city`.
public struct CompositeAttributeDescription: Sendable, Hashable {
  /// One part.
  public struct Element: Sendable, Hashable, Codable {
    private enum CodingKeys: String, CodingKey {
      case name
      case attributeName = "attribute"
    }

    /// The name in the composite: `city`, or `place.city` for a part of a part.
    public var name: String
    /// The name of the attribute of the entity.
    public var attributeName: String

    /// A part that is not checked yet: a ``ManagedObjectModel`` does that.
    public init(name: String, attributeName: String) {
      self.name = name
      self.attributeName = attributeName
    }
  }

  /// The name of the whole, unique in the entity.
  public var name: String
  /// The name of the composite, which several attributes may have.
  public var compositeName: String
  /// The parts, in declared order.
  public var elements: [Element]
  /// The author's own notes, by key.
  public var userInfo: [String: String]

  /// A composite attribute that is not checked yet: a ``ManagedObjectModel`` does that.
  public init(name: String, compositeName: String, elements: [Element], userInfo: [String: String] = [:]) {
    self.name = name
    self.compositeName = compositeName
    self.elements = elements
    self.userInfo = userInfo
  }
}
