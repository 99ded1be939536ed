extension ManagedObjectContext {
  /// What remembers how to take back the changes of this context; nil, as at first, means that they cannot be taken back.
  ///
  /// With one, the context keeps the objects that can be undone, and notes the old value of each property that changes.
  public var undoManager: GraphUndoManager? {
    get { recorder?.undoManager }
    set {
      guard newValue !== recorder?.undoManager else { return }
      registerPendingChanges()
      recorder?.undoManager.detach(self)
      recorder = newValue.map(EventRecorder.init)
      newValue?.attach(self)
    }
  }

  /// Takes back what the newest group of the undo manager did. It does nothing without an undo manager.
  public func undo() {
    undoManager?.undo()
  }

  /// Makes again what the last ``undo()`` took back. It does nothing without an undo manager.
  public func redo() {
    undoManager?.redo()
  }

  /// Ends the event: what has changed up to here is undone together, and apart from what comes, and those who listen are told; see
  /// ``objectsDidChange``.
  ///
  /// Saving, undoing and redoing do it as well.
  public func processPendingChanges() {
    registerPendingChanges()
    undoManager?.endEvent()
    tellChangeEvent()
    tidy(andLookAt: 256)
  }

  /// Tells the undo manager what has changed since it was last told.
  func registerPendingChanges() {
    guard let recorder, let event = recorder.takeEvent() else { return }
    recorder.undoManager.register(UndoAction(self, reverting: event))
  }

  /// Lets nothing that has happened in this context be undone.
  func forgetUndo() {
    guard let recorder else { return }
    recorder.forgetEvent()
    recorder.forgetIDs()
    recorder.undoManager.removeAllActions(withTarget: self)
  }
}
