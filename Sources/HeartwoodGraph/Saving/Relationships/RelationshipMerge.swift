import HeartwoodModel
import HeartwoodStore

/// Makes the other ends of relationships follow what a policy, or a refresh, makes of objects that others have changed
/// too.
///
/// What it drops of a relationship goes at the other end as well, and what it keeps against the other save is no longer
/// where that has put it. If it keeps a deletion, the delete rules apply to what the other save has made the object
/// refer to, too.
///
/// The objects are noted before the policy changes them, and settled after.
struct RelationshipMerge {
  /// What a relationship of an object in conflict leads to, as three know it.
  private struct MergeInput {
    let end: RelationshipEnd
    let inverse: Int
    /// When the object was read.
    let former: ObjectIDList
    /// By the changes of the context.
    let own: ObjectIDList
    /// What others have added.
    let additions: [ManagedObjectID]
    /// What the newest record lacks of ``own``: others have removed it, or the context has added it.
    let removals: [ManagedObjectID]
  }

  /// What others have let a relationship of an object that the context deletes lead to.
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

  /// Notes what the relationships of an object lead to, before the policy has its way with it.
  ///
  /// - Throws: what reading its newest version throws.
  mutating func note(_ object: ManagedObject) throws {
    try object.binding.synchronize()
    guard object.group != nil, object.binding.liveGroup(of: object.rowID) != nil else { return }
    if !object.isPresent { return noteAdditions(to: object) }
    merged.append(object)
    noteInputs(of: object)
  }

  /// The same for a caller that cannot throw.
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

  /// Lets the other ends follow, once the policy has had its way with all objects.
  func settle() {
    let inputs = inputs.filter(\.end.object.isPresent)
    var returning = ReturningLinks()
    for input in inputs { noteReturns(input, &returning) }
    returning.putBack()
    for input in inputs { settle(input, returning) }
    // What is dropped must be gone from both ends before, whichever object came first.
    for input in inputs { keep(input) }
    // What is deleted along with them leads where it does by now.
    for addition in additions where !addition.end.object.isPresent {
      context.applyDeleteRule(of: addition.end.object, addition.end.ordinal, toNewest: addition.ids)
    }
    for object in merged where object.isPresent { RelationshipUpkeep.dropRefusedLinks(of: object) }
  }

  /// Notes where what the context has taken away and the policy has put back leads back to.
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
      // What it leads to is what the other save has left, which the context may not have read.
      if !other.hasPersistentChangedValues, !context.saveProgress.isLocked(other) {
        context.reread(other, mergeChanges: true)
      }
      other.unlink(inverse, from: object.objectID)
    }
  }

  /// Whether the context has let the object lead to that of `id`: from either end, as it may have read one of them after others had taken the
  /// link away, and put it back.
  private func isOwnLink(_ input: MergeInput, to id: ManagedObjectID) -> Bool {
    guard input.former.contains(id) else { return true }
    guard let other = context.knownObject(id), !other.isInserted, other.isUnsettled(input.inverse) else { return false }
    let ownID = input.end.object.objectID
    return other.leads(input.inverse, to: ownID)
      && !other.committedValue(at: input.inverse).objectIDs.contains(ownID)
  }

  /// Makes what others have removed, and the policy has kept, refer back: it may do so only because it was read before
  /// the other save.
  private func keep(_ input: MergeInput) {
    let now = linksNow(input)
    for other in objects(input, input.removals, { now.contains($0) }) {
      other.link(input.inverse, to: input.end.object, forward: input.end.ordinal)
    }
  }

  /// Those of `ids` that meet a condition. What cannot be read follows once it can be.
  private func objects(
    _ input: MergeInput,
    _ ids: [ManagedObjectID],
    _ condition: (ManagedObjectID) -> Bool
  ) -> [ManagedObject] {
    context.present(ids.filter(condition), from: input.end.object, input.end.ordinal).filter(\.isPresent)
  }
}

extension ManagedObject {
  /// The value of a property in the newest version of the record; nil where that is gone.
  final func newestValue(at ordinal: Int) -> PropertyValue? {
    guard let group = binding.liveGroup(of: rowID) else { return nil }
    let type = binding.traits[ordinal].attributeType
    return group.value(row: rowID.row, ordinal: ordinal, type: type, scopes: binding.scopes)
  }

  /// What a relationship leads to in its newest value, and did not when the object was read; all of it where that is
  /// not known any more.
  fileprivate final func additions(
    at ordinal: Int,
    in newest: PropertyValue,
    former: ObjectIDList
  ) -> [ManagedObjectID] {
    if case .changed(let changes) = content, changes.outdatedOrdinals.contains(ordinal) { return newest.objectIDs }
    return newest.objectIDs.filter { !former.contains($0) }
  }
}
