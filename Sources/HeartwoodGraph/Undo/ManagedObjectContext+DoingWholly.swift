import HeartwoodModel
import HeartwoodStore

extension ManagedObjectContext {
  /// Does something to the objects of the context, and takes all of it back where it throws, as an undo does.
  ///
  /// Its changes are recorded in a place of their own meanwhile, whether the context has an undo manager or not. That one gets them in the
  /// end where they stay, as part of the current event, and learns nothing of them where they do not. What others have saved is taken in
  /// before and after, not in between: it would be taken back too.
  func doingWholly<Result>(_ body: () throws -> Result) throws -> Result {
    try prepare()
    registerPendingChanges()
    let (outer, tookNothingIn, postponed) = (recorder, takesNothingIn, failures.postponed)
    let journal = GraphUndoManager()
    let inner = EventRecorder(journal)
    recorder = inner
    takesNothingIn = true
    defer {
      takesNothingIn = tookNothingIn
      recorder = outer
      outer?.noteIDs(of: inner)
    }
    do {
      let result = try body()
      registerPendingChanges()
      for action in journal.takeActions() { outer?.undoManager.register(action) }
      return result
    } catch {
      registerPendingChanges()
      for action in journal.takeActions().reversed() { action.run() }
      failures.postponed = postponed
      throw error
    }
  }
}
