import HeartwoodModel

/// All objects that there are to a context, and all their values.
struct ReferenceState {
  var present: [Key: [String: ReferenceValue]] = [:]
  /// Those of the objects that are deleted: relationships that deny it do so again where a deletion is made again.
  var deleted: [Key: [String: ReferenceValue]] = [:]
}

/// Takes back what happened by keeping everything as it was between any two events.
struct ReferenceUndoManager {
  private(set) var undoStates: [ReferenceState] = []
  private(set) var redoStates: [ReferenceState] = []
  private var current: ReferenceState

  /// Begins with nothing to undo.
  init(_ state: ReferenceState) {
    current = state
  }

  /// Ends an event.
  mutating func processPendingChanges(_ state: ReferenceState) {
    guard state.present != current.present else { return }
    undoStates.append(current)
    redoStates = []
    current = state
  }

  /// A save is no event. What it leaves out, links to objects of `vanished` that are not there, does not come back.
  mutating func noteSave(_ state: ReferenceState, without vanished: Set<Key>) {
    current = state
    undoStates = undoStates.map { Self.state($0, without: vanished) }
    redoStates = redoStates.map { Self.state($0, without: vanished) }
  }

  private static func state(_ state: ReferenceState, without vanished: Set<Key>) -> ReferenceState {
    let missing = vanished.subtracting(state.present.keys)
    func filtered(_ objects: [Key: [String: ReferenceValue]]) -> [Key: [String: ReferenceValue]] {
      objects.mapValues { values in
        values.mapValues { value in value.replacingKeys(by: value.keys.filter { !missing.contains($0) }) }
      }
    }
    return ReferenceState(present: filtered(state.present), deleted: filtered(state.deleted))
  }

  /// What is to be there after undoing; nil where there is nothing to undo.
  mutating func undo() -> ReferenceState? {
    guard let state = undoStates.popLast() else { return nil }
    if state.present != current.present { redoStates.append(current) }
    current = state
    return state
  }

  /// What is to be there after redoing; nil where there is nothing to redo.
  mutating func redo() -> ReferenceState? {
    guard let state = redoStates.popLast() else { return nil }
    if state.present != current.present { undoStates.append(current) }
    current = state
    return state
  }
}

extension ReferenceContext {
  /// All there is, faults as the store has them.
  var state: ReferenceState {
    var state = ReferenceState()
    for key in source.allKeys.union(objects.keys) {
      guard let object = object(key) else { continue }
      if object.isDeleted { state.deleted[key] = object.values } else { state.present[key] = object.values }
    }
    return state
  }

  func processPendingChanges() {
    undoManager?.processPendingChanges(state)
  }

  func undo() {
    processPendingChanges()
    if let state = undoManager?.undo() { become(state) }
  }

  func redo() {
    processPendingChanges()
    if let state = undoManager?.redo() { become(state) }
  }

  /// Makes all objects what they are in `state`, those that are not there deleted ones.
  private func become(_ state: ReferenceState) {
    state.present.keys.forEach(unearth)
    for key in Set(state.present.keys).union(self.state.present.keys).union(deletedKeys) {
      let base = objects[key]?.base ?? source.record(key)
      if let values = state.present[key] {
        bringBack(key, base, values)
      } else if objects[key]?.isDeleted != true {
        markDeleted(key, state.deleted[key] ?? valuesBefore(key))
      }
    }
  }

  /// The values of an object that was not there yet, or whose deletion was saved: it leads to nothing that could deny its deletion.
  private func valuesBefore(_ key: Key) -> [String: ReferenceValue]? {
    object(key)?.values.mapValues { $0.replacingKeys(by: []) }
  }
}
