import HeartwoodModel
import HeartwoodStore

/// Lets the other ends of relationships follow what a policy, or a refresh, makes of objects that others have changed too.
///
/// What it drops of a relationship goes at the other end as well, and what it keeps against the other save is no longer where that
/// has put it. Where it keeps a deletion, the delete rules apply to what the other save has let the object lead to, too.
struct LinkSettlement {
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

extension LinkSettlement {
  /// Notes what the relationships of an object lead to, before the policy has its way with it.
  ///
  /// - Throws: what reading its newest version throws.
  mutating func note(_ object: ManagedObject) throws {
    try object.binding.synchronize()
    guard object.group != nil, object.binding.liveGroup(of: object.rowID) != nil else { return }
    if !object.isPresent { return noteAdditions(to: object) }
    merged.append(object)
    noteRivalries(of: object)
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

  private mutating func noteRivalries(of object: ManagedObject) {
    for (ordinal, trait) in object.binding.traits.enumerated() where trait.attributeType == nil && !trait.isTransient {
      guard let inverse = trait.inverseOrdinal, let newest = object.newestValue(at: ordinal) else { continue }
      let (former, own) = (object.committedValue(at: ordinal), object.value(at: ordinal))
      if former == own, own == newest { continue }
      let formerIDs = ObjectIDList(former.objectIDs)
      inputs.append(
        MergeInput(
          end: RelationshipEnd(object: object, ordinal: ordinal),
          inverse: inverse,
          former: formerIDs,
          own: ObjectIDList(own.objectIDs),
          additions: object.additions(at: ordinal, in: newest, former: formerIDs)
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
    // What is deleted along with them leads where it does by now.
    for addition in additions where !addition.end.object.isPresent {
      context.applyDeleteRule(of: addition.end.object, addition.end.ordinal, toNewest: addition.ids)
    }
    for object in merged where object.isPresent { object.dropRefusedLinks() }
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
    for other in objects(input, input.own.ids, { !input.former.contains($0) && !now.contains($0) }) {
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

  /// What a relationship leads to in its newest value, and did not when the object was read; all of it where that is not known any more.
  fileprivate final func additions(
    at ordinal: Int,
    in newest: PropertyValue,
    former: ObjectIDList
  ) -> [ManagedObjectID] {
    if case .changed(let changes) = content, changes.outdatedOrdinals.contains(ordinal) { return newest.objectIDs }
    return newest.objectIDs.filter { !former.contains($0) }
  }
}

// MARK: RefusedLinks

// What others have let a relationship lead to, and the context has deleted or let lead elsewhere: the other end says so already.

extension ManagedObject {
  /// Lets no relationship lead to what the context has deleted or let lead elsewhere.
  final func dropRefusedLinks() {
    // Who refuses has changes.
    guard let context = managedObjectContext, !context.pending.updated.isEmpty || !context.pending.deleted.isEmpty
    else { return }
    for (ordinal, trait) in binding.traits.enumerated() where trait.inverseOrdinal != nil && !trait.isTransient {
      for id in value(at: ordinal).objectIDs where isRefused(id, at: ordinal) { unlink(ordinal, from: id) }
    }
  }

  private final func isRefused(_ id: ManagedObjectID, at ordinal: Int) -> Bool {
    guard let inverse = binding.traits[ordinal].inverseOrdinal, let context = managedObjectContext,
      let other = context.registeredObject(for: id)
    else { return false }
    if other.state.contains(.deleted) { return !context.mayLead(self, ordinal, to: id) }
    guard other.isUnsettled(inverse), !other.leads(inverse, to: objectID) else { return false }
    // What a list was not read with, the context has not taken from it: others may have added it since.
    return !other.binding.traits[inverse].isToMany
      || other.committedValue(at: inverse).objectIDs.contains(objectID)
  }
}
