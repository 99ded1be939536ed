/// The description of an attribute: the name, the type and the rules of a value that objects keep.
///
///     let title = AttributeDescription(
///       name: "title",
///       type: .string,
///       isOptional: false,
///       rules: AttributeRules(maxLength: 200)
///     )
///
/// The initializer makes an optional attribute unless `isOptional` is false. The short form for models written in code,
/// ``PropertyDescription/attribute(_:_:optional:transient:default:rules:renamedFrom:userInfo:)``, makes a required one.
public struct AttributeDescription: Sendable, Hashable {
  /// The name, unique in the entity.
  public var name: String
  /// The type of the values.
  public var type: AttributeType
  /// Whether an object may be saved while the attribute has no value.
  public var isOptional: Bool
  /// Whether the value exists in memory only, and no store keeps it.
  public var isTransient: Bool
  /// The value in a new object. A ``ManagedObjectModel`` requires that it fits ``type``.
  public var defaultValue: PropertyValue
  /// The rules that a value must meet, in addition to its type, before an object is saved.
  public var rules: AttributeRules
  /// The expression from which a save computes the value; nil if the value is set.
  public var derivationExpression: FetchExpression?
  /// Whether a store may keep large data in separate files.
  public var allowsExternalBinaryDataStorage: Bool
  /// Whether the tombstone of a deleted object keeps the value.
  public var preservesValueInHistoryOnDeletion: Bool
  /// The registered name of the transformer of a transformable attribute.
  public var valueTransformerName: String?
  /// The class of the values, for an attribute that is transformable or has no type; nil if the model names none.
  public var attributeValueClassName: String?
  /// The name of the attribute in the previous version of the model, if it was renamed.
  public var renamingIdentifier: String?
  /// A text that changes the version hash, for a change that is not visible in the description.
  public var versionHashModifier: String?
  /// The author's own notes, by key.
  public var userInfo: [String: String]

  /// Makes a description without validating it; a ``ManagedObjectModel`` reports its faults.
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

/// An attribute that consists of several attributes, such as an address with a street and a city.
///
/// Each part is an attribute of the entity, so that every store keeps it and predicates and indexes can use it: the
/// part `city` of `address` is the attribute `address_city`.
public struct CompositeAttributeDescription: Sendable, Hashable {
  /// One part of a composite attribute.
  public struct Element: Sendable, Hashable, Codable {
    private enum CodingKeys: String, CodingKey {
      case name
      case attributeName = "attribute"
    }

    /// The name within the composite attribute: `city`, or `place.city` for a part of a part.
    public var name: String
    /// The name of the entity's attribute that keeps the value.
    public var attributeName: String

    /// Makes an element without validating it; a ``ManagedObjectModel`` reports its faults.
    public init(name: String, attributeName: String) {
      self.name = name
      self.attributeName = attributeName
    }

    /// Decodes an element as described in `Formats/Model/README.md`.
    public init(from decoder: any Decoder) throws {
      let container = try decoder.members(of: CodingKeys.self)
      name = try container.decode(String.self, forKey: .name)
      attributeName = try container.decode(String.self, forKey: .attributeName)
    }
  }

  /// The name of the composite attribute, unique in the entity.
  public var name: String
  /// The name of the composite type, which several attributes may share.
  public var compositeName: String
  /// The parts, in declared order.
  public var elements: [Element]
  /// The author's own notes, by key.
  public var userInfo: [String: String]

  /// Makes a description without validating it; a ``ManagedObjectModel`` reports its faults.
  public init(name: String, compositeName: String, elements: [Element], userInfo: [String: String] = [:]) {
    self.name = name
    self.compositeName = compositeName
    self.elements = elements
    self.userInfo = userInfo
  }
}
