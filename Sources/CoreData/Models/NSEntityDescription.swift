public import Foundation
import HeartwoodModel

/// A kind of object: its name, class and properties.
open class NSEntityDescription: NSObject {
  /// The name of the entity.
  open var name: String? { willSet { checkMutable() } }
  /// The name of the class of the entity's objects.
  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  open var managedObjectClassName: String! = "NSManagedObject" { willSet { checkMutable() } }
  /// Whether there are only objects of its subentities.
  open var isAbstract = false { willSet { checkMutable() } }
  /// The author's own notes. Only strings are part of what stores and model files keep.
  open var userInfo: [AnyHashable: Any]? = [:] { willSet { checkMutable() } }
  /// A text that makes the version hash another one.
  open var versionHashModifier: String? { willSet { checkMutable() } }
  /// The name of the entity in the version before, if it was renamed.
  open var renamingIdentifier: String? { willSet { checkMutable() } }
  /// Lists of attributes, by name or description, whose values no two objects may share.
  open var uniquenessConstraints: [[Any]] = [] { willSet { checkMutable() } }

  /// The indexes of the entity's own.
  open var indexes: [NSFetchIndexDescription] = [] {
    willSet { checkMutable() }
    didSet {
      for index in oldValue where index.entity === self { index.entity = nil }
      for index in indexes { index.entity = self }
    }
  }

  /// The entity that this one inherits from; set by its ``subentities``.
  open internal(set) weak var superentity: NSEntityDescription?
  /// The model of the entity.
  open internal(set) unowned(unsafe) var managedObjectModel: NSManagedObjectModel {
    get {
      guard let model else { ProgrammerError.stop("The entity \(name ?? "") is in no model.") }
      return model
    }
    set { model = newValue }
  }

  final weak var model: NSManagedObjectModel?
  final var ownProperties: [NSPropertyDescription] = []
  /// What a model file says of the entity that this class does not show.
  final var original: EntityDefinition?
  /// The entity in the model that stores use, once a coordinator has the model.
  final var resolved: EntityDescription?
  final var objectClass: NSManagedObject.Type = NSManagedObject.self
  /// Whether the entity only lends itself to reading the names of key paths.
  final var isProbe = false

  final func checkMutable() {
    ProgrammerError.check(
      resolved == nil,
      "The model of \(name ?? "an entity") is used by a coordinator and cannot be changed any more. Change a copy."
    )
  }

  // MARK: Properties

  /// The properties, with those that the entity inherits. Setting them sets its own.
  open var properties: [NSPropertyDescription] {
    get { (superentity?.properties ?? []) + ownProperties }
    set {
      checkMutable()
      let inherited = Set((superentity?.properties ?? []).map(ObjectIdentifier.init))
      ownProperties = newValue.filter { !inherited.contains(ObjectIdentifier($0)) }
      for property in ownProperties { property.declaringEntity = self }
    }
  }

  /// The properties by name, with those that the entity inherits.
  open var propertiesByName: [String: NSPropertyDescription] {
    Dictionary(properties.map { ($0.name, $0) }) { _, last in last }
  }

  /// The attributes by name, with those that the entity inherits.
  open var attributesByName: [String: NSAttributeDescription] {
    propertiesByName.compactMapValues { $0 as? NSAttributeDescription }
  }

  /// The relationships by name, with those that the entity inherits.
  open var relationshipsByName: [String: NSRelationshipDescription] {
    propertiesByName.compactMapValues { $0 as? NSRelationshipDescription }
  }

  /// Returns the relationships whose destination is `entity`.
  open func relationships(forDestination entity: NSEntityDescription) -> [NSRelationshipDescription] {
    relationshipsByName.values.filter { $0.destinationEntity === entity }
  }

  // MARK: Inheritance

  /// The entities that inherit from this one directly.
  open var subentities: [NSEntityDescription] = [] {
    willSet { checkMutable() }
    didSet {
      for entity in oldValue where entity.superentity === self { entity.superentity = nil }
      for entity in subentities { entity.superentity = self }
    }
  }

  /// The entities that inherit from this one directly, by name.
  open var subentitiesByName: [String: NSEntityDescription] {
    Dictionary(subentities.compactMap { entity in entity.name.map { ($0, entity) } }) { _, last in last }
  }

  /// Returns whether this is `entity` or inherits from it.
  open func isKindOf(entity: NSEntityDescription) -> Bool {
    var current: NSEntityDescription? = self
    while let candidate = current {
      if candidate === entity { return true }
      current = candidate.superentity
    }
    return false
  }

  /// The hash of what stores keep of the entity; empty as long as its model is not sound.
  open var versionHash: Data { resolved?.versionHash ?? model?.entityVersionHashesByName[name ?? ""] ?? Data() }

  /// The name, the class and the properties.
  open override var description: String {
    "<NSEntityDescription> name \(name ?? ""), managedObjectClassName \(managedObjectClassName ?? ""), properties "
      + properties.map(\.name).sorted().joined(separator: ", ")
  }
}

// MARK: By name

extension NSEntityDescription {
  /// Returns the entity called `entityName` in the model of the context's coordinator; nil if there is none.
  public class func entity(forEntityName entityName: String, in context: NSManagedObjectContext) -> NSEntityDescription?
  {
    context.managedObjectModel?.entitiesByName[entityName]
  }

  /// Inserts a new object of the entity called `entityName`. The entity must exist.
  public class func insertNewObject(
    forEntityName entityName: String,
    into context: NSManagedObjectContext
  ) -> NSManagedObject {
    guard let entity = entity(forEntityName: entityName, in: context) else {
      ProgrammerError.stop("The model of the context has no entity called \(entityName).")
    }
    return entity.objectClass.init(entity: entity, insertInto: context)
  }
}
