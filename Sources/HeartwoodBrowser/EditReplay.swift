import HeartwoodFoundation
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore

/// Makes the unsaved changes of a context once more on a newer version of its stores.
///
/// A file that is loaded as a whole cannot be saved after another process has replaced it. So the file is opened again,
/// the records that both have changed are found by their values, and the changes are made in a context of the new
/// coordinator. The destinations that were added to and removed from an unordered to-many relationship are added and
/// removed there.
struct EditReplay {
  private let changed: [ManagedObject]
  private let deleted: [ManagedObject]
  private let inserted: [ManagedObject]
  private let coordinator: PersistentStoreCoordinator

  /// - Parameter coordinator: has the newest version of the stores.
  init(of session: EditSession, on coordinator: PersistentStoreCoordinator) {
    (changed, deleted) = (session.changedObjects, session.context.deletedObjects)
    inserted = session.context.insertedObjects
    self.coordinator = coordinator
  }

  fileprivate func newest(_ id: ManagedObjectID, in context: ManagedObjectContext) throws -> ManagedObject? {
    guard let id = coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()) else { return nil }
    do {
      return try context.existingObject(with: id)
    } catch let error where error.code == .objectNotFound {
      return nil
    }
  }
}

// MARK: Conflicts

extension EditReplay {
  /// Returns the records that were changed here and that others have changed too.
  ///
  /// - Parameter context: a context of the newest version.
  func conflicts(in context: ManagedObjectContext) throws -> [EditConflict] {
    try (changed + deleted).compactMap { object in
      let stored = try newest(object.objectID, in: context)
      if stored == nil, object.isDeleted { return nil }
      let committed = object.committedValues()
      let start = object.entity.properties.map { committed[$0.name] ?? .null }
      let values = try stored.map(Self.values)
      if let values, !EditConflict.differ(values, start, object.entity) { return nil }
      return EditConflict(
        object.objectID,
        start: start,
        here: object.isDeleted ? nil : try Self.values(object),
        stored: values
      )
    }
  }

  private static func values(_ object: ManagedObject) throws -> [PropertyValue] {
    try object.entity.properties.map { try object.propertyValue(forKey: $0.name) }
  }
}

// MARK: Changes

extension EditReplay {
  /// Makes the changes, except those of records for which the stored values were chosen.
  func apply(in context: ManagedObjectContext, _ choices: (String) -> EditChoice?) throws {
    let yielded = (changed + deleted).map(\.objectID).filter {
      choices($0.uriRepresentation().absoluteString) == .theirs
    }
    var target = ReplayTarget(context: context, replay: self, yielded: Set(yielded))
    for object in inserted { try target.insert(object) }
    for object in deleted where !target.yielded.contains(object.objectID) {
      if let newest = try target.find(object.objectID) { context.delete(newest) }
    }
    for object in inserted + changed where !target.yielded.contains(object.objectID) {
      try target.takeChanges(of: object)
    }
  }
}

/// The context in which the changes are made, and the objects that stand for others there.
private struct ReplayTarget {
  let context: ManagedObjectContext
  let replay: EditReplay
  /// The records that keep their stored values.
  let yielded: Set<ManagedObjectID>
  private var newObjects: [ManagedObjectID: ManagedObject] = [:]

  init(context: ManagedObjectContext, replay: EditReplay, yielded: Set<ManagedObjectID>) {
    (self.context, self.replay, self.yielded) = (context, replay, yielded)
  }
}

extension ReplayTarget {
  mutating func insert(_ object: ManagedObject) throws {
    newObjects[object.objectID] = try context.insert(entityName: object.entity.name)
  }

  /// Returns the object that stands for another; nil if others have deleted it.
  func find(_ id: ManagedObjectID) throws -> ManagedObject? {
    if let new = newObjects[id] { return new }
    let object = try replay.newest(id, in: context)
    return object?.isDeleted == false ? object : nil
  }

  private func find(_ ids: some Sequence<ManagedObjectID>) throws -> [ManagedObjectID] {
    try ids.compactMap { try find($0)?.objectID }
  }

  func takeChanges(of object: ManagedObject) throws {
    guard let target = try find(object.objectID) else { return }
    let names = object.isInserted ? nil : Set(object.changedValues().keys)
    let committed = object.committedValues()
    for property in object.entity.properties where !property.isTransient && names?.contains(property.name) != false {
      let value = try object.propertyValue(forKey: property.name)
      switch property {
      case .attribute(let attribute):
        if attribute.derivationExpression == nil { try target.setPropertyValue(value, forKey: property.name) }
      case .relationship(let relationship) where !relationship.isToMany: try relate(target, property.name, toOne: value)
      case .relationship(let relationship):
        let former = committed[property.name]?.objectIDs ?? []
        try relate(target, relationship, to: value.objectIDs, insteadOf: former)
      }
    }
  }

  /// A destination that others have deleted leaves the relationship as they have saved it.
  private func relate(_ target: ManagedObject, _ name: String, toOne value: PropertyValue) throws {
    let ids = try find(value.objectIDs)
    if ids.isEmpty, !value.isNull { return }
    try target.setPropertyValue(ids.first.map(PropertyValue.toOne) ?? .null, forKey: name)
  }

  /// Sets the destinations of an ordered relationship; adds and removes those of another. Records that keep their
  /// stored values are neither added nor removed.
  private func relate(
    _ target: ManagedObject,
    _ relationship: RelationshipDescription,
    to newest: [ManagedObjectID],
    insteadOf former: [ManagedObjectID]
  ) throws {
    var ids = try find(newest.filter { !yielded.contains($0) })
    if !relationship.isOrdered {
      let removed = Set(try find(Set(former).subtracting(newest).subtracting(yielded)))
      let added = try find(Set(newest).subtracting(former).subtracting(yielded))
      ids = try target.objectIDs(forRelationshipNamed: relationship.name).filter { !removed.contains($0) }
      ids += added.filter { !ids.contains($0) }
    }
    try target.setPropertyValue(.toMany(ids), forKey: relationship.name)
  }
}
