import HeartwoodModel
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What the new objects of a save are called in its store.
///
/// A temporary id is looked up by places in arrays: its object's place in the context, and from there that among the objects that
/// are inserted with it.
struct PermanentIDs {
  private let newObjects: NewObjects
  /// By place in the context.
  private let places: ContiguousArray<NewObjectPlace>
  /// Which of the context's saves this is.
  private let save: UInt32
  private let scopes: [ObjectIDScope]
  private let storeIdentifier: UUID
  /// The references of the new objects of each entity, by ordinal; nil where none is saved to the store.
  private let references: [ReferenceColumn?]
  /// Ids that objects had which were deleted before a store had them.
  private let lostIDs: Set<ManagedObjectID>

  init(
    newObjects: NewObjects,
    lostIDs: Set<ManagedObjectID>,
    places: ContiguousArray<NewObjectPlace>,
    save: PendingSave,
    index: Int
  ) {
    self.newObjects = newObjects
    self.lostIDs = lostIDs
    self.places = places
    self.save = UInt32(truncatingIfNeeded: index)
    self.scopes = save.source.scopes
    self.storeIdentifier = save.store.identifier
    var references: [ReferenceColumn?] = Array(repeating: nil, count: scopes.count)
    for insertion in save.inserted { references[insertion.entity.ordinal] = insertion.references }
    self.references = references
  }
}

extension PermanentIDs {
  /// The permanent id for a temporary one of an object that is saved, or nil where there is none.
  subscript(id: ManagedObjectID) -> ManagedObjectID? {
    guard let slot = newObjects.slot(of: id), places[slot].save == save,
      let references = references[id.entity.ordinal]
    else { return nil }
    return ManagedObjectID(scope: scopes[id.entity.ordinal], reference: references[Int(places[slot].index)])
  }

  /// What stands for `id` in a column, or nil where it is that of a new object that is gone.
  ///
  /// - Parameter context: where the id stands.
  /// - Throws: ``PersistenceError/Code/danglingReference`` where the id is of another store.
  @inline(__always)
  func reference(
    _ id: ManagedObjectID,
    context: () -> PersistenceError.Context
  ) throws(PersistenceError) -> ReferenceID? {
    let ordinal = id.entity.ordinal
    guard id.isTemporaryID else {
      if !lostIDs.isEmpty, lostIDs.contains(id) { return nil }
      if id.scope === scopes[ordinal] || id.storeIdentifier == storeIdentifier { return id.reference }
      throw .danglingReference(id, context: context())
    }
    guard let slot = newObjects.slot(of: id) else { return nil }
    guard places[slot].save == save, let references = references[ordinal] else {
      throw .danglingReference(id, context: context())
    }
    return references[Int(places[slot].index)]
  }
}

/// Where a new object goes: the save among those of its context, and the place among the objects of its entity there.
struct NewObjectPlace {
  let save: UInt32
  let index: UInt32
}
