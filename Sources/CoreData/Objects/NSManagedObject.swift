public import Foundation
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore

/// Events other than setters that change the values of an object.
public struct NSSnapshotEventType: OptionSet, Sendable {
  /// The number of the value.
  public let rawValue: UInt

  /// Creates the value of a number.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// The number of the value.
  public static let undoInsertion = NSSnapshotEventType(rawValue: 1)
  /// The number of the value.
  public static let undoDeletion = NSSnapshotEventType(rawValue: 2)
  /// The number of the value.
  public static let undoUpdate = NSSnapshotEventType(rawValue: 4)
  /// The number of the value.
  public static let rollback = NSSnapshotEventType(rawValue: 8)
  /// The number of the value.
  public static let refresh = NSSnapshotEventType(rawValue: 16)
}

/// An object of an entity, in a context or on its own.
///
/// A context has one object for each record. The values are read when the first one is asked for. An object belongs to
/// the queue of its context.
open class NSManagedObject: NSObject {
  private final let entityDescription: NSEntityDescription
  /// The object's record; nil if it is in no context.
  final var record: CoreObject?
  /// The values of an object that is in no context.
  final var detached: DetachedValues?
  /// The context, as long as the object is in it.
  final weak var owner: NSManagedObjectContext?
  /// Tells a store of one's own that there is the object.
  final var registration: StoreRegistration?

  /// Creates an object of `entity` and inserts it into a context; nil leaves it on its own.
  ///
  /// The framework calls this too when it makes the object of a record. A subclass that overrides it writes
  /// `override`, which the command heartwood-coredata turns into the `required` that Swift needs on Linux.
  public required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    entityDescription = entity
    super.init()
    guard let context else {
      detached = DetachedValues(of: entity)
      return
    }
    context.present(self)
  }

  /// Creates an object without an entity, which has no properties.
  public convenience override init() { self.init(entity: NSEntityDescription(), insertInto: nil) }

  /// Creates an object of the entity of the class and inserts it into a context.
  public required convenience init(context: NSManagedObjectContext) {
    self.init(entity: context.entity(for: Self.self), insertInto: context)
  }

  /// The entity of the class's objects, in the model that a coordinator has used last. There must be one.
  open class func entity() -> NSEntityDescription {
    for model in KnownModels.used {
      if let entity = model.entity(for: self) { return entity }
    }
    ProgrammerError.stop("No model that is in use has an entity for the class \(self).")
  }

  /// Returns a request for the objects of the class's entity.
  open class func fetchRequest() -> NSFetchRequest<any NSFetchRequestResult> {
    NSFetchRequest(entityName: entity().name ?? "")
  }

  /// The names of properties that the model does not manage, by the key paths that read them. The command
  /// heartwood-coredata writes this for the properties that a class declares with `@objc`.
  open class var keyPathNames: [AnyKeyPath: String] { [:] }

  // MARK: Identity

  /// The context of the object; nil if it is in none, any more or yet.
  open var managedObjectContext: NSManagedObjectContext? { record?.managedObjectContext == nil ? nil : owner }

  /// The entity of the object.
  open var entity: NSEntityDescription { entityDescription }

  /// The id of the object, which is temporary until the object is saved.
  open var objectID: NSManagedObjectID {
    guard let record else {
      return detached?.objectID(of: entityDescription) ?? NSManagedObjectID(detached: entityDescription)
    }
    return NSManagedObjectID(record.objectID, entityDescription, owner?.coordinatorOfChain)
  }

  // MARK: State

  /// Whether the next save will insert the object.
  open var isInserted: Bool { record?.isInserted ?? false }
  /// Whether the next save will write changes of the object.
  open var isUpdated: Bool { record?.isUpdated ?? false }
  /// Whether the next save will delete the object.
  open var isDeleted: Bool { record.map { $0.isDeleted && $0.hasChanges } ?? false }
  /// Whether the next save will insert, update or delete the object.
  open var hasChanges: Bool { record?.hasChanges ?? false }
  /// Whether the next save will write values that differ from the stored ones.
  open var hasPersistentChangedValues: Bool { record?.hasPersistentChangedValues ?? false }
  /// Whether the values have not been read yet.
  open var isFault: Bool { record?.isFault ?? false }
  /// 0 if the values have been read.
  open var faultingState: Int { isFault ? 1 : 0 }

  /// Returns whether the destinations of a relationship have not been read yet.
  open func hasFault(forRelationshipNamed key: String) -> Bool { isFault }

  /// Returns the ids of the destinations of a relationship.
  open func objectIDs(forRelationshipNamed key: String) -> [NSManagedObjectID] {
    guard let record, let owner else { return [] }
    return owner.hold { stored(record, key).objectIDs.map(owner.objectID) }
  }

  // MARK: Life cycle

  /// Called when the object has been inserted. Set initial values here.
  open func awakeFromInsert() {}
  /// Called when the values have been read.
  open func awakeFromFetch() {}
  /// Called when values have changed through a rollback or a refresh.
  open func awake(fromSnapshotEvents flags: NSSnapshotEventType) {}
  /// Called when the object is about to be deleted.
  open func prepareForDeletion() {}
  /// Called before a save, until no object changes any more.
  open func willSave() {}
  /// Called after a save.
  open func didSave() {}
  /// Called before the object becomes a fault.
  open func willTurnIntoFault() {}
  /// Called when the object has become a fault.
  open func didTurnIntoFault() {}

  // MARK: Validation

  /// Checks the object before a save inserts it. Outside a save, it checks the rules of the model; a save does that for
  /// all objects together.
  open func validateForInsert() throws { try validateRules() }
  /// Checks the object before a save writes its changes; see ``validateForInsert()``.
  open func validateForUpdate() throws { try validateRules() }
  /// Checks the object before a save deletes it.
  open func validateForDelete() throws {}

  private final func validateRules() throws {
    guard let record, owner?.isSaving == false else { return }
    var faults: [ValidationFault] = []
    for property in record.entity.properties {
      do {
        try record.validateValue(try record.propertyValue(forKey: property.name), forKey: property.name)
      } catch {
        guard error.code == .validationFailed else { throw CocoaError.of(error) }
        faults += error.context.validationFaults
      }
    }
    if !faults.isEmpty { throw CocoaError.of(PersistenceError.validationFailed(faults)) }
  }

  /// The class, the entity and the id. Values are left out: they may be private.
  open override var description: String {
    "<\(type(of: self)): entity \(entityDescription.name ?? ""), id \(objectID.description)>"
  }
}

// `@unchecked Sendable`: it is unavailable, so that the compiler says why an object stays in its context.
@available(*, unavailable, message: "An object belongs to the queue of its context. Pass its objectID.")
extension NSManagedObject: @unchecked Sendable {}

// MARK: Reading and changing

extension NSManagedObject {
  /// Returns the stored value of a property, which the entity must have.
  final func stored(_ record: CoreObject, _ key: String) -> PropertyValue {
    guard let ordinal = record.entity.ordinal(ofProperty: key) else { unknown(key) }
    guard record.isFault, let owner, owner.parent != nil else { return record.value(at: ordinal) }
    return owner.hold { record.value(at: ordinal) }
  }

  final func unknown(_ key: String) -> Never {
    ProgrammerError.stop("The entity \(entityDescription.name ?? "") has no property called \(key).")
  }

  final func property(_ key: String) -> NSPropertyDescription {
    guard let property = entityDescription.propertiesByName[key] else { unknown(key) }
    return property
  }

  /// Returns what key-value coding gives for a stored value of a property.
  final func object(_ value: PropertyValue, _ record: CoreObject, _ key: String) -> Any? {
    guard let ordinal = record.entity.ordinal(ofProperty: key) else { unknown(key) }
    switch record.entity.properties[ordinal] {
    case .attribute(let attribute): return StoredValue.object(value, of: attribute)
    case .relationship(let relationship): return related(value, relationship)
    }
  }

  private final func related(_ value: PropertyValue, _ relationship: RelationshipDescription) -> Any? {
    guard let owner else { return relationship.isToMany ? NSSet() : nil }
    let objects = owner.hold { value.objectIDs.map(owner.facade(with:)) }
    if !relationship.isToMany { return objects.first }
    return relationship.isOrdered ? NSOrderedSet(array: objects) : NSSet(array: objects)
  }

  /// Lets an object whose context is gone keep its values itself.
  final func leaveLostContext() {
    guard record != nil, owner == nil else { return }
    let values = DetachedValues(of: entityDescription)
    for name in entityDescription.attributesByName.keys { values[name] = value(forKey: name) }
    detached = values
    self.record = nil
  }

  /// Changes a property of a record.
  final func change(_ record: CoreObject, _ key: String, to value: Any?, quietly: Bool = false) {
    guard let ordinal = record.entity.ordinal(ofProperty: key) else {
      guard let composite = composite(key) else { unknown(key) }
      for part in composite.values(of: value) { change(record, part.attributeName, to: part.value, quietly: quietly) }
      return
    }
    switch record.entity.properties[ordinal] {
    case .attribute(let attribute):
      change(record, attribute, ordinal, to: attributeValue(value, attribute), quietly: quietly)
    case .relationship(let relationship): relate(record, relationship, to: value)
    }
  }

  final func change(
    _ record: CoreObject,
    _ attribute: AttributeDescription,
    _ ordinal: Int,
    to value: PropertyValue,
    quietly: Bool = false
  ) {
    changing {
      if quietly {
        try record.setPrimitiveValue(value, forKey: attribute.name)
      } else {
        record.change(ordinal, to: value)
      }
    }
  }

  private final func attributeValue(_ value: Any?, _ attribute: AttributeDescription) -> PropertyValue {
    guard let value = unwrapped(value) else { return .null }
    if let stored = StoredValue.propertyValue(value, of: attribute) { return stored }
    ProgrammerError.stop(
      "Unacceptable type of value for attribute: property = \"\(attribute.name)\"; desired type = \(attribute.type); "
        + "given type = \(type(of: value))."
    )
  }

  private final func relate(_ record: CoreObject, _ relationship: RelationshipDescription, to value: Any?) {
    let objects = Self.objects(in: unwrapped(value)).map { object in
      guard let other = object.record, object.owner === owner else {
        ProgrammerError.stop(
          "The relationship \(relationship.name) would refer to an object of another context. Fetch it in this one."
        )
      }
      return other
    }
    changing {
      if relationship.isToMany {
        try record.setValue(objects as [ManagedObject], forKey: relationship.name)
      } else {
        try record.setValue(objects.first, forKey: relationship.name)
      }
    }
  }

  /// Returns the objects in the value of a relationship.
  static func objects(in value: Any?) -> [NSManagedObject] {
    switch value {
    case nil: []
    case let object as NSManagedObject: [object]
    case let set as NSOrderedSet: set.array.compactMap { $0 as? NSManagedObject }
    case let set as NSSet: set.allObjects.compactMap { $0 as? NSManagedObject }
    case let array as [NSManagedObject]: array
    case let set as Set<NSManagedObject>: Array(set)
    default: ProgrammerError.stop("A relationship takes objects and sets of them.")
    }
  }

  /// Makes a change. If it fails because records cannot be read, the next save throws the reason.
  private final func changing(_ body: () throws -> Void) {
    guard let owner else { return }
    owner.hold {
      do {
        try body()
      } catch {
        owner.noteFailure(error)
      }
    }
    owner.noteChange(of: self)
  }
}
