import HeartwoodModel
import HeartwoodStore

extension ManagedObject {
  /// The object that a to-one relationship leads to, or nil. Setting it changes the inverse too.
  public subscript<Destination: ManagedObject>(key: ToOneKey<Destination>) -> Destination? {
    get { relatedObjects(key.ordinal(in: binding) { $0.relationship?.isToMany == false }, Destination.self).first }
    set { setRelated(key.ordinal(in: binding) { $0.relationship?.isToMany == false }, newValue.map { [$0] } ?? []) }
  }

  /// The objects that a to-many relationship leads to. Where it is ordered, the order is kept; otherwise it has no meaning.
  /// Setting them changes the inverse too. An object that is given twice counts once.
  public subscript<Destination: ManagedObject>(key: ToManyKey<Destination>) -> [Destination] {
    get { relatedObjects(key.ordinal(in: binding) { $0.relationship?.isToMany == true }, Destination.self) }
    set { setRelated(key.ordinal(in: binding) { $0.relationship?.isToMany == true }, newValue) }
  }

  private func relatedObjects<Destination: ManagedObject>(_ ordinal: Int, _: Destination.Type) -> [Destination] {
    guard let context = managedObjectContext else {
      preconditionFailure("The object's context is gone. Keep the context for as long as its objects are used.")
    }
    // What a store no longer has is left out, as if the relationship had been nullified.
    return value(at: ordinal).objectIDs.compactMap { id in
      (try? context.existingObject(with: id)).flatMap { $0 as? Destination }
    }
  }

  private func setRelated(_ ordinal: Int, _ objects: [ManagedObject]) {
    for object in objects {
      precondition(
        object.managedObjectContext === managedObjectContext,
        "A relationship leads to objects of its own context. Get the object there by its objectID."
      )
    }
    do throws(PersistenceError) {
      try setRelationship(ordinal, to: objects.map(\.objectID))
    } catch {
      preconditionFailure("\(error)")
    }
  }

  /// Lets a relationship lead to the objects of `ids`, and their inverse relationships lead back.
  func setRelationship(_ ordinal: Int, to ids: [ManagedObjectID]) throws(PersistenceError) {
    var seen: Set<ManagedObjectID> = []
    let new = ids.filter { seen.insert($0).inserted }
    let old = value(at: ordinal).objectIDs
    let targets = try destinations(ordinal, new)
    let oldIDs = Set(old)
    setLinks(ordinal, to: new)
    guard let inverse = entity.relationshipTargets[ordinal]?.inverseOrdinal else { return }
    for id in old where !seen.contains(id) {
      (try? managedObjectContext?.existingObject(with: id))?.unlink(inverse, from: objectID)
    }
    for target in targets where !oldIDs.contains(target.objectID) {
      target.link(inverse, to: self, forward: ordinal)
    }
  }

  /// The objects of `ids`, which must be of the relationship's destination entity.
  private func destinations(_ ordinal: Int, _ ids: [ManagedObjectID]) throws(PersistenceError) -> [ManagedObject] {
    guard let context = managedObjectContext, let relationship = entity.properties[ordinal].relationship else {
      return []
    }
    var objects: [ManagedObject] = []
    for id in ids {
      let object = try context.existingObject(with: id)
      var ancestor: EntityDescription? = object.entity
      while let current = ancestor, current.name != relationship.destinationEntityName {
        ancestor = current.superentity
      }
      guard ancestor != nil else {
        throw PersistenceError(
          .valueTypeMismatch,
          "The relationship leads to objects of \(relationship.destinationEntityName), and this one is of "
            + "\(object.entity.name).",
          context: .init(entity: entity.name, property: relationship.name, objectIDs: [id])
        )
      }
      objects.append(object)
    }
    return objects
  }

  /// Lets this end of a relationship lead to `source`, whose other end at `forward` leads here already.
  private func link(_ ordinal: Int, to source: ManagedObject, forward: Int) {
    guard entity.properties[ordinal].relationship?.isToMany == false else {
      let ids = value(at: ordinal).objectIDs
      if !ids.contains(source.objectID) { setLinks(ordinal, to: ids + [source.objectID]) }
      return
    }
    // A to-one end leads to one object, so whoever had it loses it.
    if let previous = value(at: ordinal).objectIDs.first, previous != source.objectID {
      (try? managedObjectContext?.existingObject(with: previous))?.unlink(forward, from: objectID)
    }
    setLinks(ordinal, to: [source.objectID])
  }

  /// Lets this end of a relationship no longer lead to the object of `id`.
  func unlink(_ ordinal: Int, from id: ManagedObjectID) {
    let ids = value(at: ordinal).objectIDs
    if !isDeleted, ids.contains(id) { setLinks(ordinal, to: ids.filter { $0 != id }) }
  }

  private func setLinks(_ ordinal: Int, to ids: [ManagedObjectID]) {
    let isToMany = entity.properties[ordinal].relationship?.isToMany ?? false
    change(ordinal, to: isToMany ? .toMany(ids) : ids.first.map(PropertyValue.toOne) ?? .null)
  }
}
