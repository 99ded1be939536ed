/// Records the state of a context before its changes, so that they can be undone.
///
/// Objects check the context's ``ContextNotes`` first, whose flag for this is always up to date.
final class UndoRecording {
  /// The changes of the current event; nil if nothing can be undone.
  private(set) var recorder: EventRecorder? {
    didSet { notes.record(recorder != nil) }
  }
  /// Whether the current changes are reverted as a whole if they fail. Changes of others wait meanwhile.
  private(set) var isWhole = false
  private let notes: ContextNotes

  init(_ notes: ContextNotes) {
    self.notes = notes
  }
}

extension UndoRecording {
  /// Records changes for an undo manager from now on, or for none.
  func record(for undoManager: GraphUndoManager?) { recorder = undoManager.map(EventRecorder.init) }

  /// Calls `body`, whose changes cannot be undone, nor reverted with others.
  func withoutRecording(_ body: () -> Void) {
    let former = recorder
    recorder = nil
    body()
    recorder = former
  }

  /// Calls `body`, whose changes are recorded separately, as a whole.
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
