import HeartwoodModel
import HeartwoodStore

// What is done to objects that are gone: deleted here or elsewhere, upserted away, or let go by their context. Others may do that at any time,
// so it is no mistake of the program: what has no effect is logged.

extension ManagedObject {
  /// Whether the object can be changed no more: it is deleted, or its record is gone, or its context is.
  final var isGone: Bool { !isPresent || managedObjectContext == nil }

  /// Why the object can be changed no more.
  private final var causeOfLeaving: String {
    if state.contains(.deleted) { return "the object was deleted" }
    if state.contains(.inaccessible) { return "the record of the object is gone" }
    return "the context of the object is gone or has let go of it"
  }

  /// Notes that the record is gone if it is, rather than when a value is read: the caller of a save or a refresh may show the object.
  final func noticeLoss() {
    guard isFault, rowID != .none else { return }
    // If that cannot be known, which is noted, reading a value finds it out.
    if synchronize() == nil, binding.liveGroup(of: rowID) == nil { pin() }
  }
}

// MARK: Logging

extension ManagedObject {
  final func logDroppedChange(_ ordinal: Int) {
    let (name, cause) = (entity.properties[ordinal].name, causeOfLeaving)
    DroppedWork.log(binding.logger, "a change was dropped, since \(cause)", self, property: name)
  }

  final func logLinkLeftOut(to object: ManagedObject, _ name: String, because cause: String) {
    let destination = "\(object.objectID)"
    DroppedWork.log(binding.logger, "a link was left out, since \(cause)", self, property: name, to: destination)
  }

  final func logNotFollowed(_ ordinal: Int) {
    let (name, cause) = (entity.properties[ordinal].name, causeOfLeaving)
    DroppedWork.log(binding.logger, "a relationship was not followed, since \(cause)", self, property: name)
  }

  /// Says that what was asked for was not done with an object that is gone.
  final func logDropped(_ request: String) {
    DroppedWork.log(binding.logger, "\(request) was dropped, since \(causeOfLeaving)", self)
  }
}

// MARK: Relationships

extension ManagedObject {
  /// Lets a to-one relationship lead to an object, or nowhere if that is gone.
  final func relateLeavingGone(_ ordinal: Int, toOne object: ManagedObject?) {
    do throws(PersistenceError) {
      try relate(ordinal, toOne: object)
    } catch {
      // An object of another context or of another entity is a mistake that no data can cause.
      guard let object, object.isGone else { Misuse.stop("\(error)") }
      logLinkLeftOut(to: object, ordinal)
      relateLeavingGone(ordinal, toOne: nil)
    }
  }

  /// Lets a relationship lead to those of `objects` that are not gone.
  final func relateLeavingGone(_ ordinal: Int, to objects: [ManagedObject]) {
    do throws(PersistenceError) {
      try relate(ordinal, to: objects)
    } catch {
      // Nothing has changed. What the relationship leads to already stays: that is a matter of the save.
      let present = objects.filter { !$0.isGone || leads(ordinal, to: $0.objectID) }
      if present.count == objects.count { Misuse.stop("\(error)") }
      for object in objects where object.isGone { logLinkLeftOut(to: object, ordinal) }
      relateLeavingGone(ordinal, to: present)
    }
  }

  /// Lets a to-many relationship lead to one object more, unless that is gone. Returns whether it did not yet.
  final func addLinkLeavingGone(_ ordinal: Int, to object: ManagedObject) -> Bool {
    do throws(PersistenceError) {
      return try addLink(ordinal, to: object)
    } catch {
      guard object.isGone else { Misuse.stop("\(error)") }
      logLinkLeftOut(to: object, ordinal)
      return false
    }
  }

  private final func logLinkLeftOut(to object: ManagedObject, _ ordinal: Int) {
    logLinkLeftOut(to: object, entity.properties[ordinal].name, because: object.causeOfLeaving)
  }
}
