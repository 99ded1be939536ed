/// Who notes what the changes of a context were before, so that they can be undone.
///
/// Objects ask the context's ``ContextNotes`` first whether somebody does: that is always up to date.
final class UndoRecording {
  /// What the current event has changed; nil if nothing can be undone.
  private(set) var recorder: EventRecorder? {
    didSet { notes.record(recorder != nil) }
  }
  /// Whether what happens now is taken back as a whole if it fails. What others have done waits meanwhile.
  private(set) var isWhole = false
  private let notes: ContextNotes

  init(_ notes: ContextNotes) {
    self.notes = notes
  }
}

extension UndoRecording {
  /// Notes changes for an undo manager from now on, or for none.
  func record(for undoManager: GraphUndoManager?) { recorder = undoManager.map(EventRecorder.init) }

  /// Calls `body`, whose changes cannot be undone, nor taken back with others.
  func withoutRecording(_ body: () -> Void) {
    let former = recorder
    recorder = nil
    body()
    recorder = former
  }

  /// Calls `body`, whose changes are noted in a place of their own, as a whole.
  func recordingWholly<Result>(
    in inner: EventRecorder,
    _ body: (_ outer: EventRecorder?) throws -> Result
  ) rethrows -> Result {
    let (outer, wasWhole) = (recorder, isWhole)
    recorder = inner
    isWhole = true
    defer {
      isWhole = wasWhole
      recorder = outer
      outer?.noteIDs(of: inner)
    }
    return try body(outer)
  }
}
