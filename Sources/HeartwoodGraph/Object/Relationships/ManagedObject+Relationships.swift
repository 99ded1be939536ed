import HeartwoodModel
package import HeartwoodStore

// MARK: Typed accessors

extension ManagedObject {
  /// The object that a to-one relationship leads to, or nil. Setting it changes the inverse too.
  ///
  /// An object whose record is gone is left out, and one that is gone when it is set: the relationship leads nowhere then, which is logged.
  /// ``setValue(_:forKey:)`` throws instead. A relationship of an object that is gone itself leads nowhere, and setting it is logged and does
  /// nothing. An object whose record cannot be read is left out, too, and is among the context's ``ManagedObjectContext/readFailures``;
  /// ``read(_:)-(ToOneKey<Destination>)`` throws then.
  public final subscript<Destination: ManagedObject>(key: ToOneKey<Destination>) -> Destination? {
    get { relatedObjects(key.ordinal(in: self, \.isToOne)).first.flatMap { cast($0, key) } }
    set { relateLeavingGone(key.ordinal(in: self, \.isToOne), toOne: newValue) }
  }

  /// The objects that a to-many relationship leads to. Where it is ordered, the order is kept; otherwise it has no meaning.
  ///
  /// Setting them changes the inverse too. An object that is given twice counts once. Objects whose records are gone are left out, and so are
  /// those that are gone when they are set, which is logged. Objects whose records cannot be read are left out, too, and are among the
  /// context's ``ManagedObjectContext/readFailures``; ``read(_:)-(ToManyKey<Destination>)`` throws then.
  public final subscript<Destination: ManagedObject>(key: ToManyKey<Destination>) -> [Destination] {
    get { relatedObjects(key.ordinal(in: self, \.isToMany)).compactMap { cast($0, key) } }
    set { relateLeavingGone(key.ordinal(in: self, \.isToMany), to: newValue) }
  }

  /// The object as what the key of a relationship says; nil for one of another entity than the relationship's, which a damaged file has let
  /// it lead to.
  final func cast<Destination: ManagedObject>(_ object: ManagedObject, _ key: PropertyKey) -> Destination? {
    if let destination = object as? Destination { return destination }
    let ordinal = entity.ordinal(ofProperty: key.name)
    if let wanted = ordinal.flatMap({ binding.destinations[$0] }), !object.entity.isKind(of: wanted) {
      logLinkLeftOut(to: object, key.name, because: "it is of another entity than the relationship leads to")
      return nil
    }
    ProgrammerError.stop(
      "\(entity.name).\(key.name) leads to an object of class \(type(of: object)), and its key says \(Destination.self). Give "
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
        "The object's context is gone or has let go of it.",
        recovery: "Keep the context, and after a reset fetch the object anew.",
        context: .init(entity: entity.name, objectIDs: [objectID])
      )
    }
  }

  /// Lets relationships have the names that records have now: a conversion may have given them others than the object has read.
  final func followConversions() {
    withBinding { $0.followConversions() }
  }

  /// The objects of a relationship that are still there. What cannot be read is noted. If the context is gone or has let go of the object, there
  /// are none, which is logged.
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

  /// Makes sure that all can be read that a change of a relationship concerns, so that it fails as a whole if not.
  ///
  /// - Parameter objects: what the relationship is to lead to.
  final func checkReadable(_ ordinal: Int, for objects: [ManagedObject]) throws(PersistenceError) {
    try reading { () throws(PersistenceError) in
      guard let inverse = binding.traits[ordinal].inverseOrdinal, let context = managedObjectContext,
        let destination = binding.destinations[ordinal]
      else { return }
      let new = Set(objects)
      for other in relatedObjects(ordinal) where !new.contains(other) && other.isFault { other.fireFault() }
      // What is wrong with an object is found out when it is related.
      for object in objects where object.managedObjectContext === context && object.entity.isKind(of: destination) {
        // Who had it loses it, if it can have one alone.
        if !object.binding.traits[inverse].isToMany { _ = object.relatedObjects(inverse) }
      }
    }
  }

  /// Lets a relationship lead to `objects`, and their inverse relationships lead back.
  ///
  /// - Throws: ``PersistenceError/Code/valueTypeMismatch`` where an object is of another entity, or this one is of another than the
  ///   inverse leads to; ``PersistenceError/Code/objectNotFound`` where one is of another context or deleted. Nothing has changed then.
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

  /// The same of a to-one relationship.
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

  /// Lets a to-many relationship lead to one object more. Returns whether it did not yet.
  ///
  /// - Throws: as ``relate(_:to:)``.
  package final func addLink(_ ordinal: Int, to object: ManagedObject) throws(PersistenceError) -> Bool {
    followConversions()
    guard mayChange(ordinal), !leads(ordinal, to: object.objectID) else { return false }
    try check(object, ordinal)
    changeLinks(ordinal) { $0.append(object.objectID) }
    RelationshipUpkeep.didLink(self, ordinal, to: object)
    return true
  }

  /// Lets a to-many relationship lead to one object less. Returns whether it did.
  final func removeLink(_ ordinal: Int, to object: ManagedObject) -> Bool {
    followConversions()
    guard mayChange(ordinal), leads(ordinal, to: object.objectID) else { return false }
    changeLinks(ordinal) { $0.remove(object.objectID) }
    RelationshipUpkeep.didUnlink(self, ordinal, from: object)
    return true
  }

  /// Throws where a relationship may not lead to `object`.
  private final func check(_ object: ManagedObject, _ ordinal: Int) throws(PersistenceError) {
    guard let destination = withBinding({ $0.destinations[ordinal] }) else { return }
    func refusal(_ code: PersistenceError.Code, _ message: String) -> PersistenceError {
      var context = PersistenceError.Context(entity: entity.name, property: entity.properties[ordinal].name)
      context.objectIDs = [object.objectID]
      return PersistenceError(code, message, context: context)
    }
    guard !object.isDeleted else {
      throw refusal(.objectNotFound, "A relationship cannot lead to a deleted object.")
    }
    guard isInContext(of: object) else {
      throw refusal(
        .objectNotFound,
        "A relationship leads to objects of its own context. Get the object there by its objectID."
      )
    }
    guard object.withBinding({ $0.entity === destination || $0.entity.isKind(of: destination) }) else {
      throw refusal(
        .valueTypeMismatch,
        "The relationship leads to objects of \(destination.name), and this one is of \(object.entity.name)."
      )
    }
    if let mismatch = withBinding({ $0.inverseMismatches[ordinal] }) {
      throw refusal(
        .valueTypeMismatch,
        "The inverse of the relationship leads back to objects of \(mismatch.name), and this one is of \(entity.name)."
      )
    }
  }

  /// Whether both objects are in the same context, which has not let go of them.
  private final func isInContext(of object: ManagedObject) -> Bool {
    let isShared = withBinding { binding in object.withBinding { $0.hasContext(of: binding) } }
    return isShared && !state.contains(.detached) && !object.state.contains(.detached)
  }
}

extension RelationshipTarget {
  /// What the inverse leads to where that is not `entity`, nor what it inherits from: it may be one of its subentities.
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

/// A to-many relationship of an object, to be looked at and changed in place.
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

  /// Lets the relationship lead to one object more, unless that is gone.
  func add(_ member: Destination) -> Bool { object.addLinkLeavingGone(ordinal, to: member) }

  func remove(_ member: Destination) -> Bool { object.removeLink(ordinal, to: member) }

  func replaceAll(_ members: [Destination]) { object.relateLeavingGone(ordinal, to: members) }

  func isSame(as other: LiveRelationship) -> Bool { object === other.object && ordinal == other.ordinal }
}

extension ManagedObject {
  /// The to-many relationship of `key`, which has an order or none.
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
