import HeartwoodModel
package import HeartwoodStore

// MARK: Typed accessors

extension ManagedObject {
  /// The destination of a to-one relationship, or nil. Setting it updates the inverse too.
  ///
  /// A destination whose record is gone reads as nil. Setting a destination that is gone sets nil and logs a warning;
  /// ``setValue(_:forKey:)`` throws instead. If this object itself is gone, the value is nil, and setting it does
  /// nothing and logs a warning. A destination whose record cannot be read reads as nil too, and the failure is added
  /// to the context's ``ManagedObjectContext/readFailures``; ``read(_:)-(ToOneKey<Destination>)`` throws then.
  public final subscript<Destination: ManagedObject>(key: ToOneKey<Destination>) -> Destination? {
    get { relatedObjects(key.ordinal(in: self, \.isToOne)).first.flatMap { cast($0, key) } }
    set { relateLeavingGone(key.ordinal(in: self, \.isToOne), toOne: newValue) }
  }

  /// The destinations of a to-many relationship. For an ordered relationship, they are in its order; otherwise the
  /// order has no meaning.
  ///
  /// Setting them updates the inverse too. Duplicates are ignored. Objects whose records are gone are left out, and so
  /// are objects that are gone when they are set, which logs a warning. Objects whose records cannot be read are left
  /// out too, and the failures are added to the context's ``ManagedObjectContext/readFailures``;
  /// ``read(_:)-(ToManyKey<Destination>)`` throws then.
  public final subscript<Destination: ManagedObject>(key: ToManyKey<Destination>) -> [Destination] {
    get { relatedObjects(key.ordinal(in: self, \.isToMany)).compactMap { cast($0, key) } }
    set { relateLeavingGone(key.ordinal(in: self, \.isToMany), to: newValue) }
  }

  /// Returns the object in the type of the key; nil if it is of another entity than the relationship's destination,
  /// which only a damaged file can cause.
  final func cast<Destination: ManagedObject>(_ object: ManagedObject, _ key: PropertyKey) -> Destination? {
    if let destination = object as? Destination { return destination }
    let ordinal = entity.ordinal(ofProperty: key.name)
    if let wanted = ordinal.flatMap({ binding.destinations[$0] }), !object.entity.isKind(of: wanted) {
      logLinkLeftOut(to: object, key.name, because: "it is of another entity than the relationship refers to")
      return nil
    }
    ProgrammerError.stop(
      "\(entity.name).\(key.name) refers to an object of class \(type(of: object)), and its key says \(Destination.self). Give "
        + "that class to the coordinator as one of its objectClasses, or correct the key."
    )
  }
}

// MARK: By ordinal

extension ManagedObject {
  /// The context of the object.
  ///
  /// - Throws: ``PersistenceError/Code/objectNotFound`` if there is none.
  package final var usableContext: ManagedObjectContext {
    get throws(PersistenceError) {
      if let context = managedObjectContext { return context }
      throw PersistenceError(
        .objectNotFound,
        "The object's context is gone, or no longer has the object.",
        recovery: "Keep the context, and after a reset, fetch the object again.",
        context: .init(entity: entity.name, objectIDs: [objectID])
      )
    }
  }

  /// Updates the ids in relationships if a conversion has changed them since they were read.
  final func followConversions() {
    withBinding { $0.followConversions() }
  }

  /// Returns the destinations of a relationship that still exist. Failures to read are noted. If the context is gone or
  /// has released the object, there are none, which is logged.
  final func relatedObjects(_ ordinal: Int) -> [ManagedObject] {
    followConversions()
    let ids = value(at: ordinal).objectIDs
    if ids.isEmpty { return [] }
    guard let context = managedObjectContext else {
      logNotFollowed(ordinal)
      return []
    }
    context.readAhead(ids) { binding.ids(relatedFromNear: rowID, at: ordinal) }
    var unread: [(id: ManagedObjectID, error: PersistenceError)] = []
    let objects = context.objectsIfPresent(ids, &unread)
    if let first = unread.first {
      context.noteReadFailure(.unreadable(unread.map(\.id), for: (entity, ordinal), first.error))
    }
    return objects
  }

  /// Checks that everything can be read that a change of a relationship affects, so that the change fails as a whole
  /// otherwise.
  ///
  /// - Parameter objects: the new destinations.
  final func checkReadable(_ ordinal: Int, for objects: [ManagedObject]) throws(PersistenceError) {
    try reading { () throws(PersistenceError) in
      guard let inverse = binding.traits[ordinal].inverseOrdinal, let context = managedObjectContext,
        let destination = binding.destinations[ordinal]
      else { return }
      let new = Set(objects)
      for other in relatedObjects(ordinal) where !new.contains(other) && other.isFault { other.fireFault() }
      // Invalid objects are reported when they are related.
      for object in objects where object.managedObjectContext === context && object.entity.isKind(of: destination) {
        // The former owner loses it, if it can have only one.
        if !object.binding.traits[inverse].isToMany { _ = object.relatedObjects(inverse) }
      }
    }
  }

  /// Sets the destinations of a relationship, and updates their inverse relationships.
  ///
  /// - Throws: ``PersistenceError/Code/valueTypeMismatch`` if an object is of another entity, or this one is of another
  ///   than the destination of the inverse; ``PersistenceError/Code/objectNotFound`` if one is of another context or
  ///   deleted. Then nothing has changed.
  package final func relate(_ ordinal: Int, to objects: [ManagedObject]) throws(PersistenceError) {
    guard binding.traits[ordinal].isToMany else { return try relate(ordinal, toOne: objects.first) }
    followConversions()
    guard mayChange(ordinal) else { return }
    let old = ObjectIDList(value(at: ordinal).objectIDs)
    let new = ObjectIDList(objects.map(\.objectID))
    let added = objects.filter { !old.contains($0.objectID) }
    for object in added { try check(object, ordinal) }
    changeLinks(ordinal) { $0 = new }
    for id in old.ids where !new.contains(id) { RelationshipUpkeep.didUnlink(self, ordinal, from: id) }
    for object in added { RelationshipUpkeep.didLink(self, ordinal, to: object) }
  }

  /// Sets the destination of a to-one relationship, as ``relate(_:to:)`` does.
  final func relate(_ ordinal: Int, toOne object: ManagedObject?) throws(PersistenceError) {
    followConversions()
    guard mayChange(ordinal) else { return }
    let old: ManagedObjectID? = if case .toOne(let id) = value(at: ordinal) { id } else { nil }
    let new = object?.objectID
    if old == new { return }
    if let object { try check(object, ordinal) }
    change(ordinal, to: new.map(PropertyValue.toOne) ?? .null)
    if let old { RelationshipUpkeep.didUnlink(self, ordinal, from: old) }
    if let object { RelationshipUpkeep.didLink(self, ordinal, to: object) }
  }

  /// Adds an object to a to-many relationship. Returns whether it was not in it yet.
  ///
  /// - Throws: the errors of ``relate(_:to:)``.
  package final func addLink(_ ordinal: Int, to object: ManagedObject) throws(PersistenceError) -> Bool {
    followConversions()
    guard mayChange(ordinal), !leads(ordinal, to: object.objectID) else { return false }
    try check(object, ordinal)
    changeLinks(ordinal) { $0.append(object.objectID) }
    RelationshipUpkeep.didLink(self, ordinal, to: object)
    return true
  }

  /// Removes an object from a to-many relationship. Returns whether it was in it.
  final func removeLink(_ ordinal: Int, to object: ManagedObject) -> Bool {
    followConversions()
    guard mayChange(ordinal), leads(ordinal, to: object.objectID) else { return false }
    changeLinks(ordinal) { $0.remove(object.objectID) }
    RelationshipUpkeep.didUnlink(self, ordinal, from: object)
    return true
  }

  /// Throws if `object` cannot be a destination of a relationship.
  private final func check(_ object: ManagedObject, _ ordinal: Int) throws(PersistenceError) {
    guard let destination = withBinding({ $0.destinations[ordinal] }) else { return }
    func refusal(_ code: PersistenceError.Code, _ message: String) -> PersistenceError {
      var context = PersistenceError.Context(entity: entity.name, property: entity.properties[ordinal].name)
      context.objectIDs = [object.objectID]
      return PersistenceError(code, message, context: context)
    }
    guard !object.isDeleted else {
      throw refusal(.objectNotFound, "A relationship cannot refer to a deleted object.")
    }
    guard isInContext(of: object) else {
      throw refusal(
        .objectNotFound,
        "A relationship refers to objects of its own context. Get the object there by its objectID."
      )
    }
    guard object.withBinding({ $0.entity === destination || $0.entity.isKind(of: destination) }) else {
      throw refusal(
        .valueTypeMismatch,
        "The relationship refers to objects of \(destination.name), and this one is of \(object.entity.name)."
      )
    }
    if let mismatch = withBinding({ $0.inverseMismatches[ordinal] }) {
      throw refusal(
        .valueTypeMismatch,
        "The inverse of the relationship refers back to objects of \(mismatch.name), and this one is of \(entity.name)."
      )
    }
  }

  /// Returns whether both objects are in the same context, which has not released them.
  private final func isInContext(of object: ManagedObject) -> Bool {
    let isShared = withBinding { binding in object.withBinding { $0.hasContext(of: binding) } }
    return isShared && !state.contains(.detached) && !object.state.contains(.detached)
  }
}

extension RelationshipTarget {
  /// Returns the destination of the inverse if it is neither `entity` nor one of its superentities: it may be one of
  /// its subentities.
  func inverseMismatch(with entity: EntityDescription, among entities: [EntityDescription]) -> EntityDescription? {
    guard let inverseOrdinal, let target = entities[entityOrdinal].relationshipTargets[inverseOrdinal] else {
      return nil
    }
    let destination = entities[target.entityOrdinal]
    return entity.isKind(of: destination) ? nil : destination
  }
}

// MARK: RelationshipEnd

/// A relationship of one object.
struct RelationshipEnd: Hashable {
  let object: ManagedObject
  let ordinal: Int
}

// MARK: LiveRelationship

/// A to-many relationship of an object, read and changed in place.
struct LiveRelationship<Destination: ManagedObject> {
  let object: ManagedObject
  let ordinal: Int
  let key: PropertyKey
}

extension LiveRelationship {
  var objects: [Destination] { object.relatedObjects(ordinal).compactMap { object.cast($0, key) } }

  func contains(_ member: Destination) -> Bool {
    object.followConversions()
    return object.leads(ordinal, to: member.objectID)
  }

  /// Adds an object to the relationship, unless the object is gone.
  func add(_ member: Destination) -> Bool { object.addLinkLeavingGone(ordinal, to: member) }

  func remove(_ member: Destination) -> Bool { object.removeLink(ordinal, to: member) }

  func replaceAll(_ members: [Destination]) { object.relateLeavingGone(ordinal, to: members) }

  func isSame(as other: LiveRelationship) -> Bool { object === other.object && ordinal == other.ordinal }
}

extension ManagedObject {
  /// Returns the to-many relationship of `key`, which must be ordered or unordered as given.
  final func live<Destination: ManagedObject>(
    _ key: ToManyKey<Destination>,
    isOrdered: Bool
  ) -> LiveRelationship<Destination> {
    let ordinal = key.ordinal(in: self, \.isToMany)
    ProgrammerError.check(
      binding.traits[ordinal].isOrdered == isOrdered,
      isOrdered
        ? "\(entity.name).\(key.name) has no order. Use the set subscript."
        : "\(entity.name).\(key.name) has an order. Use the list subscript."
    )
    return LiveRelationship(object: self, ordinal: ordinal, key: key)
  }
}
