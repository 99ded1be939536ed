import HeartwoodModel

/// A store and the contexts on it: slow, and plainly right.
final class ReferenceGraph {
  let schema: Schema
  let store: ReferenceStore
  private(set) var contexts: [ReferenceContext] = []
  /// The versions that contexts have been pinned to.
  private var pins: [ReferencePin] = []
  /// The index of each context's parent.
  let parents: [Int?]
  private let policies: [ReferencePolicy]
  private let mergesByItself: [Bool]
  /// Whether the contexts have undo managers.
  let hasUndo: Bool
  private(set) var storeKind: StoreKind
  /// Whether the file has what a save has written that failed after all, since its place in the directory is not certain.
  private var isFileAhead = false

  init(_ plan: RunPlan) {
    schema = plan.schema
    storeKind = plan.storeKind
    store = ReferenceStore(keepsDanglingKeys: plan.schema.keepsBothSides)
    if plan.tracksHistory { store.history = ReferenceHistory() }
    parents = plan.parents
    hasUndo = plan.hasUndo
    policies = plan.policies
    mergesByItself = plan.mergesByItself
    makeContexts()
  }

  private func makeContexts() {
    contexts = []
    pins = []
    for (index, parent) in parents.enumerated() {
      let source: any ReferenceSource = parent.map { contexts[$0] } ?? store
      let context = ReferenceContext(
        source,
        schema.model,
        author: "author \(index)",
        policy: policies[index],
        mergesByItself: mergesByItself[index]
      )
      if hasUndo { context.undoManager = ReferenceUndoManager(context.state) }
      contexts.append(context)
    }
  }
}

extension ReferenceGraph {
  /// Whether an operation is possible now.
  func allows(_ operation: Operation) -> Bool {
    switch operation {
    case .insert(let key, _, _):
      return store.records[key] == nil && contexts.allSatisfy { $0.objects[key] == nil }
    case .set(let key, _, _, _, let context), .delete(let key, let context):
      return isUsable(key, context)
    case .relate(let key, _, let keys, _, let context):
      return ([key] + keys).allSatisfy { isUsable($0, context) }
    case .misuse(let misuse, let key, let name, let other, let context):
      return isUsable(key, context) && isFit(misuse, key, name, other, context)
    case .refresh(let key, false, let context) where hasUndo && contexts[context].objects[key]?.isUpdated == true:
      // It loses what nobody has undone, so what is undone then is not what it was.
      return false
    case .refresh(let key, _, let context)
    where !schema.keepsBothSides && contexts[context].objects[key]?.isUpdated == true:
      return false
    case .release: return !hasUndo
    case .read(let key, let context), .refresh(let key, _, let context):
      // What becomes of changes of a record that is gone is left to the graph.
      return isUsable(key, context)
        && (contexts[context].source.record(key) != nil || contexts[context].objects[key]?.isInserted == true)
    case .convert(let kind): return kind != storeKind && schema.storeKinds.contains(kind)
    case .history(let request): return store.history.map { $0.lastNumber >= request.number ?? 0 } ?? false
    case .purgeHistory(let number): return store.history.map { $0.lastNumber >= number } ?? false
    case .inspect, .reopen: return storeKind.hasFile && !isFileAhead
    case .fetchWhere(let query, let context):
      return query.condition?.keys.allSatisfy { isUsable($0, context) } ?? true
    case .merge(let context, let other):
      return schema.keepsBothSides && context != other && isRoot(context) && isRoot(other)
    case .pin(let context), .unpin(let context): return isRoot(context) && !hasUndo
    case .pinBack(let context, let pin):
      // As of two contexts, one that goes back may change a relationship whose other side it has read of another version.
      return schema.keepsBothSides && isRoot(context) && !hasUndo && pin < pins.count
    case .save(let context, _), .saveWithFault(_, let context): return contexts[context].settlesPlainly()
    case .fetch, .count, .rollback, .reset, .readAll, .processPendingChanges,
      .undo, .redo:
      return true
    }
  }

  private func isRoot(_ context: Int) -> Bool { parents[context] == nil }

  private func isUsable(_ key: Key, _ context: Int) -> Bool {
    contexts[context].object(key)?.isDeleted == false
  }

  /// Whether a relationship of `key` and `other` are such that they can be misused so.
  private func isFit(_ misuse: Misuse, _ key: Key, _ name: String, _ other: Key, _ context: Int) -> Bool {
    let owner = contexts[misuse == .foreignObject ? foreignIndex(context) : context]
    guard misuse.isOfRelationship else { return true }
    guard let object = contexts[context].object(key), let target = owner.object(other),
      let relationship = object.entity.property(named: name)?.relationship, !object.keys(name).contains(other)
    else { return false }
    let isOfEntity = target.entity.isKind(of: schema.entity(relationship.destinationEntityName))
    return isOfEntity == (misuse != .wrongEntity) && target.isDeleted == (misuse == .deletedObject)
      && (misuse != .foreignObject || contexts.count > 1)
  }

  var pinCount: Int { pins.count }

  /// The context whose objects are foreign to that of `index`.
  func foreignIndex(_ index: Int) -> Int { (index + 1) % contexts.count }

  func perform(_ operation: Operation) -> Outcome {
    switch operation {
    case .insert(let key, let entity, let context): contexts[context].insert(key, schema.entity(entity))
    case .set(let key, let name, let value, _, let context):
      contexts[context].setValue(.attribute(value), name, of: key)
    case .relate(let key, let name, let keys, _, let context): contexts[context].relate(key, name, to: keys)
    case .delete(let key, let context): contexts[context].delete(key)
    case .read(let key, let context): contexts[context].read(key)
    case .fetch(let entity, let context):
      contexts[context].takeMerges()
      return .keys(contexts[context].fetch(schema.entity(entity)))
    case .count(let entity, let context):
      contexts[context].takeMerges()
      return .count(contexts[context].fetch(schema.entity(entity)).count)
    case .fetchWhere(let query, let context):
      contexts[context].takeMerges()
      return .found(contexts[context].fetch(query, schema.entity(query.entity)), query)
    case .merge(let context, let other): if let keys = contexts[other].lastSaved { contexts[context].merge(keys) }
    case .pin(let context):
      contexts[context].takeMerges()
      contexts[context].pin()
      if let pin = contexts[context].source as? ReferencePin { pins.append(pin) }
    case .pinBack(let context, let pin):
      contexts[context].takeMerges()
      contexts[context].read(pins[pin])
    case .unpin(let context):
      contexts[context].takeMerges()
      contexts[context].unpin()
    case .save(let context, _), .saveWithFault(_, let context): return save(contexts[context])
    case .misuse(let misuse, _, _, _, _): return .refused(misuse.expectedCode)
    case .rollback(let context): contexts[context].rollback()
    case .reset(let context): contexts[context].reset()
    case .processPendingChanges(let context):
      contexts[context].processPendingChanges()
      return undoCounts(context)
    case .undo(let context):
      contexts[context].undo()
      return undoCounts(context)
    case .redo(let context):
      contexts[context].redo()
      return undoCounts(context)
    case .refresh(let key, let mergingChanges, let context):
      contexts[context].processPendingChanges()
      contexts[context].refreshWithLinks(key, mergingChanges: mergingChanges)
    case .release(let key, let context): contexts[context].release(key)
    case .readAll(let context):
      contexts[context].takeMerges()
      for entity in schema.model.entities { contexts[context].fetch(entity).forEach(contexts[context].read) }
    case .convert(let kind):
      storeKind = kind
      isFileAhead = false
    case .history(let request): return store.history?.fetch(request, schema) ?? .done
    case .purgeHistory(let number): store.history?.purge(through: number)
    case .inspect: break
    case .reopen: makeContexts()
    }
    return .done
  }
}

// MARK: Undoing

extension ReferenceGraph {
  private func undoCounts(_ context: Int) -> Outcome {
    let undoManager = contexts[context].undoManager
    return .undoable(undoManager?.undoStates.count ?? 0, redoable: undoManager?.redoStates.count ?? 0)
  }
}

// MARK: Saving

extension ReferenceGraph {
  private func save(_ context: ReferenceContext) -> Outcome {
    let lastNumber = store.saveCount
    let lastCount = context.saveCount
    let outcome = context.save()
    if store.saveCount > lastNumber { isFileAhead = false }
    if context.saveCount > lastCount, context.store != nil { tellOthers(of: context) }
    return outcome
  }

  /// Contexts that merge by themselves learn what one of them has saved.
  private func tellOthers(of context: ReferenceContext) {
    guard let keys = context.lastSaved else { return }
    for other in contexts where other !== context && other.store != nil { other.pendingMerges?.append(keys) }
  }

  /// Notes a save that the file system has thwarted: all is as it was, unless the new file was there already.
  func noteFailedSave(of context: Int, isReplaced: Bool) {
    isFileAhead = isFileAhead || isReplaced
    contexts[context].takeMerges()
    _ = contexts[context].settle()
    for context in contexts { context.processPendingChanges() }
  }
}
