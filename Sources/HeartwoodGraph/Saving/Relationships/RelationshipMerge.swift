import HeartwoodModel
import HeartwoodStore

/// Updates the other ends of relationships after a policy, or a refresh, has changed objects that others have changed
/// too.
///
/// Links that it drops are dropped at the other end as well, and links that it keeps against the other save are removed
/// from the places where that save has put them. If it keeps a deletion, the delete rules also apply to the
/// destinations that the other save has added.
///
/// The objects are noted before the policy changes them, and settled after.
struct RelationshipMerge {
  /// The destinations of a relationship of an object in conflict, in three versions.
  private struct MergeInput {
    let end: RelationshipEnd
    let inverse: Int
    /// The destinations when the object was read.
    let former: ObjectIDList
    /// The destinations by the changes of the context.
    let own: ObjectIDList
    /// The additions of others.
    let additions: [ManagedObjectID]
    /// The elements of ``own`` that the newest record lacks: others have removed them, or the context has added them.
    let removals: [ManagedObjectID]
  }

  /// The destinations that others have added to a relationship of an object that the context deletes.
  private struct Addition {
    let end: RelationshipEnd
    let ids: [ManagedObjectID]
  }

  private let context: ManagedObjectContext
  /// The objects that the context keeps and the store has.
  private var merged: [ManagedObject] = []
  private var inputs: [MergeInput] = []
  private var additions: [Addition] = []

  init(_ context: ManagedObjectContext) {
    self.context = context
  }
}

extension RelationshipMerge {
  /// The objects that were noted: those that the context keeps, and those that it deletes.
  var objects: [ManagedObject] { merged + additions.map(\.end.object) }

  /// Notes the destinations of an object's relationships, before the policy changes it.
  ///
  /// - Throws: the errors of reading its newest version.
  mutating func note(_ object: ManagedObject) throws {
    try object.binding.synchronize()
    guard object.group != nil, object.binding.liveGroup(of: object.rowID) != nil else { return }
    if !object.isPresent { return noteAdditions(to: object) }
    merged.append(object)
    noteInputs(of: object)
  }

  /// Notes the destinations of an object's relationships, for a caller that cannot throw.
  ///
  /// - Returns: whether the newest version could be read. If not, that is noted on the context.
  mutating func noteIfReadable(_ object: ManagedObject) -> Bool {
    do {
      try note(object)
      return true
    } catch {
      context.noteReadFailure(.unreadable([object.objectID], error))
      return false
    }
  }

  private mutating func noteInputs(of object: ManagedObject) {
    for (ordinal, trait) in object.binding.traits.enumerated() where trait.attributeType == nil && !trait.isTransient {
      guard let inverse = trait.inverseOrdinal, let newest = object.newestValue(at: ordinal) else { continue }
      let (former, own) = (object.committedValue(at: ordinal), object.value(at: ordinal))
      if former == own, own == newest { continue }
      let (formerIDs, newestIDs) = (ObjectIDList(former.objectIDs), ObjectIDList(newest.objectIDs))
      inputs.append(
        MergeInput(
          end: RelationshipEnd(object: object, ordinal: ordinal),
          inverse: inverse,
          former: formerIDs,
          own: ObjectIDList(own.objectIDs),
          additions: object.additions(at: ordinal, in: newest, former: formerIDs),
          removals: own.objectIDs.filter { !newestIDs.contains($0) }
        )
      )
    }
  }

  private mutating func noteAdditions(to object: ManagedObject) {
    for (ordinal, trait) in object.binding.traits.enumerated() where trait.attributeType == nil && !trait.isTransient {
      guard let newest = object.newestValue(at: ordinal) else { continue }
      let former = ObjectIDList(object.committedValue(at: ordinal).objectIDs)
      let ids = object.additions(at: ordinal, in: newest, former: former)
      if !ids.isEmpty { additions.append(Addition(end: RelationshipEnd(object: object, ordinal: ordinal), ids: ids)) }
    }
  }

  /// Updates the other ends, after the policy has changed all objects.
  func settle() {
    let inputs = inputs.filter(\.end.object.isPresent)
    var returning = ReturningLinks()
    for input in inputs { noteReturns(input, &returning) }
    returning.putBack()
    for input in inputs { settle(input, returning) }
    // Dropped links must be removed from both ends first, whichever object came first.
    for input in inputs { keep(input) }
    // Objects that were deleted along with them have their present destinations.
    for addition in additions where !addition.end.object.isPresent {
      context.applyDeleteRule(of: addition.end.object, addition.end.ordinal, toNewest: addition.ids)
    }
    for object in merged where object.isPresent { RelationshipUpkeep.dropRefusedLinks(of: object) }
  }

  /// Notes the places of links that the context has removed and the policy has restored.
  private func noteReturns(_ input: MergeInput, _ returning: inout ReturningLinks) {
    let id = input.end.object.objectID
    for other in returned(input, linksNow(input)) where other.isUpdated {
      returning.note(id, to: RelationshipEnd(object: other, ordinal: input.inverse))
    }
  }

  private func linksNow(_ input: MergeInput) -> ObjectIDList {
    ObjectIDList(input.end.object.value(at: input.end.ordinal).objectIDs)
  }

  private func returned(_ input: MergeInput, _ now: ObjectIDList) -> [ManagedObject] {
    objects(input, input.former.ids) { !input.own.contains($0) && now.contains($0) }
  }

  private func settle(_ input: MergeInput, _ returning: ReturningLinks) {
    let (object, ordinal, inverse) = (input.end.object, input.end.ordinal, input.inverse)
    let now = linksNow(input)
    for other in objects(input, input.own.ids, { !now.contains($0) && isOwnLink(input, to: $0) }) {
      other.unlink(inverse, from: object.objectID)
    }
    for other in returned(input, now) where other.isUpdated {
      if returning.isBack(object.objectID, in: RelationshipEnd(object: other, ordinal: inverse)) { continue }
      if !other.leads(inverse, to: object.objectID) { other.link(inverse, to: object, forward: ordinal) }
    }
    for other in objects(input, input.additions, { !now.contains($0) }) {
      // Its destinations are those of the other save, which the context may not have read.
      if !other.hasPersistentChangedValues, !context.saveProgress.isLocked(other) {
        context.reread(other, mergeChanges: true)
      }
      other.unlink(inverse, from: object.objectID)
    }
  }

  /// Returns whether the context has set the link to the object of `id`: from either end, as it may have read one of
  /// them after others had removed the link, and restored it.
  private func isOwnLink(_ input: MergeInput, to id: ManagedObjectID) -> Bool {
    guard input.former.contains(id) else { return true }
    guard let other = context.knownObject(id), !other.isInserted, other.isUnsettled(input.inverse) else { return false }
    let ownID = input.end.object.objectID
    return other.leads(input.inverse, to: ownID)
      && !other.committedValue(at: input.inverse).objectIDs.contains(ownID)
  }

  /// Makes destinations that others have removed, and the policy has kept, refer back: this is allowed only because
  /// they were read before the other save.
  private func keep(_ input: MergeInput) {
    let now = linksNow(input)
    for other in objects(input, input.removals, { now.contains($0) }) {
      other.link(input.inverse, to: input.end.object, forward: input.end.ordinal)
    }
  }

  /// Returns those of `ids` that meet a condition. Records that cannot be read are postponed.
  private func objects(
    _ input: MergeInput,
    _ ids: [ManagedObjectID],
    _ condition: (ManagedObjectID) -> Bool
  ) -> [ManagedObject] {
    context.present(ids.filter(condition), from: input.end.object, input.end.ordinal).filter(\.isPresent)
  }
}

extension ManagedObject {
  /// Returns the value of a property in the newest version of the record; nil if the record is gone.
  final func newestValue(at ordinal: Int) -> PropertyValue? {
    guard let group = binding.liveGroup(of: rowID) else { return nil }
    let type = binding.traits[ordinal].attributeType
    return group.value(row: rowID.row, ordinal: ordinal, type: type, scopes: binding.scopes)
  }

  /// Returns the destinations in the newest value of a relationship that it did not have when the object was read; all
  /// of them if the former ones are not known any more.
  fileprivate final func additions(
    at ordinal: Int,
    in newest: PropertyValue,
    former: ObjectIDList
  ) -> [ManagedObjectID] {
    if case .changed(let changes) = content, changes.outdatedOrdinals.contains(ordinal) { return newest.objectIDs }
    return newest.objectIDs.filter { !former.contains($0) }
  }
}
