public import Foundation
import HeartwoodModel

/// A property of an entity: an attribute, a relationship, or a fetched property.
open class NSPropertyDescription: NSObject, NSCopying {
  /// The name of the property.
  open var name = "" { willSet { checkMutable() } }
  /// Whether objects may be saved without a value.
  open var isOptional = true { willSet { checkMutable() } }
  /// Whether the value is kept in memory only.
  open var isTransient = false { willSet { checkMutable() } }
  /// The author's own notes. Only strings are part of what stores and model files keep.
  open var userInfo: [AnyHashable: Any]? = [:] { willSet { checkMutable() } }
  /// A text that makes the version hash another one, for a change that only the application knows of.
  open var versionHashModifier: String? { willSet { checkMutable() } }
  /// The name of the property in the version before, if it was renamed.
  open var renamingIdentifier: String? { willSet { checkMutable() } }

  /// Whether the values were to be found by Spotlight, which no system has that this module is for.
  open var isIndexedBySpotlight = false { willSet { checkMutable() } }

  /// The entity that declares the property. It must be in one.
  open var entity: NSEntityDescription {
    if let declaringEntity { return declaringEntity }
    ProgrammerError.stop("The property \(name) is in no entity. Add it to the properties of one first.")
  }

  final weak var declaringEntity: NSEntityDescription?

  final func checkMutable() { declaringEntity?.checkMutable() }

  final var notes: [String: String] {
    var notes: [String: String] = [:]
    for case (let key as String, let value as String) in userInfo ?? [:] { notes[key] = value }
    return notes
  }

  /// Returns a copy that belongs to no entity.
  open override func copy() -> Any {
    let copy = type(of: self).makeEmpty()
    copyValues(to: copy)
    return copy
  }

  /// Returns a copy that belongs to no entity.
  open func copy(with zone: NSZone? = nil) -> Any { copy() }

  convenience init(named name: String) {
    self.init()
    self.name = name
  }

  class func makeEmpty() -> NSPropertyDescription { NSPropertyDescription() }

  func copyValues(to copy: NSPropertyDescription) {
    copy.name = name
    copy.isOptional = isOptional
    copy.isTransient = isTransient
    copy.isIndexedBySpotlight = isIndexedBySpotlight
    copy.userInfo = userInfo
    copy.versionHashModifier = versionHashModifier
    copy.renamingIdentifier = renamingIdentifier
  }
}

// MARK: NSAttributeType

/// The types of attributes.
public enum NSAttributeType: UInt, Sendable {
  case undefinedAttributeType = 0
  case integer16AttributeType = 100
  case integer32AttributeType = 200
  case integer64AttributeType = 300
  case decimalAttributeType = 400
  case doubleAttributeType = 500
  case floatAttributeType = 600
  case stringAttributeType = 700
  case booleanAttributeType = 800
  case dateAttributeType = 900
  case binaryDataAttributeType = 1000
  case UUIDAttributeType = 1100
  case URIAttributeType = 1200
  case transformableAttributeType = 1800
  /// The type of expressions whose value is the id of an object.
  case objectIDAttributeType = 2000
  /// The type of an ``NSCompositeAttributeDescription``.
  case compositeAttributeType = 2100
}

extension AttributeType {
  init(_ type: NSAttributeType) {
    self = ([.undefined] + AttributeType.allCases).first { $0.coreDataCode == type.rawValue } ?? .undefined
  }
}

extension NSAttributeType {
  init(_ type: AttributeType) {
    self = NSAttributeType(rawValue: UInt(type.coreDataCode)) ?? .undefinedAttributeType
  }
}

// MARK: NSAttributeDescription

/// An attribute of an entity.
open class NSAttributeDescription: NSPropertyDescription {
  /// The type of the attribute in the form of newer SDKs: `attribute.type = .string`.
  public struct AttributeType: RawRepresentable, Hashable, Sendable {
    /// The number of the value.
    public let rawValue: UInt

    /// Creates the value of a number.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    private init(_ type: NSAttributeType) { rawValue = type.rawValue }

    /// Undefined.
    public static let undefined = AttributeType(.undefinedAttributeType)
    /// Integer16.
    public static let integer16 = AttributeType(.integer16AttributeType)
    /// Integer32.
    public static let integer32 = AttributeType(.integer32AttributeType)
    /// Integer64.
    public static let integer64 = AttributeType(.integer64AttributeType)
    /// Decimal.
    public static let decimal = AttributeType(.decimalAttributeType)
    /// Double.
    public static let double = AttributeType(.doubleAttributeType)
    /// Float.
    public static let float = AttributeType(.floatAttributeType)
    /// String.
    public static let string = AttributeType(.stringAttributeType)
    /// Boolean.
    public static let boolean = AttributeType(.booleanAttributeType)
    /// Date.
    public static let date = AttributeType(.dateAttributeType)
    /// Binary data.
    public static let binaryData = AttributeType(.binaryDataAttributeType)
    /// Uuid.
    public static let uuid = AttributeType(.UUIDAttributeType)
    /// Uri.
    public static let uri = AttributeType(.URIAttributeType)
    /// Transformable.
    public static let transformable = AttributeType(.transformableAttributeType)
    /// Object ID.
    public static let objectID = AttributeType(.objectIDAttributeType)
    /// Composite.
    public static let composite = AttributeType(.compositeAttributeType)
  }

  /// The type of the values.
  open var attributeType = NSAttributeType.undefinedAttributeType { willSet { checkMutable() } }
  /// The value of new objects.
  open var defaultValue: Any? { willSet { checkMutable() } }
  /// The name of the transformer of a transformable attribute; see the module's page for those that are there.
  open var valueTransformerName: String? { willSet { checkMutable() } }
  /// Whether a store may keep large values in files of their own.
  open var allowsExternalBinaryDataStorage = false { willSet { checkMutable() } }
  /// Whether the history keeps the value of a deleted object.
  open var preservesValueInHistoryOnDeletion = false { willSet { checkMutable() } }
  /// The class of the values.
  open var attributeValueClassName: String? {
    get { givenClassName ?? Self.classNames[attributeType] }
    set {
      checkMutable()
      givenClassName = newValue
    }
  }

  private var givenClassName: String?
  /// What a model file says of the attribute that this class does not show.
  final var original: AttributeDescription?

  /// The type of the values.
  open var type: AttributeType {
    get { AttributeType(rawValue: attributeType.rawValue) }
    set { attributeType = NSAttributeType(rawValue: newValue.rawValue) ?? .undefinedAttributeType }
  }

  private static let classNames: [NSAttributeType: String] = [
    .integer16AttributeType: "NSNumber", .integer32AttributeType: "NSNumber", .integer64AttributeType: "NSNumber",
    .decimalAttributeType: "NSDecimalNumber", .doubleAttributeType: "NSNumber", .floatAttributeType: "NSNumber",
    .stringAttributeType: "NSString", .booleanAttributeType: "NSNumber", .dateAttributeType: "NSDate",
    .binaryDataAttributeType: "NSData", .UUIDAttributeType: "NSUUID", .URIAttributeType: "NSURL",
    .compositeAttributeType: "NSDictionary", .objectIDAttributeType: "NSManagedObjectID",
  ]

  override class func makeEmpty() -> NSPropertyDescription { NSAttributeDescription() }

  override func copyValues(to copy: NSPropertyDescription) {
    super.copyValues(to: copy)
    guard let copy = copy as? NSAttributeDescription else { return }
    copy.attributeType = attributeType
    copy.defaultValue = defaultValue
    copy.valueTransformerName = valueTransformerName
    copy.allowsExternalBinaryDataStorage = allowsExternalBinaryDataStorage
    copy.preservesValueInHistoryOnDeletion = preservesValueInHistoryOnDeletion
    copy.givenClassName = givenClassName
    copy.original = original
  }
}

// MARK: NSRelationshipDescription

/// What becomes of the destinations of a deleted object.
public enum NSDeleteRule: UInt, Sendable {
  case noActionDeleteRule = 0
  case nullifyDeleteRule = 1
  case cascadeDeleteRule = 2
  case denyDeleteRule = 3
}

/// A relationship of an entity. It is to-one if its ``maxCount`` is 1.
open class NSRelationshipDescription: NSPropertyDescription {
  /// The entity of the objects at the other end.
  open weak var destinationEntity: NSEntityDescription? { willSet { checkMutable() } }
  /// The relationship back.
  open weak var inverseRelationship: NSRelationshipDescription? { willSet { checkMutable() } }
  /// The greatest number of objects; 0 stands for any number.
  open var maxCount = 0 { willSet { checkMutable() } }
  /// The least number of objects, if there are any.
  open var minCount = 0 { willSet { checkMutable() } }
  /// What becomes of the destinations of a deleted object.
  open var deleteRule = NSDeleteRule.nullifyDeleteRule { willSet { checkMutable() } }
  /// Whether the objects of a to-many relationship have an order.
  open var isOrdered = false { willSet { checkMutable() } }
  /// Whether there may be more than one object.
  open var isToMany: Bool { maxCount != 1 }

  /// What a model file says of the relationship that this class does not show.
  final var original: RelationshipDescription?

  override class func makeEmpty() -> NSPropertyDescription { NSRelationshipDescription() }

  override func copyValues(to copy: NSPropertyDescription) {
    super.copyValues(to: copy)
    guard let copy = copy as? NSRelationshipDescription else { return }
    copy.destinationEntity = destinationEntity
    copy.inverseRelationship = inverseRelationship
    copy.maxCount = maxCount
    copy.minCount = minCount
    copy.deleteRule = deleteRule
    copy.isOrdered = isOrdered
    copy.original = original
  }
}

extension DeleteRule {
  init(_ rule: NSDeleteRule) {
    switch rule {
    case .noActionDeleteRule: self = .noAction
    case .nullifyDeleteRule: self = .nullify
    case .cascadeDeleteRule: self = .cascade
    case .denyDeleteRule: self = .deny
    }
  }
}

extension NSDeleteRule {
  init(_ rule: DeleteRule) {
    switch rule {
    case .noAction: self = .noActionDeleteRule
    case .nullify: self = .nullifyDeleteRule
    case .cascade: self = .cascadeDeleteRule
    case .deny: self = .denyDeleteRule
    }
  }
}
