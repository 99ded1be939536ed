public import Foundation
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore

/// The key of the conflicts in the error of a save: an ``NSMergeConflict`` or ``NSConstraintConflict`` for each.
public let NSPersistentStoreSaveConflictsErrorKey = "conflictList"

/// An object whose record another save has changed or deleted since the context has read it.
open class NSMergeConflict: NSObject {
  /// The object in the context that is saved.
  open private(set) var sourceObject: NSManagedObject
  /// The values that the save would write; nil if the object is to be deleted.
  open private(set) var objectSnapshot: [String: Any]?
  /// The values that the changes were made on.
  open private(set) var cachedSnapshot: [String: Any]?
  /// The values that the store has now; nil if the record was deleted.
  open private(set) var persistedSnapshot: [String: Any]?
  /// The version that the store has now; 0 if the record was deleted.
  open private(set) var newVersionNumber: Int
  /// The version that the changes were made on.
  open private(set) var oldVersionNumber: Int
  /// Whether the type of the policy decides.
  final var isHandedOn = false

  /// Creates a conflict.
  public init(
    source srcObject: NSManagedObject,
    newVersion newvers: Int,
    oldVersion oldvers: Int,
    cachedSnapshot cachesnap: [String: Any]?,
    persistedSnapshot persnap: [String: Any]?
  ) {
    sourceObject = srcObject
    newVersionNumber = newvers
    oldVersionNumber = oldvers
    cachedSnapshot = cachesnap
    persistedSnapshot = persnap
  }

  init(_ conflict: MergeConflict, _ context: NSManagedObjectContext) {
    sourceObject = context.facade(with: conflict.objectID)
    newVersionNumber = Int(clamping: conflict.newVersion)
    oldVersionNumber = Int(clamping: conflict.oldVersion)
    objectSnapshot = conflict.objectSnapshot?.values(in: context)
    cachedSnapshot = conflict.cachedSnapshot?.values(in: context)
    persistedSnapshot = conflict.persistedSnapshot?.values(in: context)
  }

  open override var description: String {
    "<NSMergeConflict: \(sourceObject.objectID), versions \(oldVersionNumber) and \(newVersionNumber)>"
  }
}

extension ObjectSnapshot {
  /// The values by name: those of attributes, ids and sets of ids; `NSNull` stands for no value.
  fileprivate func values(in context: NSManagedObjectContext) -> [String: Any] {
    var dictionary: [String: Any] = [:]
    for (property, value) in zip(objectID.entity.properties, values) where !property.isTransient {
      switch property {
      case .attribute(let attribute): dictionary[property.name] = StoredValue.object(value, of: attribute) ?? NSNull()
      case .relationship(let relationship):
        let ids = value.objectIDs.map(context.objectID)
        dictionary[property.name] = relationship.isToMany ? NSSet(array: ids) : ids.first ?? NSNull()
      }
    }
    return dictionary
  }
}

// MARK: NSConstraintConflict

/// Objects with the same values of attributes that must be unique in combination.
open class NSConstraintConflict: NSObject {
  /// The names of the attributes.
  open private(set) var constraint: [String]
  /// The values that the objects share, by name.
  open private(set) var constraintValues: [String: Any]
  /// The object that has the values in the store; nil if only objects of the save have them.
  open private(set) var databaseObject: NSManagedObject?
  /// The values of that object in the store.
  open private(set) var databaseSnapshot: [AnyHashable: Any]?
  /// The objects of the save.
  open private(set) var conflictingObjects: [NSManagedObject]
  /// The values of these objects, in the same order.
  open private(set) var conflictingSnapshots: [Any]
  /// Whether the type of the policy decides.
  final var isHandedOn = false

  /// Creates a conflict.
  public init(
    constraint contraint: [String],
    database databaseObject: NSManagedObject?,
    databaseSnapshot: [AnyHashable: Any]?,
    conflictingObjects: [NSManagedObject],
    conflictingSnapshots: [Any]
  ) {
    constraint = contraint
    self.databaseObject = databaseObject
    self.databaseSnapshot = databaseSnapshot
    self.conflictingObjects = conflictingObjects
    self.conflictingSnapshots = conflictingSnapshots
    let first = conflictingObjects.first
    constraintValues = Self.values(contraint) { first?.value(forKey: $0) }
  }

  private static func values(_ names: [String], _ value: (String) -> Any?) -> [String: Any] {
    var values: [String: Any] = [:]
    for name in names { values[name] = unwrapped(value(name)) ?? NSNull() }
    return values
  }

  /// A conflict, and the places of Heartwood's conflicts that it stands for.
  typealias Gathered = (conflict: NSConstraintConflict, places: [Int])

  /// Gathers the violations that have the same constraint and the same other object.
  static func conflicts(_ violations: [ConstraintConflict], _ context: NSManagedObjectContext) -> [Gathered] {
    struct Key: Hashable {
      let constraint: [String]
      let other: ManagedObjectID
    }
    var order: [Key] = []
    var places: [Key: [Int]] = [:]
    for (place, violation) in violations.enumerated() {
      let key = Key(constraint: violation.constraint, other: violation.conflictingID)
      if places[key] == nil { order.append(key) }
      places[key, default: []].append(place)
    }
    return order.compactMap { key in
      guard let places = places[key], let first = places.first else { return nil }
      let other = context.facade(with: key.other)
      let isStored = violations[first].isStored
      let objects = places.map { context.facade(with: violations[$0].objectID) }
      let conflict = NSConstraintConflict(
        constraint: key.constraint,
        database: isStored ? other : nil,
        databaseSnapshot: isStored ? snapshot(of: other) : nil,
        conflictingObjects: isStored ? objects : [other] + objects,
        conflictingSnapshots: (isStored ? objects : [other] + objects).map(snapshot)
      )
      return (conflict, places)
    }
  }

  private static func snapshot(of object: NSManagedObject) -> [AnyHashable: Any] {
    values(Array(object.entity.attributesByName.keys)) { object.value(forKey: $0) }
  }

  open override var description: String {
    "<NSConstraintConflict: \(constraint.joined(separator: ", ")) of \(conflictingObjects.map(\.objectID))>"
  }
}
